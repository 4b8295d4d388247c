"""The map of failure: which runs fail, which rates train, and where the border is drawn."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.collections import LineCollection

from preln.config import LanguageSettings, RunSettings, Study
from preln.language.runs import LanguageRun
from preln.questions import named
from preln.questions.base import Answer, Verdict
from preln.questions.core.evidence import of_study
from preln.records.recording import RecordError
from preln.report.catalogue import Catalogue
from preln.report.core.failure_map import Map, maps, names_of_models
from preln.translation.report.failure_map import endings
from tests.made_up.language import grid
from tests.made_up.maps import GRID as EVERY
from tests.made_up.maps import GUESS, LEARNED, RATES, STUCK, WARMUPS, recorded
from tests.made_up.translation import ADAM, records_of, small_study
from tests.reading import drawn, tabled

GRID = {**EVERY, "placement": "post"}
Loss = Callable[[RunSettings], float | None]


def of(results: Path, loss: Loss, missing: int = 0, **changes: Any) -> Study:
    """A study whose runs ended with these losses, without the records of the first ones."""
    study, runs = small_study({**GRID, **changes})
    for run in runs[missing:]:
        recorded(study, run, results, loss(run.settings))
    return study


def maps_of(results: Path, loss: Loss, **changes: Any) -> list[Map]:
    catalogue = Catalogue(of(results, loss, **changes))
    return maps(endings(catalogue.load(catalogue.figure("failure-map"), results)))


@pytest.mark.parametrize(
    ("loss", "failed"),
    [(GUESS - 0.31, 0), (GUESS - 0.29, 1), (GUESS + 1, 1), (None, 1)],
    ids=["learns", "hardly better than the guess", "worse than the guess", "diverges"],
)
def test_a_run_fails_that_diverges_or_hardly_beats_the_guess(tmp_path: Path, loss: float | None, failed: int) -> None:
    (a_map,) = maps_of(tmp_path, lambda run: loss)
    assert {cell.failed for cell in a_map.cells.values()} == {failed}


@pytest.mark.parametrize(("failing", "trains"), [(0, True), (1, True), (2, False), (3, False)])
def test_a_rate_trains_of_which_at_most_a_third_of_the_seeds_fail(tmp_path: Path, failing: int, trains: bool) -> None:
    (a_map,) = maps_of(tmp_path, lambda run: STUCK if run.seed <= failing else LEARNED, seed=[1, 2, 3])
    assert {cell.trains for cell in a_map.cells.values()} == {trains}


def test_the_limit_is_the_largest_rate_that_trains_while_a_lower_one_does(tmp_path: Path) -> None:
    trains = {0: [1e-4], 50: [1e-4, 1e-2]}
    (a_map,) = maps_of(tmp_path, lambda run: LEARNED if run.learning_rate in trains[run.warmup] else STUCK)
    assert [a_map.limit(warmup) for warmup in WARMUPS] == [None, 1e-2]


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([(128, 256), (64, 128)], ["Post-LN, width 128", "Post-LN, width 64"]),
        ([(128, 256), (128, 512)], ["Post-LN, ffn width 256", "Post-LN, ffn width 512"]),
        ([(128, 256), (64, 128), (128, 256)], ["Post-LN", "Post-LN, width 64", "Pre-LN"]),
    ],
    ids=["the width tells the other", "it does not", "most have one width"],
)
def test_a_name_has_the_width_that_tells_the_other_and_not_one_that_most_have(
    shapes: list[tuple[int, int]], expected: list[str]
) -> None:
    shown = zip(["post", "post", "pre"], shapes, strict=False)
    _, runs = small_study(*({**ADAM, "placement": p, "width": w, "ffn_width": f, "warmup": 0} for p, (w, f) in shown))
    assert list(names_of_models([run.settings for run in runs]).values()) == expected


def test_the_border_lies_between_cells_that_train_and_cells_that_do_not(tmp_path: Path) -> None:
    study = of(tmp_path, lambda run: STUCK if run.learning_rate == 1e-2 and run.warmup == 0 else LEARNED)
    panel, *_ = drawn("failure-map", study, tmp_path).axes
    (border,) = (shape for shape in panel.collections if isinstance(shape, LineCollection))
    edges = {frozenset((float(x), float(y)) for x, y in edge) for edge in border.get_segments()}
    # The cell that fails is the upper left one: an edge to its right, and one below it.
    assert edges == {frozenset({(0.5, 1.5), (0.5, 2.5)}), frozenset({(-0.5, 1.5), (0.5, 1.5)})}


def test_a_map_of_runs_that_all_end_above_the_constant_guess_is_drawn(tmp_path: Path) -> None:
    drawn("failure-map", of(tmp_path, lambda run: GUESS + 0.1), tmp_path).draw_without_rendering()


def test_the_cells_say_their_losses_and_how_many_runs_fail(tmp_path: Path) -> None:
    ends: dict[int, dict[int, float | None]] = {0: {1: 5.0, 2: None, 3: STUCK}, 50: {1: 4.0, 2: 4.0, 3: 4.0}}
    study = of(tmp_path, lambda run: ends[run.warmup][run.seed], seed=[1, 2, 3])
    panel, *_ = drawn("failure-map", study, tmp_path).axes
    assert {text.get_text() for text in panel.texts} == {"6.5 ×2", "4.0"}


def test_the_table_has_the_limit_and_the_best_rate_of_each_warm_up(tmp_path: Path) -> None:
    ends = {1e-4: 6.0, 1e-3: 4.5, 1e-2: 5.0}
    study = of(tmp_path, lambda run: None if (run.learning_rate, run.warmup) == (1e-2, 0) else ends[run.learning_rate])
    table = tabled("failure-limits", study, tmp_path).full
    expected = {"warmup": [0, 50], "limit": [1e-3, 1e-2], "best_rate": [1e-3, 1e-3], "failed": [1, 0], "runs": [3, 3]}
    pd.testing.assert_frame_equal(table[list(expected)], pd.DataFrame(expected))


@pytest.mark.parametrize(
    "entries",
    [
        [{"learning_rate": [1e-4, 1e-3]}],
        [{"warmup": 50}],
        [{"learning_rate": RATES[:2]}, {"learning_rate": RATES[2], "warmup": 0}],
    ],
    ids=["two rates", "one warm-up", "a hole"],
)
def test_a_study_without_such_a_grid_has_no_map(entries: list[dict[str, Any]]) -> None:
    study, _ = small_study(*({**GRID, **changes} for changes in entries))
    assert "failure-map" not in Catalogue(study).figures


def test_runs_without_the_constant_guess_are_not_judged(tmp_path: Path) -> None:
    study, runs = small_study(GRID)
    records_of(study, runs[0], tmp_path, [5.0])
    with pytest.raises(RecordError, match="constant_guess"):
        drawn("failure-map", study, tmp_path)


def test_a_study_of_more_models_than_a_page_is_wide_has_the_table_alone() -> None:
    study, _ = small_study({**GRID, "placement": ["post", "pre", "peri"], "batch_tokens": [512, 1024]})
    assert "failure-map" not in Catalogue(study).figures
    assert "failure-limits" in Catalogue(study).tables


def needs_it(run: RunSettings | LanguageSettings) -> bool:
    """True of a run of Post-LN without a warm-up, but for the lowest rate."""
    return run.placement == "post" and not run.warmup and run.learning_rate > min(RATES)


def answer_of(results: Path, loss: Loss, missing: int = 0) -> Answer:
    """The answer of a study of both placements to the question."""
    every: dict[str, Any] = {"placement": ["post", "pre"], "warmup": [0, 20, 50], "seed": [1, 2, 3]}
    return named("failure-map").ask(of_study(of(results, loss, missing, **every), results))


def test_the_question_compares_the_limits_of_each_seed_when_all_runs_are_done(tmp_path: Path) -> None:
    answer = answer_of(tmp_path, lambda run: STUCK if needs_it(run) else LEARNED)
    (pre,) = answer.of("pre-does-not")
    assert pre.values == (1.0, 1.0, 1.0)
    assert answer.holds("pre-does-not") and answer.holds("post-needs-it")


def test_the_question_leaves_undecided_what_trains_neither_with_nor_without_a_warm_up(tmp_path: Path) -> None:
    answer = answer_of(tmp_path, lambda run: STUCK)
    assert {finding.outcome for finding in answer.findings} == {"undecided"}


def test_the_question_says_nothing_of_a_model_while_a_run_of_it_is_missing(tmp_path: Path) -> None:
    answer = answer_of(tmp_path, lambda run: STUCK if needs_it(run) else LEARNED, missing=1)
    assert not answer.of("post-needs-it")


def language_maps(results: Path, done: Callable[[LanguageRun], bool] = lambda run: True) -> Study:
    """A study in which only Post-LN needs the warm-up, with a large batch too, as far as it is done."""
    rates: dict[str, Any] = {"learning_rate": RATES, "warmup": [0, 6, 12]}
    small = {**rates, "placement": ["post", "pre"], "seed": [1, 2, 3]}
    large = {**rates, "placement": "post", "batch_sequences": 16}
    return grid(results, lambda run: None if needs_it(run.settings) else LEARNED, small, large, done=done)


@pytest.mark.slow
def test_language_models_have_a_map_of_the_same_form(tmp_path: Path) -> None:
    study = language_maps(tmp_path)
    drawing = drawn("language-failure-map", study, tmp_path)
    titles = [axes.get_title() for axes in drawing.axes if axes.get_xlabel()]
    assert [title.splitlines()[0] for title in titles] == ["Post-LN", "Pre-LN", "Post-LN"]
    assert {text.get_text() for text in drawing.axes[0].texts} == {"×3", "5.0"}
    assert tabled("language-failure-limits", study, tmp_path).full["failed"].tolist()[:3] == [6, 0, 0]


def test_the_question_of_language_models_has_the_rule_of_translation(tmp_path: Path) -> None:
    answer = named("language-map").ask(of_study(language_maps(tmp_path), tmp_path))
    assert answer.holds("post-needs-it") and answer.holds("pre-does-not")


def test_the_large_batches_alone_decide_nothing(tmp_path: Path) -> None:
    study = language_maps(tmp_path, done=lambda run: run.settings.batch_sequences == 16)
    answer = named("language-map").ask(of_study(study, tmp_path))
    assert answer.findings == ()
    assert answer.verdict is Verdict.NOT_TESTED
