"""The curve figure and its charts show what is recorded of every kind of training, of a grid in any state."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.config import Study, validate
from preln.errors import PrelnError
from preln.jobs.grid import series
from preln.libraries import mpl
from preln.placements import PLACEMENTS
from preln.pretraining.runs import expand
from preln.records.files import write_json
from preln.report.catalogue import Catalogue
from preln.report.core.curve_figure import MOST
from preln.report.core.curves import Curves
from preln.report.core.style import plain_ticks
from preln.report.html.charts import specification
from preln.theory import trace_jobs
from preln.translation import runs as translation
from preln.translation.report.curves import looks_of
from tests.conftest import RUN, bert_content, study_content
from tests.made_up.pretraining import write_records
from tests.made_up.translation import POST, recorded_study, small_study
from tests.reading import charts, drawn, points, texts


def test_the_papers_epochs_are_placed_by_their_updates_beside_a_short_run(tmp_path: Path) -> None:
    study = paper_study(tmp_path, [6.0, 5.0], paper_settings=False, paper_curves=True)
    figure = drawn("4", study, tmp_path)
    grey, ours = figure.axes[0].lines[0], figure.axes[0].lines[-1]
    assert [x for x, _ in points(grey)][:2] == [1100, 3300], "its first and its third epoch"
    assert [x for x, _ in points(ours)] == [100, 200]
    assert figure.axes[0].get_xlim()[0] == 0
    assert "1,100 updates an epoch, each of 4,096 tokens" in texts(figure)


def test_a_panel_none_of_whose_runs_is_done_is_left_out(tmp_path: Path) -> None:
    study, _ = recorded_study(tmp_path, [6.0, 5.0], grid=[{"figures": [2], **POST, "optimizer": ["adam", "sgd"]}])
    figure = drawn("2", study, tmp_path)
    assert [axes.get_title() for axes in figure.axes if axes.get_title()] == ["(a) Adam"]
    assert len([axes for axes in figure.axes if axes.has_data()]) == 2
    titles = [curves.title for curves in charts("2", study, tmp_path)]
    assert titles == ["(a) Adam: Validation loss", "(a) Adam: Test BLEU"]


@pytest.mark.parametrize("name", ["2", "runs"])
def test_seeds_are_one_mean_with_a_band_from_lowest_to_highest(name: str, tmp_path: Path) -> None:
    grid = [{"figures": [2], **POST, "seed": [1, 2, 3, 4]}]
    study, _ = recorded_study(tmp_path, [4.0, 4.0], [5.0, 5.0], [9.0, 9.0], grid=grid)
    figure = drawn(name, study, tmp_path)
    axes = figure.axes[0]
    assert points(axes.lines[0]) == [(100, 6.0), (200, 6.0)]
    band = np.asarray(axes.collections[0].get_paths()[0].vertices)
    assert (min(band[:, 1]), max(band[:, 1])) == (4.0, 9.0)
    assert "n = 3" in texts(figure)


@pytest.mark.parametrize("name", ["2", "runs"])
@pytest.mark.parametrize(("losses", "update"), [([6.0, 7.0], 234), ([], 81)], ids=["in its third epoch", "at once"])
def test_a_run_that_diverged_is_drawn_to_its_last_epoch_with_a_cross_on_the_edge(
    losses: list[float], update: int, name: str, tmp_path: Path
) -> None:
    study, _ = recorded_study(tmp_path, (losses, update))
    figure = drawn(name, study, tmp_path)
    # A loss that goes up, and BLEU that goes down, of which figure runs has no panel without an epoch.
    for axes, edge in zip(figure.axes, (1.0, 0.0), strict=False):
        assert [points(line) for line in axes.lines if line.get_marker() == "x"] == [[(update, edge)]]
    curves = [points(line) for line in figure.axes[0].lines if line.get_marker() != "x" and len(points(line)) == 2]
    assert ([(100, 6.0), (200, 7.0)] in curves) == bool(losses)
    assert f"diverged at update {update}" in texts(figure)


def test_one_exploded_run_does_not_set_the_scale(tmp_path: Path) -> None:
    study, _ = recorded_study(tmp_path, ([6.0, 900.0], 210), [6.0, 4.0])
    figure = drawn("2", study, tmp_path)
    # Half of the way from 4 to log2 of a vocabulary of 1024 lies above it.
    assert figure.axes[0].get_ylim()[1] == 13
    assert "uniform guess" in texts(figure) and "drawn at the upper edge" in texts(figure)


def test_losses_that_are_all_above_the_baseline_are_drawn_whole(tmp_path: Path) -> None:
    study, _ = recorded_study(tmp_path, [12.0, 11.5], [12.5, 11.0])
    low, high = drawn("2", study, tmp_path).axes[0].get_ylim()
    assert low < 11.0 < 12.5 < high


def test_a_name_says_what_differs_and_the_note_what_most_share(tmp_path: Path) -> None:
    grid = [{**POST, "dropout": [0.1, 0.3]}, {**POST, "warmup": 400, "epochs": 2}]
    study, _ = recorded_study(tmp_path, *[[6.0, 5.0]] * 3, grid=grid)
    figure = drawn("runs", study, tmp_path)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["Post-LN, no warm-up", "Post-LN, no warm-up, dropout 0.3", "Post-LN, warm-up 400"]
    assert "Where not named: dropout 0.1." in texts(figure)


def test_each_corpus_has_its_row_of_the_studys_own_runs(tmp_path: Path) -> None:
    corpora = {name: {"source": "embedded"} for name in ("embedded", "other", "third")}
    grid = [{**POST, "corpus": list(corpora)}]
    study, _ = recorded_study(tmp_path, [6.0], [6.0], grid=grid, corpora=corpora)
    titles = [axes.get_title() for axes in drawn("runs", study, tmp_path).axes]
    of_the_done = ["generated text", "other"]
    assert titles == [f"{what}, {name}" for name in of_the_done for what in ("Validation loss", "BLEU")]


def test_curves_of_two_corpora_in_one_panel_are_told_apart(tmp_path: Path) -> None:
    corpora = {name: {"source": "embedded"} for name in ("embedded", "other")}
    grid = [{"figures": [2], **POST, "corpus": list(corpora)}]
    study, _ = recorded_study(tmp_path, [6.0], [6.0], grid=grid, corpora=corpora)
    names = [text.get_text() for text in drawn("2", study, tmp_path).legends[0].get_texts()]
    assert names[:2] == ["on generated text", "on other"]


def test_pre_training_runs_are_drawn_with_those_that_diverged(tmp_path: Path) -> None:
    study = validate(bert_content({"placement": ["post", "pre"]}), "my.yaml")
    write_records(tmp_path, study)
    path = tmp_path / study.study / "pretraining" / expand(study)[1].id / "metrics.json"
    write_json(path, {**json.loads(path.read_text()), "status": "diverged", "diverged": {"update": 12}})
    figure = drawn("pretraining", study, tmp_path)
    post, pre, cross = (line for line in figure.axes[0].lines if line.get_marker() != "None" and len(points(line)))
    assert points(post) == [(3, 8.0), (6, 7.0), (9, 6.5), (12, 6.0)]
    assert points(pre) == [(3, 7.0), (6, 6.0), (9, 5.5), (12, 5.0)]
    assert points(cross) == [(12, 1.0)]
    assert "diverged at update 12" in texts(figure)


def test_more_curves_than_a_panel_holds_are_small_multiples_with_the_others_behind(tmp_path: Path) -> None:
    rates = [round(1e-4 * n, 5) for n in range(1, MOST + 2)]
    ends = [[6.0, 5.0 - number / 10] for number in range(len(rates))]
    study, _ = recorded_study(tmp_path, *ends, grid=[{**POST, "learning_rate": rates}])
    assert charts("runs", study, tmp_path) == [], "the page has no chart of so many"
    losses = drawn("runs", study, tmp_path).axes[: len(rates)]
    assert [axes.get_title() for axes in losses[:2]] == ["Post-LN, lr 1e-4", "Post-LN, lr 2e-4"]
    behind, own = losses[0].lines[:2]
    assert points(own) == [(100, 6.0), (200, 5.0)]
    assert sum(np.isfinite(behind.get_ydata())) == 2 * len(rates)
    assert len({axes.get_ylim() for axes in losses}) == 1


@pytest.mark.parametrize("warmups", [[0, 400, 800], [0, 400, 800, 1200, 1600]], ids=["fewer warm-ups", "as many"])
def test_curves_that_differ_in_two_things_share_small_multiples(warmups: list[int], tmp_path: Path) -> None:
    rates = [1e-4, 2e-4, 3e-4, 4e-4, 5e-4]
    grid = [{**POST, "learning_rate": rates, "warmup": warmups}]
    study, _ = recorded_study(tmp_path, *[[6.0, 5.0]] * (5 * len(warmups)), grid=grid)
    figure = drawn("runs", study, tmp_path)
    titles = [axes.get_title() for axes in figure.axes][: len(warmups)]
    assert titles == ["Post-LN, no warm-up", *(f"Post-LN, warm-up {warmup}" for warmup in warmups[1:])]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [f"lr {n}e-4" for n in range(1, 6)]


def paper_study(results: Path, losses: list[float], source: str = "iwslt14", **changes: Any) -> Study:
    """A study of figures 2, 4 and 6, of the paper's setting unless the changes say otherwise, with its run's record."""
    settings = {"corpora": {"embedded": {"source": source}}, "paper_settings": True, **changes}
    study, _ = recorded_study(results, losses, grid=[{"figures": [2, 4, 6], **POST, "warmup": 4000}], **settings)
    return study


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("2", "only 8.45 (printed)"),
        ("4", "its loss curves read-off; its BLEU curves digitised or read-off, ±0.2–0.5"),
        ("6", "4.3 in 27"),
    ],
)
def test_the_papers_numbers_are_drawn_with_how_they_are_known(tmp_path: Path, name: str, words: str) -> None:
    assert words in texts(drawn(name, paper_study(tmp_path, [6.0]), tmp_path))


@pytest.mark.parametrize("changes", [{"paper_settings": False}, {"source": "embedded"}], ids=str)
def test_the_papers_numbers_are_drawn_in_the_papers_setting_alone(changes: dict[str, Any], tmp_path: Path) -> None:
    study = paper_study(tmp_path, [6.0], **changes)
    assert "paper" not in texts(drawn("4", study, tmp_path)).lower()


def write(study: Study, results: Path, out: list[Path]) -> None:
    catalogue = Catalogue(study)
    figure = catalogue.figure("2")
    figure.write(study, catalogue.load(figure, results), out)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["pdf", "png", "svg"])
def test_the_same_records_give_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    study, _ = recorded_study(tmp_path, [6.0, 5.0])
    first, second = tmp_path / f"first.{suffix}", tmp_path / f"second.{suffix}"
    write(study, tmp_path, [first])
    write(study, tmp_path, [tmp_path / "before.pdf", second])
    assert first.read_bytes() == second.read_bytes()


def test_a_format_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PrelnError, match=r"allowed: .pdf, .png, .svg"):
        write(small_study()[0], tmp_path, [tmp_path / "figure.gif"])


@pytest.mark.parametrize(("low", "high"), [(6e-4, 300), (0.02, 0.3), (2.5, 4.5)], ids=str)
def test_a_logarithmic_axis_has_a_few_plain_numbers_however_far_it_goes(low: float, high: float) -> None:
    axes = mpl.figure.Figure().subplots()
    axes.semilogx([low, high], [0, 1])
    plain_ticks(axes.xaxis, 5)
    assert 2 <= len(axes.get_xticks()) <= 7


@given(st.lists(st.sampled_from([2, 4, 6]), min_size=1, max_size=40))
def test_the_curves_of_a_figure_have_colours_of_their_own(figures: list[int]) -> None:
    entries = [
        {**POST, "learning_rate": n / 10_000, "optimizer": ("adam", "radam")[n % 2], "figures": [figure]}
        for n, figure in enumerate(figures, start=1)
    ]
    study, runs = small_study(*entries)
    look = looks_of(study)
    for figure in set(figures):
        colours = [look[series(run.settings)]["color"] for run in runs if figure in run.figures]
        assert len(set(colours)) == len(colours) or len(colours) > MOST


def test_a_dozen_curves_have_colours_of_their_own_and_that_of_pre_ln_which_is_not_among_them_is_the_last() -> None:
    study, runs = small_study({**POST, "learning_rate": [n / 10_000 for n in range(1, 7)], "width": [16, 32]})
    look = looks_of(study)
    colours = [look[series(run.settings)]["color"] for run in runs]
    assert len(set(colours)) == len(colours) == MOST
    assert colours.index(PLACEMENTS["pre"].colour) == MOST - 1


def test_no_curve_has_the_colour_of_pre_ln_while_others_are_left() -> None:
    study, runs = small_study({**POST, "learning_rate": [n / 10_000 for n in range(1, 20)], "width": [16, 32]})
    look = looks_of(study)
    assert PLACEMENTS["pre"].colour not in {look[series(run.settings)]["color"] for run in runs}


def test_a_trace_looks_as_the_training_of_its_run_whatever_it_does_not_depend_on() -> None:
    grid: list[dict[str, Any]] = [{"placement": ["pre", "post"], "warmup": [10, 0], "seed": [1, 2]}]
    traced = {"settings": {**RUN, "epochs": 7, "beam": 1}, "runs": grid}
    study = validate(study_content(*grid, first_updates=traced), "my.yaml")
    look = looks_of(study)
    trained = [look[series(run.settings)] for run in translation.expand(study)]
    assert [look[series(job.run.settings)] for job in trace_jobs.expand(study)] == trained
    assert len({(style["color"], style["marker"]) for style in trained}) == 4


def test_a_seed_that_diverged_is_a_curve_of_its_own_and_no_part_of_the_mean(tmp_path: Path) -> None:
    grid = [{"figures": [2], **POST, "seed": [1, 2, 3]}]
    study, _ = recorded_study(tmp_path, [6.0, 5.0], [7.0, 6.0], ([90.0], 81), grid=grid)
    losses = specification(charts("2", study, tmp_path)[0])
    # A browser reads no NaN.
    json.dumps(losses, allow_nan=False)
    (rows,) = losses["datasets"].values()
    assert {(row["curve"], row["x"]): (row["value"], row["seeds"]) for row in rows} == {
        ("Post-LN", 100): (6.5, 2),
        ("Post-LN", 200): (5.5, 2),
        ("Post-LN, seed 3", 100): (90.0, 1),
        **{("uniform guess", x): (10.0, None) for x in (100, 200)},
    }
    written = texts(drawn("2", study, tmp_path))
    assert "1 of 3 diverged at update 81" in written and "finished (n = 2)" in written


@pytest.mark.slow
def test_a_chart_has_as_many_points_as_are_recorded(tmp_path: Path) -> None:
    study, _ = recorded_study(tmp_path, [6.0] * 5_001, grid=[{"figures": [2], **POST}])
    (rows,) = specification(charts("2", study, tmp_path)[0])["datasets"].values()
    assert len(rows) == 5_001


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        ("", [(0, 0.0, -1.0), (1, 3.0, 0.0), (2, 4.0, 3.5)]),
        ("x", [(1, 3.0, 0.0), (2, 4.0, 3.5)]),
        ("y", [(1, 3.0, None), (2, 4.0, 3.5)]),
    ],
)
def test_a_logarithmic_axis_has_positive_numbers_alone(log: str, shown: list[tuple[Any, ...]]) -> None:
    table = pd.DataFrame({"curve": "a", "x": [0, 1, 2], "value": [0.0, 3.0, 4.0], "low": [-1.0, 0.0, 3.5], "high": 5.0})
    looks = {"a": {"color": "red"}}
    chart = specification(
        Curves("Title", "x", "Update", "Loss", table.assign(seeds=2), pd.DataFrame(), looks, frozenset(log))
    )
    (rows,) = chart["datasets"].values()
    assert [(row["x"], row["value"], row["low"]) for row in rows] == shown
