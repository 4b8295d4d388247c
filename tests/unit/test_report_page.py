"""The page tells of what its study has now, whatever else lies in the folder of its results. It tells of the paper's
claims where the study tests some."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from preln.config import Study
from preln.report.html import page
from preln.report.reference import errata
from preln.translation.runs import Run
from tests.made_up.records import changed
from tests.made_up.translation import ADAM, records_of, small_study

ORIGIN = {"commit_changed": False, "versions": {"preln": "1.0"}}
WITHOUT_WARMUP = {**ADAM, "warmup": 0}
WITH_WARMUP = {**ADAM, "warmup": 10}


def record(study: Study, run: Run, results: Path, commit: str = "c0ffee") -> None:
    """Write the records of a run that is done, with where they come from."""
    records_of(study, run, results, [6.0, 5.0, 4.0])
    path = results / study.study / run.folder / "run.json"
    changed(path, **ORIGIN, commit=commit)


def written(results: Path, *entries: dict[str, Any]) -> str:
    """The text of the report of a study with such runs, without what only its scripts and its style say."""
    study, runs = small_study(*entries)
    for run in runs:
        record(study, run, results)
    out = results / "report.html"
    page.write(study, results, out)
    return html.unescape(re.sub(r"<(script|style).*?</\1>", "", out.read_text(encoding="utf-8"), flags=re.DOTALL))


def headings(text: str) -> list[str]:
    return re.findall("<h[12]>(.*?)</h", text)


def test_a_run_and_a_figure_that_the_study_has_no_more_are_not_on_the_page(tmp_path: Path) -> None:
    study, runs = small_study(ADAM, {**ADAM, "figures": [6], "learning_rate": 1e-4})
    for run, commit in zip(runs, ("c0ffee", "badcab"), strict=True):
        record(study, run, tmp_path, commit)
    figures = tmp_path / study.study / "figures"
    figures.mkdir()
    for name in ("2", "6"):
        (figures / f"figure-{name}.png").write_bytes(b"an image")

    study, runs = small_study(ADAM)
    page.write(study, tmp_path, tmp_path / "report.html")

    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="figure-2"' in text
    assert 'id="figure-6"' not in text
    assert "c0ffee (1 record)" in text
    assert "badcab" not in text


def test_of_a_study_that_tests_no_claim_it_begins_with_the_runs_and_ends_with_a_sentence_about_the_paper(
    tmp_path: Path,
) -> None:
    text = written(tmp_path, WITHOUT_WARMUP)
    assert headings(text) == ["Study small", "Tables", "What it cost", "Where the numbers come from", "The paper"]
    assert "Translating for BLEU" not in text
    before, _, last = text.partition("<h2>The paper</h2>")
    assert "claim" not in before
    assert "This study tests none of the paper's 16 claims" in last
    assert not any(erratum.statement in text for erratum in errata.load())


def test_of_a_study_that_tests_claims_it_begins_with_them_and_ends_with_the_papers_errors(tmp_path: Path) -> None:
    text = written(tmp_path, WITHOUT_WARMUP, WITH_WARMUP)
    first, second, *_, last = headings(text)
    assert (first, second) == ("Does the paper hold?", "The paper's claims")
    assert last == "Where the paper errs or is silent"
    assert all(erratum.statement in text for erratum in errata.load())


def test_a_file_that_a_user_may_not_have_is_named_as_in_prelns_repository(tmp_path: Path) -> None:
    text = re.sub("<.*?>", "", written(tmp_path, WITHOUT_WARMUP, WITH_WARMUP))
    endings = re.findall(r"\b(?:src|docs)/[\w/-]+\.\w+\s+(.{21})", text)
    assert endings and set(endings) == {"in preln's repository"}


def test_the_share_of_translating_is_of_the_runs_that_recorded_it_for_each_epoch(tmp_path: Path) -> None:
    study, runs = small_study(ADAM, {**ADAM, "learning_rate": 1e-4}, {**ADAM, "learning_rate": 2e-4})
    # Of one run the seconds of an epoch are not known, and of one those of all.
    for run, seconds in zip(runs, ([5.0, 10.0, 5.0], [5.0, None, 5.0], None), strict=True):
        record(study, run, tmp_path)
        path = tmp_path / study.study / run.folder / "metrics.json"
        values = json.loads(path.read_text())
        if seconds:
            values["bleu"]["seconds"] = seconds
        path.write_text(json.dumps(values))
    page.write(study, tmp_path, out := tmp_path / "report.html")
    (share,) = re.findall(r"Translating for BLEU took (.*)\.", out.read_text(encoding="utf-8"))
    assert share == "10.0% of the time of training and translating, in the 1 run that recorded it"
