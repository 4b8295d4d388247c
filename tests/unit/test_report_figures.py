"""Figures show what is recorded, of a grid in any state, and are the same for the same records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from preln.config import Study
from preln.errors import PrelnError
from preln.jobs.runs import Run, series
from preln.report.catalogue import Catalogue
from preln.report.core.style import styles
from tests.made_up.translation import POST, records_of, small_study
from tests.reading import points, texts


def drawn(number: int, study: Study, runs: list[Run], results: Path) -> Figure:
    catalogue = Catalogue(study)
    figure = catalogue.figure(str(number))
    drawing: Figure = figure.compose(study, catalogue.load(figure, results))
    return drawing


def draw(study: Study, name: str, results: Path, out: list[Path]) -> None:
    catalogue = Catalogue(study)
    figure = catalogue.figure(name)
    figure.write(study, catalogue.load(figure, results), out)


@pytest.mark.parametrize("name", ["2", "4", "6", "runs"])
def test_a_figure_with_nothing_done_is_not_drawn_and_says_why(tmp_path: Path, name: str) -> None:
    study, _ = small_study({"figures": [2, 4, 6], **POST, "warmup": [0, 400]})

    with pytest.raises(PrelnError, match=f"figure {name}: nothing that it shows is done yet; run the workflow"):
        draw(study, name, tmp_path, [tmp_path / "figure.pdf"])


def test_the_papers_epochs_are_placed_by_their_updates_beside_a_short_run(tmp_path: Path) -> None:
    study, runs = paper_study(paper_settings=False, paper_curves=True)
    records_of(study, runs[0], tmp_path, [6.0, 5.0])

    figure = drawn(4, study, runs, tmp_path)

    grey, ours = figure.axes[0].lines[0], figure.axes[0].lines[-1]
    assert [x for x, _ in points(grey)][:2] == [1100, 3300], "its first and its third epoch"
    assert [x for x, _ in points(ours)] == [100, 200]
    assert figure.axes[0].get_xlim()[0] == 0
    assert "1,100 updates an epoch, each of 4,096 tokens" in texts(figure)


@pytest.mark.parametrize("number", [4, 6])
def test_a_study_without_runs_of_the_figure_says_which_it_has(tmp_path: Path, number: int) -> None:
    study, runs = small_study()

    with pytest.raises(
        PrelnError, match=f"figure {number}: study small has nothing that it shows; allowed: 2, rate-budgets, runs"
    ):
        drawn(number, study, runs, tmp_path)


def test_a_panel_none_of_whose_runs_is_done_is_left_out(tmp_path: Path) -> None:
    study, runs = small_study({"figures": [2], **POST, "optimizer": ["adam", "sgd"]})
    records_of(study, runs[0], tmp_path, [6.0, 5.0])

    figure = drawn(2, study, runs, tmp_path)

    assert [axes.get_title() for axes in figure.axes if axes.get_title()] == ["(a) Adam"]
    assert len([axes for axes in figure.axes if axes.has_data()]) == 2


def test_a_partial_grid_shows_what_there_is_and_how_much(tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[1], tmp_path, [6.0, 5.0])

    figure = drawn(2, study, runs, tmp_path)

    assert "1 of 2 runs" in texts(figure)
    assert "warm-up 400" in texts(figure)
    assert "no warm-up" not in texts(figure)
    assert points(figure.axes[0].lines[0]) == [(100, 6.0), (200, 5.0)]


def test_seeds_are_one_mean_with_a_band_from_lowest_to_highest(tmp_path: Path) -> None:
    study, runs = small_study({"figures": [2], **POST, "seed": [1, 2, 3, 4]})
    for run, loss in zip(runs, (4.0, 5.0, 9.0), strict=False):
        records_of(study, run, tmp_path, [loss, loss])

    figure = drawn(2, study, runs, tmp_path)
    axes = figure.axes[0]

    assert len(axes.lines) == 1
    assert points(axes.lines[0]) == [(100, 6.0), (200, 6.0)]
    band = np.asarray(axes.collections[0].get_paths()[0].vertices)
    assert (min(band[:, 1]), max(band[:, 1])) == (4.0, 9.0)
    assert "n = 3" in texts(figure)


def test_a_run_that_diverged_is_drawn_to_its_last_epoch_with_a_cross(tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [6.0, 7.0], diverged={"update": 2345, "epoch": 3, "reason": "nan"})

    figure = drawn(2, study, runs, tmp_path)
    crosses = [one for one in figure.axes[0].lines if one.get_marker() == "x"]

    assert [points(cross) for cross in crosses] == [[(200, 7.0)]]
    assert "diverged at update 2345" in texts(figure)


def test_a_seed_that_diverged_is_no_part_of_the_mean(tmp_path: Path) -> None:
    study, runs = small_study({"figures": [2], **POST, "seed": [1, 2]})
    records_of(study, runs[0], tmp_path, [6.0, 5.0])
    records_of(study, runs[1], tmp_path, [8.0], diverged={"update": 150, "epoch": 2, "reason": "nan"})

    figure = drawn(2, study, runs, tmp_path)

    assert points(figure.axes[0].lines[0]) == [(100, 6.0), (200, 5.0)]
    assert "n = 1; 1 of 2 diverged at update 150" in texts(figure)


def test_divergence_in_the_first_epoch_is_in_the_legend(tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [], diverged={"update": 81, "epoch": 1, "reason": "nan"})

    figure = drawn(2, study, runs, tmp_path)

    assert "diverged at update 81 in epoch 1" in texts(figure)
    loss, bleu = figure.axes[:2]
    assert [points(line) for line in loss.lines] == [[(81, 1.0)]], "a cross on the upper edge"
    assert [points(line) for line in bleu.lines] == [[(81, 0.0)]], "and on the lower one"


def test_one_exploded_run_does_not_set_the_scale(tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [6.0, 900.0], diverged={"update": 210, "epoch": 3, "reason": "nan"})
    records_of(study, runs[1], tmp_path, [6.0, 4.0])

    figure = drawn(2, study, runs, tmp_path)

    assert figure.axes[0].get_ylim()[1] == 10, "log2 of a vocabulary of 1024"
    assert "cut off" in texts(figure)


@pytest.mark.parametrize("figure", ["2", "runs"])
def test_losses_that_are_all_above_a_uniform_guess_are_drawn_whole(figure: str, tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [12.0, 11.5])
    records_of(study, runs[1], tmp_path, [12.5, 11.0])
    catalogue = Catalogue(study)
    entry = catalogue.figure(figure)

    low, high = entry.compose(study, catalogue.load(entry, tmp_path)).axes[0].get_ylim()

    assert low < 11.0 < 12.5 < high


def paper_study(**changes: Any) -> tuple[Study, list[Run]]:
    return small_study(
        {"figures": [2, 4, 6], **POST, "warmup": 4000},
        **{"corpora": {"embedded": {"source": "iwslt14"}}, "paper_settings": True, **changes},
    )


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (2, "only 8.45 (printed)"),
        (4, "its loss curves read-off; its BLEU curves digitised or read-off, ±0.2–0.5"),
        (6, "4.3 in 27"),
    ],
)
def test_the_papers_numbers_are_drawn_with_how_they_are_known(tmp_path: Path, number: int, words: str) -> None:
    study, runs = paper_study()
    records_of(study, runs[0], tmp_path, [6.0])

    assert words in texts(drawn(number, study, runs, tmp_path))


def test_the_papers_numbers_are_drawn_behind_a_study_that_asks_for_them(tmp_path: Path) -> None:
    study, runs = paper_study(paper_settings=False, paper_curves=True)
    records_of(study, runs[0], tmp_path, [6.0])

    written = texts(drawn(4, study, runs, tmp_path)).replace("\n", " ")
    assert "paper: Post-LN RAdam w/o warm-up" in written
    assert "the paper's, at its own settings" in written


def test_a_number_of_the_papers_text_has_one_marker_in_panel_and_legend(tmp_path: Path) -> None:
    study, runs = paper_study()
    records_of(study, runs[0], tmp_path, [6.0])

    losses, bleu, below = drawn(4, study, runs, tmp_path).axes

    legend = below.get_legend()
    assert legend is not None
    in_legend = [handle.get_marker() for handle in legend.legend_handles if isinstance(handle, Line2D)][-2:]
    grey = [[line for line in panel.get_lines() if line.get_color() == "0.45"] for panel in (losses, bleu)]
    assert [lines[-1].get_marker() for lines in grey] == in_legend
    assert len(set(in_legend)) == 2


def test_the_papers_numbers_are_drawn_in_the_papers_setting_alone(tmp_path: Path) -> None:
    elsewhere = {"corpora": {"embedded": {"source": "embedded"}}}
    for changes in ({"paper_settings": False}, elsewhere):
        study, runs = paper_study(**changes)
        records_of(study, runs[0], tmp_path, [6.0])

        assert "paper" not in texts(drawn(4, study, runs, tmp_path)).lower()


def test_each_corpus_has_its_row_in_figure_4(tmp_path: Path) -> None:
    corpora = {name: {"source": "embedded"} for name in ("embedded", "other")}
    study, runs = small_study({"figures": [4], **POST, "corpus": ["embedded", "other"]}, corpora=corpora)
    for run in runs:
        records_of(study, run, tmp_path, [6.0])

    titles = [axes.get_title() for axes in drawn(4, study, runs, tmp_path).axes]

    assert titles[:4] == [
        "(a) Validation loss, embedded",
        "(b) BLEU, embedded",
        "(c) Validation loss, other",
        "(d) BLEU, other",
    ]


@pytest.mark.parametrize("suffix", ["pdf", "png", "svg"])
def test_the_same_records_give_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [6.0, 5.0])
    first, second = tmp_path / f"first.{suffix}", tmp_path / f"second.{suffix}"

    draw(study, "2", tmp_path, [first])
    draw(study, "2", tmp_path, [tmp_path / "before.pdf", second])

    assert first.read_bytes() == second.read_bytes()


def test_a_figure_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, data: bytes) -> None:
        path.write_text("half")
        raise OSError("disk full")

    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [6.0])
    out = tmp_path / "figures" / "figure-2.png"
    out.parent.mkdir()
    out.write_text("old")
    monkeypatch.setattr(Path, "write_bytes", fail)

    with pytest.raises(OSError, match="disk full"):
        draw(study, "2", tmp_path, [out])

    assert [path.name for path in out.parent.iterdir()] == ["figure-2.png"]
    assert out.read_text() == "old"


def test_a_figure_or_format_that_there_is_not_is_refused(tmp_path: Path) -> None:
    study, _ = small_study()

    with pytest.raises(PrelnError, match="figure 7: not known; allowed: 2, rate-budgets, runs"):
        draw(study, "7", tmp_path, [tmp_path / "figure.pdf"])
    with pytest.raises(PrelnError, match=r"figure figure-2: not known \(did you mean 2\?\)"):
        draw(study, "figure-2", tmp_path, [tmp_path / "figure.pdf"])
    with pytest.raises(PrelnError, match=r"allowed: .pdf, .png, .svg"):
        draw(study, "2", tmp_path, [tmp_path / "figure.gif"])


GRIDS = st.fixed_dictionaries(
    {
        "placement": st.sets(st.sampled_from(["post", "pre"]), min_size=1),
        "optimizer": st.sets(st.sampled_from(["adam", "radam"]), min_size=1),
        "learning_rate": st.sets(st.sampled_from([1e-4, 5e-4, 1e-3]), min_size=1),
        "warmup": st.sets(st.sampled_from([0, 500, 4000]), min_size=1),
        "anchor": st.sets(st.sampled_from(["warmup", "hold", "shift"]), min_size=1),
        "seed": st.sets(st.sampled_from([1, 2]), min_size=1),
    }
)


@given(GRIDS)
def test_seeds_look_the_same_and_curves_look_different_even_without_colour(grid: dict[str, set[Any]]) -> None:
    axes = {key: sorted(values) for key, values in grid.items()}
    _, runs = small_study({"schedule": "inverse-sqrt", **axes})
    look = styles(runs)

    assert set(look) == {series(run.settings) for run in runs}
    in_grey = [(style.marker, style.filling, style.line) for style in look.values()]
    assert len(set(in_grey)) == len(in_grey)
