"""The records of a study are read as they are, and a wrong one is refused by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.records import recording
from preln.records.recording import RecordError
from preln.report.core.records import own
from preln.translation.report.records import load
from tests.made_up.records import changed
from tests.made_up.translation import records_of, small_study


def test_curves_have_a_row_for_each_run_and_epoch_with_settings_and_numbers(tmp_path: Path) -> None:
    study, runs = small_study()
    for run in runs:
        records_of(study, run, tmp_path, [6.0, 5.0])

    frame = load(study, runs, tmp_path).curves

    assert list(zip(frame["run"], frame["epoch"], strict=True)) == [(r.id, e) for r in runs for e in (1, 2)]
    assert frame["valid_loss"].tolist() == [6.0, 5.0] * len(runs)
    assert set(frame["warmup"]) == {0, 400}


def test_the_peak_rate_and_the_rate_at_the_end_of_an_epoch_are_two_columns(tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [6.0])

    row = load(study, runs, tmp_path).curves.iloc[0]

    assert (row["learning_rate"], row["rate"]) == (1e-3, 7e-5)


def test_runs_without_metrics_are_absent(tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [6.0])
    (tmp_path / study.study / runs[1].folder).mkdir(parents=True)

    assert load(study, runs, tmp_path).summary["run"].tolist() == [runs[0].id]
    assert set(load(study, runs, tmp_path).curves["run"]) == {runs[0].id}


def test_no_run_at_all_gives_empty_frames_with_their_columns(tmp_path: Path) -> None:
    study, runs = small_study()

    assert "valid_loss" in load(study, runs, tmp_path).curves
    assert "status" in load(study, runs, tmp_path).summary
    assert len(load(study, runs, tmp_path).summary) == 0


def test_final_is_the_last_epoch_and_best_the_lowest_loss(tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [6.0, 4.0, 5.0])

    row = load(study, runs, tmp_path).summary.iloc[0]

    assert (row["final_epoch"], row["final_valid_loss"]) == (3, 5.0)
    assert (row["best_epoch"], row["best_valid_loss"]) == (2, 4.0)


def test_a_run_that_diverged_in_its_first_epoch_has_a_row_in_the_summary_alone(tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [], diverged={"update": 81, "epoch": 1, "reason": "loss is nan"})

    row = load(study, runs, tmp_path).summary.iloc[0]

    assert load(study, runs, tmp_path).curves.empty
    assert (row["status"], row["diverged_update"]) == ("diverged", 81)
    assert pd.isna(row["final_valid_loss"])


@pytest.mark.parametrize("name", ["run.json", "metrics.json", "curve.csv"])
@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_a_damaged_record_is_refused_by_name(tmp_path: Path, name: str, content: str) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [6.0])
    (tmp_path / study.study / runs[0].folder / name).write_text(content)

    with pytest.raises(RecordError, match=name):
        load(study, runs, tmp_path)


@pytest.mark.parametrize("name", ["run.json", "curve.csv"])
def test_a_missing_record_of_a_run_that_is_done_is_refused_by_name(tmp_path: Path, name: str) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [6.0])
    (tmp_path / study.study / runs[0].folder / name).unlink()

    with pytest.raises(RecordError, match=name):
        load(study, runs, tmp_path)


def test_records_of_other_settings_are_refused(tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [6.0])
    path = tmp_path / study.study / runs[0].folder / "run.json"
    changed(path, identity=runs[0].identity | {"width": 64})

    with pytest.raises(RecordError, match=r"run.json: made with other settings \(width was 64, is 128\)"):
        load(study, runs, tmp_path)


def test_runs_on_one_corpus_are_of_one_text(tmp_path: Path) -> None:
    study, runs = small_study()
    for number, run in enumerate(runs[:2]):
        records_of(study, run, tmp_path, [6.0])
        path = tmp_path / study.study / run.folder / "run.json"
        files = {"train.de": {"sha256": "the same"}, "test.en": {"sha256": str(number)}}
        changed(path, corpus={"parts": {"all": {"files": files}}})

    message = rf"is of another text than {runs[0].id} \(test\.en of corpus embedded differ\)"
    with pytest.raises(RecordError, match=message):
        load(study, runs, tmp_path)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"identity": {"corpus": {"vocabulary": 10}}}, "corpus.vocabulary was 10, is 20"),
        ({"identity": {}}, "corpus.vocabulary was not there, is 20"),
        ({"identity": {"corpus": {"vocabulary": 20}, "old": 1}}, "old was 1, is not there"),
        ({}, "corpus.vocabulary was not there, is 20"),
    ],
    ids=["another value", "without a key", "with a key more", "without an identity"],
)
def test_a_record_has_the_keys_of_its_study_and_no_others(record: dict[str, Any], message: str, tmp_path: Path) -> None:
    recording.write(tmp_path, record, [])
    with pytest.raises(RecordError, match=rf"run\.json: made with other settings \({message}\)"):
        own(tmp_path, {"corpus": {"vocabulary": 20}})
