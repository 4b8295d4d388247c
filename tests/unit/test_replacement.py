"""Records that a study is about to replace are named, with what differs and how to keep them."""

import shutil
from pathlib import Path

import pytest

from preln.commands.cli import app
from preln.config import write
from preln.jobs import replacement
from preln.jobs.kinds import jobs_of
from preln.records import packed
from tests.made_up.translation import ADAM, records_of, small_study


def written(folder: Path) -> Path:
    """The results of a study of two runs, which are recorded."""
    study, runs = small_study()
    for run in runs:
        records_of(study, run, folder / "results", [5.0, 4.0])
    write(study, folder / "results" / "small" / "study.yaml")
    return folder / "results" / "small"


def test_records_of_other_settings_alone_are_named_in_a_plan_with_the_settings_that_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = written(tmp_path)
    assert replacement.told(jobs_of(small_study()[0]), results) == []
    monkeypatch.chdir(tmp_path)
    corpora = {"embedded": {"source": "embedded", "vocabulary": 999}}
    write(small_study(corpora=corpora)[0], Path("other.yaml"))
    app(["plan", "other.yaml"], standalone_mode=False)
    output = " ".join(capsys.readouterr().out.split())
    assert "of other settings, and will be replaced: 2, such as translation/post-adam-" in output
    assert "(corpus_settings.vocabulary: 1024, now 999). To keep both, give the study another name" in output


def test_records_of_a_clone_that_the_study_does_not_have_are_named(tmp_path: Path) -> None:
    results = written(tmp_path)
    _, runs = small_study()
    packed.pack(results, {run.folder: run.records for run in runs})
    study, kept = small_study({**ADAM, "warmup": 0})
    assert replacement.told(jobs_of(study), results) == [], "their folders stay"
    for run in runs:
        shutil.rmtree(results / run.folder)
    (line,) = replacement.told(jobs_of(study), results)
    (lost,) = {run.folder for run in runs} - {run.folder for run in kept}
    assert f"of jobs that the study does not have, and will be lost: {lost}. To keep both" in line
