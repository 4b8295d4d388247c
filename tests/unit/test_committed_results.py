"""The records that come with a clone are those of the studies that come with it, so that a study goes on from them."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pandas as pd
import pytest

from preln.cli import app
from preln.config import load, of_results
from preln.report import products
from preln.report.pretraining import records as pretraining_records
from preln.report.theory import records as theory_records
from preln.report.translation import records
from preln.runs import expand
from preln.theory import measurement_jobs

pytestmark = pytest.mark.numbers

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
VERDICTS = {"reproduced": "reproduced", "in part": "reproduced in part", "no": "not reproduced"}
VERDICTS |= {"inconclusive": "inconclusive", "": "not tested in this study"}
VERDICT = re.compile(r"(?:(C\d+) )?(reproduced|in part|no|inconclusive)(?: \((\d+ of \d+))?")
# results/quick itself is there to be made anew, by whoever runs it.
RECORDED = {"quick": "quick-record"}
COMMITTED = [path for path in sorted(RESULTS.glob("*/study.yaml")) if path.parent.name not in RECORDED]
CONFIGS = {load(path).study: path for path in sorted((ROOT / "config").glob("*.yaml"))}


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_a_committed_study_is_whole_and_its_records_are_its_own(path: Path) -> None:
    study = of_results(path)
    runs = expand(study)
    measured = measurement_jobs.expand(study, runs)
    bert = pretraining_records.load(study, RESULTS)
    assert set(records.summary(study, runs, RESULTS)["run"]) == {run.id for run in runs}
    assert set(theory_records.load(study, measured, RESULTS).table["part"]) == {part.id for part in measured}
    assert bert.metrics.keys() == {run.id for run in bert.runs}
    assert bert.done == {job.id for job in bert.jobs}


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


def rows(document: str, head: str, number: int = 0) -> list[list[str]]:
    """The cells of a document's table (the first, or the given) whose head begins so; without the emphasis."""
    text = (ROOT / document).read_text(encoding="utf-8")
    lines = (head + text.split(f"\n{head}")[number + 1].split("\n\n")[0]).splitlines()
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|-")]


def recorded_rows(study: str) -> list[tuple[str, ...]]:
    """A table's runs as a document tells them: of several seeds the mean, and the lowest and the highest loss."""
    runs = pd.read_csv(RESULTS / study / "tables" / "runs.csv")
    found = []
    for _, seeds in runs.groupby(runs["run"].str.replace(r"-s\d+$", "", regex=True)):
        run = seeds.iloc[0]
        if run["status"] == "finished":
            losses = seeds["final_valid_loss"]
            spread = f" ({losses.min():.2f} to {losses.max():.2f})" if len(seeds) > 1 else ""
            numbers = f"{losses.mean():.2f}{spread}", f"{seeds['final_test_bleu'].mean():.1f}"
        else:
            numbers = f"diverged at update {run['diverged_update']:,.0f}", ""
        settings = f"{run['placement']} {run['optimizer']} {run['learning_rate']:g} {run['warmup']}"
        found.append((settings, *numbers))
    return sorted(found)


@pytest.mark.parametrize(
    ("document", "number", "study"),
    [
        ("README.md", 0, RECORDED["quick"]),
        ("docs/results.md", 0, "iwslt14-50k-cpu"),
        ("docs/results.md", 1, "iwslt14-cpu"),
    ],
)
def test_a_documents_table_of_runs_is_that_of_the_records(document: str, number: int, study: str) -> None:
    said = []
    for placement, optimizer, rate, warmup, *numbers in rows(document, "| | optimizer |", number)[1:]:
        updates = warmup.replace("none", "0").replace(",", "").removesuffix(" updates")
        peak = float(rate.split(",")[0])
        said.append((f"{placement.lower().removesuffix('-ln')} {optimizer.lower()} {peak:g} {updates}", *numbers))
    assert sorted(said) == recorded_rows(study)


def test_the_readmes_verdicts_are_those_of_the_ledgers() -> None:
    (_, _, *studies), *claims = rows("README.md", "| claim |")
    for column, study in enumerate(studies, start=2):
        ledger = pd.read_csv(RESULTS / RECORDED.get(study, study) / "claims.csv").set_index("claim")
        for row in claims:
            said = VERDICT.findall(row[column]) or [("", "", "")]
            for claim in row[0].split(", "):
                _, verdict, held = next(one for one in said if one[0] in ("", claim))
                assert VERDICTS[verdict] == ledger.verdict[claim], (study, claim)
                assert f"{held} comparisons hold" in ledger.reason[claim] or not held, (study, claim)
