"""The page tells of what its study has now, and of the paper's claims where the study tests some."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from preln.commands import conclusion
from preln.config import Study
from preln.records.files import write_json
from preln.report.html import page
from preln.report.reference import errata
from preln.translation.report import finding
from preln.translation.runs import Run
from tests.made_up.translation import ADAM, POST, changed, records_of, small_study

pytestmark = pytest.mark.slow

WITHOUT_WARMUP = {**ADAM, "warmup": 0}
WITH_WARMUP = {**ADAM, "warmup": 10}


def record(study: Study, run: Run, results: Path, **values: Any) -> None:
    """Write the records of a run that is done, with where they come from."""
    records_of(study, run, results, [6.0, 5.0, 4.0])
    origin = {"commit": "c0ffee", "commit_changed": False, "versions": {"preln": "1.0"}}
    changed(results / study.study / run.folder / "run.json", **{**origin, **values})


def page_of(study: Study, results: Path) -> str:
    """The text of a study's report, without what only its scripts and its style say."""
    out = results / "report.html"
    page.write(study, results, out)
    return html.unescape(re.sub(r"<(script|style).*?</\1>", "", out.read_text(encoding="utf-8"), flags=re.DOTALL))


def written(results: Path, *entries: dict[str, Any], **changes: Any) -> str:
    study, runs = small_study(*entries, **changes)
    for run in runs:
        record(study, run, results)
    return page_of(study, results)


def images(results: Path, *names: str) -> None:
    """Images of figures, as the workflow leaves them."""
    folder = results / "small" / "figures"
    folder.mkdir(parents=True)
    for name in names:
        Image.new("RGB", (8, 8)).save(folder / f"figure-{name}.png")


def test_a_run_and_a_figure_that_the_study_has_no_more_are_not_on_the_page(tmp_path: Path) -> None:
    study, runs = small_study(ADAM, {**ADAM, "figures": [6], "learning_rate": 1e-4})
    for run, commit in zip(runs, ("c0ffee", "badcab"), strict=True):
        record(study, run, tmp_path, commit=commit)
    images(tmp_path, "2", "6")
    text = page_of(small_study(ADAM)[0], tmp_path)
    assert 'id="figure-2"' in text and 'id="figure-6"' not in text
    assert "c0ffee (1 record)" in text and "badcab" not in text


def test_the_model_is_that_of_runs_that_are_done_and_a_run_that_diverged_is_not_asked_how_many_updates_it_has(
    tmp_path: Path,
) -> None:
    study, (done, failed, _) = small_study(ADAM, {**ADAM, "learning_rate": 1e-2}, {**ADAM, "width": 64})
    record(study, done, tmp_path)
    record(study, failed, tmp_path)
    metrics = tmp_path / study.study / failed.folder / "metrics.json"
    failure = {"status": "diverged", "diverged": {"update": 7, "epoch": 1}, "updates": 0}
    write_json(metrics, json.loads(metrics.read_text()) | failure)
    assert re.search(r"layers of width 128 .* 300 updates in", page_of(study, tmp_path))


def test_of_a_study_that_tests_no_claim_it_begins_with_the_runs_and_ends_with_the_paper(tmp_path: Path) -> None:
    text = written(tmp_path, WITHOUT_WARMUP)
    parts = ["Study small", "Tables", "What it cost", "Where the numbers come from", "The paper"]
    assert re.findall("<h[12]>(.*?)</h", text) == parts
    assert "Translating for BLEU" not in text
    before, _, last = text.partition("<h2>The paper</h2>")
    assert "claim" not in before
    assert "This study tests none of the paper's 16 claims" in last


def test_it_begins_with_the_answer_and_its_numbers_as_the_last_lines_of_a_run_do(tmp_path: Path) -> None:
    top = written(tmp_path, WITHOUT_WARMUP, WITH_WARMUP).partition("<main")[0]
    study, _ = small_study(WITHOUT_WARMUP, WITH_WARMUP)
    question, *answer = [line.strip() for line in conclusion.lines(study, tmp_path)][:4]
    assert question.startswith("Does Post-LN need the warm-up") and f"<h1>{finding.QUESTION}</h1>" in top
    assert all(line in top for line in answer)


def test_curves_that_lead_the_page_are_shown_once(tmp_path: Path) -> None:
    grid = {**POST, "figures": [2, 4], "placement": ["post", "pre"], "warmup": [0, 10]}
    images(tmp_path, "finding", "2", "4", "runs")
    alike = written(tmp_path, grid)
    with_another = written(tmp_path, grid, {**POST, "learning_rate": 5e-4, "warmup": 0})
    shown = [re.findall('<section id="figure-([^"]*)"', text) for text in (alike, with_another)]
    assert shown == [["finding"], ["finding", "runs"]]


@pytest.mark.parametrize(("source", "concerned"), [("embedded", False), ("iwslt14", True)])
def test_the_papers_errors_are_on_the_page_that_they_concern(source: str, concerned: bool, tmp_path: Path) -> None:
    text = written(tmp_path, WITHOUT_WARMUP, WITH_WARMUP, corpora={"embedded": {"source": source}})
    of_it = [concerned and erratum.of == "iwslt14" for erratum in errata.load()]
    assert [erratum.statement in text for erratum in errata.load()] == of_it
    assert ("Where the paper errs or is silent" in text) == concerned


def test_the_share_of_translating_is_of_the_runs_that_recorded_it_for_each_epoch(tmp_path: Path) -> None:
    study, runs = small_study(ADAM, {**ADAM, "learning_rate": 1e-4}, {**ADAM, "learning_rate": 2e-4})
    # One run lacks the seconds of an epoch, and one those of all.
    for run, seconds in zip(runs, ([5.0, 10.0, 5.0], [5.0, None, 5.0], None), strict=True):
        record(study, run, tmp_path)
        path = tmp_path / study.study / run.folder / "metrics.json"
        values = json.loads(path.read_text())
        if seconds:
            values["bleu"]["seconds"] = seconds
        path.write_text(json.dumps(values))
    (share,) = re.findall(r"Translating for BLEU took (.*)\.", page_of(study, tmp_path))
    assert share == "10.0% of the time of training and translating, in the 1 run that recorded it"
