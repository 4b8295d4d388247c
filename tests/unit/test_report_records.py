"""The records of a study are read as they are, and a wrong one is refused by its name."""

import itertools
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.records.recording import RecordError
from preln.translation.report.records import load
from tests.made_up.translation import changed, recorded_study


def test_curves_have_a_row_for_each_run_and_epoch_with_settings_and_numbers(tmp_path: Path) -> None:
    study, runs = recorded_study(tmp_path, [6.0, 5.0], [6.0, 5.0])
    frame = load(study, runs, tmp_path).curves
    assert list(zip(frame["run"], frame["epoch"], strict=True)) == [(r.id, e) for r in runs for e in (1, 2)]
    assert frame["valid_loss"].tolist() == [6.0, 5.0] * len(runs)
    assert set(frame["warmup"]) == {0, 400}
    # The peak, and that at the end of an epoch.
    assert (set(frame["learning_rate"]), set(frame["rate"])) == ({1e-3}, {7e-5})


def test_runs_without_metrics_are_absent(tmp_path: Path) -> None:
    study, runs = recorded_study(tmp_path, [6.0])
    (tmp_path / study.study / runs[1].folder).mkdir(parents=True)
    records = load(study, runs, tmp_path)
    assert records.summary["run"].tolist() == [runs[0].id]
    assert set(records.curves["run"]) == {runs[0].id}


def test_final_is_the_last_epoch_and_best_the_lowest_loss(tmp_path: Path) -> None:
    row = load(*recorded_study(tmp_path, [6.0, 4.0, 5.0]), tmp_path).summary.iloc[0]
    assert (row["final_epoch"], row["final_valid_loss"]) == (3, 5.0)
    assert (row["best_epoch"], row["best_valid_loss"]) == (2, 4.0)


def test_a_run_that_diverged_in_its_first_epoch_has_a_row_in_the_summary_alone(tmp_path: Path) -> None:
    records = load(*recorded_study(tmp_path, ([], 81)), tmp_path)
    row = records.summary.iloc[0]
    assert records.curves.empty
    assert (row["status"], row["diverged_update"]) == ("diverged", 81)
    assert pd.isna(row["final_valid_loss"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *itertools.product(["run.json", "metrics.json", "curve.csv"], ["", "[]", "{"]),
        # Without its metrics, a run is not done.
        *itertools.product(["run.json", "curve.csv"], [None]),
    ],
)
def test_a_record_that_is_damaged_or_missing_is_refused_by_name(name: str, content: str | None, tmp_path: Path) -> None:
    study, runs = recorded_study(tmp_path, [6.0])
    path = tmp_path / study.study / runs[0].folder / name
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(RecordError, match=name):
        load(study, runs, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 64}, "width was 64, is 128"),
        ({"corpus_settings": {}}, ".*corpus_settings.vocabulary was not there, is 1024.*"),
        ({"old": 1}, "old was 1, is not there"),
    ],
    ids=["another value", "without a key", "with a key more"],
)
def test_records_of_other_settings_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    study, runs = recorded_study(tmp_path, [6.0])
    changed(tmp_path / study.study / runs[0].folder / "run.json", identity=runs[0].identity | change)
    with pytest.raises(RecordError, match=rf"run\.json: made with other settings \({message}\)"):
        load(study, runs, tmp_path)


def test_runs_on_one_corpus_are_of_one_text(tmp_path: Path) -> None:
    study, runs = recorded_study(tmp_path, [6.0], [6.0])
    for number, run in enumerate(runs):
        files = {"train.de": {"sha256": "the same"}, "test.en": {"sha256": str(number)}}
        changed(tmp_path / study.study / run.folder / "run.json", corpus={"parts": {"all": {"files": files}}})
    message = rf"is of another text than {runs[0].id} \(test\.en of corpus embedded differ\)"
    with pytest.raises(RecordError, match=message):
        load(study, runs, tmp_path)
