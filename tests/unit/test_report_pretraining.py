"""Figure 5 and the tables of BERT: what they take from the records, and what they say of it."""

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.text import Text
from scipy import stats

from preln.config import Study, validate
from preln.pretraining.report.records import SOURCE, Records, chosen, fixed, reached, scores_of
from preln.pretraining.runs import expand, finetunings
from preln.records.files import write_json
from preln.records.recording import RecordError
from preln.report.reference import bert as paper
from tests.conftest import bert_content
from tests.made_up.pretraining import LOSSES, POST, PRE, write_records
from tests.made_up.translation import changed
from tests.reading import drawn, tabled


def load(study: Study, results: Path) -> Records:
    return SOURCE.load(study, SOURCE.jobs(study), results)


@pytest.fixture
def study() -> Study:
    return validate(bert_content(POST, PRE), "my.yaml")


@pytest.fixture
def results(study: Study, tmp_path: Path) -> Path:
    write_records(tmp_path, study)
    return tmp_path


def test_runs_on_one_text_are_of_the_same_files(study: Study, results: Path) -> None:
    for number, path in enumerate(sorted(results.glob("*/pretraining/*/run.json"))):
        changed(path, text={"sha256": {"train.txt": "same", "valid.txt": number}})
    with pytest.raises(RecordError, match=r"pre-.*run\.json: is of another text than post-.* \(valid\.txt of text"):
        load(study, results)


@pytest.mark.parametrize(("loss", "update"), [(8.0, 3), (7.5, 4.5), (6.5, 9), (6.0, 12), (5.9, math.nan), (9.0, 3)])
def test_a_loss_is_reached_on_the_line_between_two_validations(loss: float, update: float) -> None:
    curve = pd.DataFrame({"updates": [3, 6, 9, 12], "valid_loss": LOSSES["post"]})
    assert reached(curve, loss) == pytest.approx(update, nan_ok=True)


@pytest.mark.parametrize(("loss", "updates"), [(None, [6, 3]), (6.0, [12, 6])], ids=["half", "named"])
def test_runs_are_timed_to_the_first_ones_loss_halfway_or_the_studys(
    loss: float | None, updates: list[int], results: Path
) -> None:
    content = bert_content(POST, PRE)
    content["pretraining"]["loss"] = loss
    study = validate(content, "my.yaml")
    assert load(study, results).loss == (loss or 7.0)
    table = tabled("pretraining", study, results).full
    assert list(table["reached_update"]) == updates
    assert list(table["speedup"]) == [1, 2]


@pytest.mark.parametrize("kept", [slice(None, 1), slice(-1, None)], ids=["diverged before", "validated at its end"])
def test_nothing_is_timed_to_a_first_run_without_a_loss_halfway(kept: slice, study: Study, results: Path) -> None:
    curve = results / study.study / expand(study)[0].folder / "curve.csv"
    head, *rows = curve.read_text().splitlines()
    assert int(rows[0].split(",")[0]) == 3, "of 12"
    curve.write_text("\n".join([head, *rows[kept]]) + "\n")
    assert load(study, results).loss is None


def test_the_chosen_point_is_the_best_on_dev_and_the_fixed_one_the_studys(study: Study, results: Path) -> None:
    records = load(study, results)
    job = records.jobs[0]
    scores = scores_of(records, job)
    best, named = chosen(scores), fixed(scores, job)
    assert best is not None and named is not None
    assert (best.point.learning_rate, named.point.learning_rate) == (2e-3, 1e-3)
    assert best.accuracy.mean == pytest.approx(0.63)
    half = stats.t.ppf(0.975, 1) * 0.01
    assert (best.accuracy.low, best.accuracy.high) == pytest.approx((0.63 - half, 0.63 + half))


def test_a_point_of_which_a_seed_diverged_is_not_chosen(study: Study, results: Path) -> None:
    job = finetunings(study)[0]
    path = results / study.study / "finetuning" / job.id / "scores.csv"
    table = pd.read_csv(path)
    table.loc[table["learning_rate"] == 2e-3, "accuracy"] = [math.nan, 0.9]
    table.to_csv(path, index=False)
    best = chosen(scores_of(load(study, results), job))
    assert best is not None and best.point.learning_rate == 1e-3


def test_an_accuracy_stands_beside_the_rate_of_the_more_frequent_label(study: Study, results: Path) -> None:
    assert tabled("finetuning", study, results).full["majority"].tolist() == [12 / 20] * 4


def texts_of(study: Study, results: Path) -> list[str]:
    return [str(text.get_text()) for text in drawn("5", study, results).findobj(Text)]


def test_figure_5_has_a_panel_for_the_losses_and_for_each_fine_tuned_task(study: Study, results: Path) -> None:
    texts = texts_of(study, results)
    assert {"(a) Validation loss", "(b) pairs"} <= set(texts)
    assert "Post-LN, lr 1e-3, warm-up 4" in texts
    assert "Pre-LN, lr 3e-3, no warm-up" in texts
    assert not any("paper" in text for text in texts)
    for job in finetunings(study):
        (results / study.study / "finetuning" / job.id / "run.json").unlink()
    texts = texts_of(study, results)
    assert "(a) Validation loss" in texts and "(b) pairs" not in texts


def test_a_run_that_diverged_before_its_first_validation_changes_no_other(study: Study, results: Path) -> None:
    whole = load(study, results)
    folder = results / study.study / expand(study)[1].folder
    (folder / "curve.csv").write_text((folder / "curve.csv").read_text().splitlines()[0] + "\n")
    metrics = json.loads((folder / "metrics.json").read_text())
    diverged = {"status": "diverged", "diverged": {"update": 2, "reason": "it did"}, "final": None, "best": None}
    write_json(folder / "metrics.json", metrics | diverged)
    records = load(study, results)
    assert records.loss == whole.loss
    assert records.curves.dtypes.drop("run").equals(whole.curves.dtypes.drop("run"))
    assert list(tabled("pretraining", study, results).full["status"]) == ["finished", "diverged"]
    assert "Pre-LN, lr 3e-3, no warm-up; diverged at update 2" in texts_of(study, results)


def test_the_papers_curves_are_drawn_behind_runs_with_its_settings(tmp_path: Path) -> None:
    sizes: dict[str, Any] = {"layers": 12, "width": 768, "ffn_width": 3072, "heads": 12}
    warmed = {**sizes, "placement": "post", "learning_rate": 1e-4, "warmup": 10000, "updates": 1000000}
    content = bert_content(
        {**warmed, "validate_every": 10000}, {**sizes, "placement": "pre", "learning_rate": 3e-4}, paper_settings=True
    )
    study = validate(content, "my.yaml")
    write_records(tmp_path, study)
    texts = texts_of(study, tmp_path)
    assert "paper: Post-LN (read off; its unit is not stated)" in texts


def test_the_papers_curves_agree_with_its_text_when_its_names_are_exchanged() -> None:
    for placement, update in paper.REACHED.items():
        points = [point for point in paper.load() if point.placement == placement]
        curve = pd.DataFrame({"updates": [p.updates for p in points], "valid_loss": [p.valid_loss for p in points]})
        assert reached(curve, paper.LOSS) == pytest.approx(update, rel=0.1)
