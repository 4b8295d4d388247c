"""The figure of a study's own runs shows every run, whatever its settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from preln.config import Study, validate
from preln.jobs.runs import series
from preln.pretraining.runs import expand
from preln.records.files import write_json
from preln.report.catalogue import Catalogue
from preln.report.core.curves import Curves
from preln.report.core.own_runs import _looks
from preln.report.html.charts import specification
from tests.conftest import bert_content
from tests.made_up.pretraining import write_records
from tests.made_up.translation import POST, records_of, small_study
from tests.reading import points, texts


def drawn(study: Study, results: Path, name: str = "runs") -> Figure:
    catalogue = Catalogue(study)
    figure = catalogue.figure(name)
    drawing: Figure = figure.compose(study, catalogue.load(figure, results))
    return drawing


def curves(study: Study, results: Path, name: str = "runs") -> list[Curves]:
    catalogue = Catalogue(study)
    figure = catalogue.figure(name)
    return figure.curves(study, catalogue.load(figure, results))


def titles(figure: Figure) -> list[str]:
    return [axes.get_title() for axes in figure.axes if axes.get_title()]


def test_runs_that_no_figure_of_the_paper_names_are_drawn_over_updates(tmp_path: Path) -> None:
    study, runs = small_study({**POST, "dropout": [0.1, 0.3]})
    for run, loss in zip(runs, (6.0, 5.0), strict=True):
        records_of(study, run, tmp_path, [loss + 1, loss])

    figure = drawn(study, tmp_path)

    assert titles(figure) == ["Validation loss", "BLEU"]
    assert [points(line) for line in figure.axes[0].lines] == [[(100, 7), (200, 6)], [(100, 6), (200, 5)]]
    assert "dropout 0.1" in texts(figure) and "dropout 0.3" in texts(figure)
    assert "Colour: dropout." in texts(figure)


def test_seeds_are_one_mean_with_a_band_from_lowest_to_highest(tmp_path: Path) -> None:
    study, runs = small_study({**POST, "seed": [1, 2, 3]})
    for run, loss in zip(runs, (4.0, 5.0, 9.0), strict=True):
        records_of(study, run, tmp_path, [loss, loss])

    axes = drawn(study, tmp_path).axes[0]

    assert [points(line) for line in axes.lines] == [[(100, 6.0), (200, 6.0)]]
    band = np.asarray(axes.collections[0].get_paths()[0].vertices)
    assert (min(band[:, 1]), max(band[:, 1])) == (4.0, 9.0)


@pytest.mark.parametrize(("losses", "epoch"), [([6.0], 2), ([], 1)])
def test_a_run_that_diverged_has_a_cross_on_the_edge_at_its_update(
    tmp_path: Path, losses: list[float], epoch: int
) -> None:
    study, runs = small_study({**POST, "warmup": [0, 400]})
    records_of(study, runs[0], tmp_path, losses, diverged={"update": 150, "epoch": epoch, "reason": "nan"})

    figure = drawn(study, tmp_path)

    edges = {"Validation loss": 1.0, "BLEU": 0.0}
    # Where no run has a BLEU, there is no panel of it.
    assert titles(figure) == (list(edges) if losses else ["Validation loss"])
    for axes, title in zip(figure.axes, titles(figure), strict=False):
        crosses = [points(line) for line in axes.lines if line.get_marker() == "x"]
        assert crosses == [[(150, edges[title])]]
    assert "diverged at update 150" in texts(figure)
    assert "1 of 2 runs, 1 diverged" in texts(figure)


def test_each_corpus_has_its_row(tmp_path: Path) -> None:
    corpora = {name: {"source": "embedded"} for name in ("embedded", "other", "third")}
    study, runs = small_study({**POST, "corpus": ["embedded", "other", "third"]}, corpora=corpora)
    for run in runs[:2]:
        records_of(study, run, tmp_path, [6.0])

    figure = drawn(study, tmp_path)

    of_the_done = ["embedded", "other"]
    assert titles(figure) == [f"{what}, {name}" for name in of_the_done for what in ("Validation loss", "BLEU")]


def test_pre_training_runs_are_drawn_with_those_that_diverged(tmp_path: Path) -> None:
    study = validate(bert_content({"placement": ["post", "pre"]}), "my.yaml")
    write_records(tmp_path, study)
    path = tmp_path / study.study / "pretraining" / expand(study)[1].id / "metrics.json"
    write_json(path, {**json.loads(path.read_text()), "status": "diverged", "diverged": {"update": 12}})

    figure = drawn(study, tmp_path, "pretraining")

    assert titles(figure) == ["Validation loss"]
    post, pre, cross = figure.axes[0].lines
    assert points(post) == [(3, 8.0), (6, 7.0), (9, 6.5), (12, 6.0)]
    assert points(pre) == [(3, 7.0), (6, 6.0), (9, 5.5), (12, 5.0)]
    assert points(cross) == [(12, 1.0)]
    assert "diverged at update 12" in texts(figure)


def test_the_page_has_the_same_numbers_in_valid_json(tmp_path: Path) -> None:
    study, runs = small_study({**POST, "warmup": [0, 400, 800]})
    records_of(study, runs[0], tmp_path, [7.0, 6.0])
    records_of(study, runs[1], tmp_path, [6.0], diverged={"update": 150, "epoch": 2, "reason": "nan"})
    records_of(study, runs[2], tmp_path, [], diverged={"update": 7, "epoch": 1, "reason": "nan"})

    loss, _ = curves(study, tmp_path)

    assert loss.table[["updates", "value"]].values.tolist() == [[100, 7], [200, 6], [100, 6]]
    assert "seed 1 at update 150" in loss.note and "seed 1 at update 7" in loss.note
    json.dumps(specification(loss), allow_nan=False)


GRIDS = st.fixed_dictionaries(
    {},
    optional={
        "placement": st.just(["post", "pre"]),
        "learning_rate": st.lists(st.sampled_from([1e-4, 5e-4, 1e-3, 2e-3]), min_size=1, unique=True),
        "dropout": st.lists(st.sampled_from([0.0, 0.1, 0.3]), min_size=1, unique=True),
        "clip_norm": st.lists(st.sampled_from([0.0, 1.0, 25.0]), min_size=1, unique=True),
        "seed": st.just([1, 2]),
    },
)


@given(GRIDS)
@settings(max_examples=30)
def test_curves_differ_in_their_looks_and_seeds_do_not(grid: dict[str, list[Any]]) -> None:
    _, runs = small_study({**POST, **grid})
    looks, _ = _looks([run.settings for run in runs])
    assert set(looks) == {series(run.settings) for run in runs}
    assert len({tuple(look.values()) for look in looks.values()}) == len(looks)
