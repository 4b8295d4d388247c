"""The records that come with a clone are those of the studies that come with it, so that a study goes on from them."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pandas as pd
import pytest

from preln.cli import app
from preln.config import load, of_results
from preln.report import pretraining_records, products, records, theory_records
from preln.runs import expand
from preln.theory import parts

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
README = (ROOT / "README.md").read_text(encoding="utf-8")
VERDICTS = {"reproduced": "reproduced", "in part": "reproduced in part", "no": "not reproduced"}
VERDICTS |= {"inconclusive": "inconclusive", "": "not tested in this study"}
VERDICT = re.compile(r"(?:(C\d+) )?(reproduced|in part|no|inconclusive)(?: \((\d+ of \d+))?")
# results/quick itself is there to be made anew, by whoever runs it.
RECORDED = {"quick": "quick-record"}
COMMITTED = [path for path in sorted(RESULTS.glob("*/study.yaml")) if path.parent.name not in RECORDED]
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
    "path", [path for path in COMMITTED if load(path).study in CONFIGS], ids=lambda path: path.parent.name
)
def test_a_committed_study_is_the_one_in_config(path: Path) -> None:
    # How it is computed and where its text lies may differ, as by what the README says.
    committed, configured = (load(one).identity for one in (path, CONFIGS[load(path).study]))
    assert committed | {"execution": None} == configured | {"execution": None}


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_the_committed_tables_are_those_of_the_records(path: Path, tmp_path: Path) -> None:
    study = of_results(path)
    forms_of_all = [file for file in products.files(study, expand(study)) if not file.startswith("figures/")]
    for name, forms in groupby(forms_of_all, key=lambda file: Path(file).stem):
        written = {form: tmp_path / form for form in forms}
        out = [part for file in written.values() for part in ("--out", str(file))]
        app(["table", str(path.parent), name, *out], standalone_mode=False)
        for form, file in written.items():
            assert file.read_bytes() == (path.parent / form).read_bytes(), form


def test_there_are_committed_results() -> None:
    assert COMMITTED


def rows_of_readme(beginning: str) -> list[list[str]]:
    """The cells of the README's table whose head begins so; without the emphasis."""
    lines = README[README.index(beginning) :].split("\n\n")[0].splitlines()
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|-")]


def test_the_readmes_numbers_of_the_quick_study_are_those_of_its_record() -> None:
    _, *rows = rows_of_readme("| | optimizer |")
    runs = pd.read_csv(RESULTS / RECORDED["quick"] / "tables" / "runs.csv")
    recorded = [
        (
            run["placement"],
            run["optimizer"],
            run["learning_rate"],
            run["warmup"],
            f"{run['final_valid_loss']:.2f}"
            if run["status"] == "finished"
            else f"diverged at update {run['diverged_update']:.0f}",
            f"{run['final_test_bleu']:.1f}" if run["status"] == "finished" else "",
        )
        for run in runs.to_dict("records")
    ]
    said = [
        (
            placement.lower().removesuffix("-ln"),
            optimizer.lower(),
            float(rate.split(",")[0]),
            int(warmup.replace("none", "0").removesuffix(" updates")),
            loss,
            bleu,
        )
        for placement, optimizer, rate, warmup, loss, bleu in rows
    ]
    assert sorted(said) == sorted(recorded)


def test_the_readmes_verdicts_are_those_of_the_ledgers() -> None:
    (_, _, *studies), *rows = rows_of_readme("| claim |")
    for column, study in enumerate(studies, start=2):
        ledger = pd.read_csv(RESULTS / RECORDED.get(study, study) / "claims.csv").set_index("claim")
        for row in rows:
            said = VERDICT.findall(row[column]) or [("", "", "")]
            for claim in row[0].split(", "):
                _, verdict, held = next(one for one in said if one[0] in ("", claim))
                assert VERDICTS[verdict] == ledger.verdict[claim], (study, claim)
                assert f"{held} comparisons hold" in ledger.reason[claim] or not held, (study, claim)
