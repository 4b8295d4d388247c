"""The records that come with a clone are those of the studies that come with it, so that a study goes on from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from preln.config import load, of_results
from preln.report import pretraining_records, records, theory_records
from preln.runs import expand
from preln.theory import parts

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
COMMITTED = [path for path in sorted(RESULTS.glob("*/study.yaml")) if path.parent.name != "quick"]
CONFIGS = {load(path).study: path for path in sorted((ROOT / "config").glob("*.yaml"))}


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_every_committed_record_is_of_its_study(path: Path) -> None:
    study = of_results(path)
    runs = expand(study)
    of_runs = records.summary(study, runs, RESULTS)
    of_theory = theory_records.load(study, parts.expand(study, runs), RESULTS)
    of_pretraining = pretraining_records.load(study, RESULTS)
    assert len(of_runs) + len(of_theory.table) + len(of_pretraining.curves) > 0


@pytest.mark.parametrize(
    "path", [path for path in COMMITTED if path.parent.name in CONFIGS], ids=lambda path: path.parent.name
)
def test_a_committed_study_is_the_one_in_config(path: Path) -> None:
    # How it is computed and where its text lies may differ, as by what the README says.
    committed, configured = (load(one).identity for one in (path, CONFIGS[path.parent.name]))
    assert committed | {"execution": None} == configured | {"execution": None}


def test_there_are_committed_results() -> None:
    assert COMMITTED
