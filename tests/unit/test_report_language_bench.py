"""The bench of language models from records: its table, its figure, and the question that reads both."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.config import Study
from preln.language.runs import LanguageRun
from preln.questions import named
from preln.questions.base import Answer, Outcome
from preln.questions.core.evidence import of_study
from tests.made_up.language import BASELINE, grid
from tests.reading import drawn, tabled

pytestmark = pytest.mark.slow

RATES, WARMUPS, SEEDS = [1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2], [0, 4, 8], [1, 2, 3]
GRID: dict[str, Any] = {"learning_rate": RATES, "warmup": WARMUPS, "seed": SEEDS}
NAMES = ["post", "pre", "lns", "deepnorm"]
FEW = NAMES[:3]
ENDS = {"post": 5.3, "pre": 5.0, "lns": 4.8, "deepnorm": 5.001}
BEST = 4e-3


def loss(run: LanguageRun) -> float | None:
    """Lowest at the best rate with the shorter warm-up; Post-LN needs it from the best rate on, and seeds differ."""
    settings = run.settings
    if settings.placement == "post" and settings.learning_rate >= BEST and not settings.warmup:
        return None
    steps = abs(math.log2(settings.learning_rate / BEST))
    own = 0.2 * (settings.placement == "deepnorm" and settings.initialisation == "common")
    return ENDS[settings.placement] + own + 0.1 * steps + 0.05 * (settings.warmup != 4) + 0.001 * settings.seed


def bench(results: Path, *names: str, **more: Any) -> Study:
    """A bench of some placements; by default of four, one of them with the common initialisation too."""
    common = {**GRID, "placement": "deepnorm", "initialisation": "common"}
    entries = ({**GRID, "placement": list(names or NAMES)}, *([] if names else [common]))
    return grid(results, more.pop("loss", loss), *entries, **more)


Bench = tuple[Study, Path]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The bench of which all is done, and the folder of its results."""
    results = tmp_path_factory.mktemp("whole")
    return bench(results), results


def table(study: Study, results: Path) -> Any:
    return tabled("language-bench", study, results).full.set_index("model")


def answer(study: Study, results: Path) -> Answer:
    return named("language-bench").ask(of_study(study, results))


def test_a_row_has_the_best_cell_and_what_is_around_it(whole: Bench) -> None:
    row = table(*whole).loc["Post-LN"]
    assert (row["learning_rate"], row["warmup"], row["seeds"]) == (BEST, 4, 3)
    assert row["loss"] == pytest.approx(5.302)
    assert row["loss_half"] == pytest.approx(0.001 * 4.3027 / math.sqrt(3), rel=1e-4)
    around = [row["loss_at_a_third"], row["loss_at_three_times"]]
    assert around == pytest.approx([5.302 + 0.1 * math.log2(3)] * 2)
    assert (row["highest_rate"], row["highest_rate_with_warmup"]) == (2e-3, 1.6e-2)
    # Without a warm-up the best rate is a step lower, and the shorter warm-up is the better one.
    assert row["gain_of_warmup"] == pytest.approx(0.15)


def test_each_row_is_judged_beside_pre_ln_by_the_interval_and_the_margin(whole: Bench) -> None:
    rows = table(*whole)
    assert rows["verdict"].to_dict() == {
        **{"Post-LN": "behind", "Pre-LN": "", "LayerNorm scaling": "ahead", "DeepNorm": "not told apart"},
        "DeepNorm, common initialisation": "behind",
    }
    assert rows.loc["LayerNorm scaling", "low"] < rows.loc["LayerNorm scaling", "difference"] == pytest.approx(-0.2)


def test_the_cost_is_that_of_runs_with_the_same_cell_and_seed(tmp_path: Path) -> None:
    speeds = {"post": 2e3, "pre": 1e3}
    study = bench(tmp_path, *FEW, speed=lambda run: speeds.get(run.settings.placement, 8e2))
    rows = table(study, tmp_path)
    assert rows["cost"].tolist() == [0.5, 1.0, 1.25]
    assert rows.loc["LayerNorm scaling", ["cost_low", "cost_high"]].tolist() == [1.25, 1.25]


@pytest.mark.parametrize(
    ("done", "undecided"),
    [
        (lambda run: run.settings.seed == 1, "grid does not have two whole seeds"),
        (lambda run: run.settings.placement != "pre", "Pre-LN's grid does not have two whole seeds"),
        (lambda run: run.settings.learning_rate > 1e-3, "grid does not have two whole seeds"),
    ],
    ids=["one seed", "no Pre-LN", "a rate is missing"],
)
def test_a_part_of_the_runs_that_cannot_carry_a_verdict_has_none_and_says_why(
    done: Callable[[LanguageRun], bool], undecided: str, tmp_path: Path
) -> None:
    study = bench(tmp_path, *FEW, done=done)
    row = table(study, tmp_path).loc["LayerNorm scaling"]
    assert (row["verdict"], row["undecided"]) == ("", undecided)
    assert pd.isna(row["difference"])
    assert answer(study, tmp_path).of("beside-pre-ln") == []


def test_whole_seeds_are_judged_while_others_are_trained(tmp_path: Path) -> None:
    study = bench(tmp_path, *FEW, done=lambda run: run.settings.seed < 3 or run.settings.warmup == 0)
    rows = table(study, tmp_path)
    assert rows.loc["LayerNorm scaling", ["runs", "asked", "seeds", "verdict"]].tolist() == [35, 45, 2, "ahead"]
    text = tabled("language-bench", study, tmp_path).text
    assert set(text["Runs"]) == {"35 of 45"}


def test_a_best_rate_at_an_end_of_the_grid_is_not_judged(tmp_path: Path) -> None:
    def rising(run: LanguageRun) -> float | None:
        return 4.0 + 10 * run.settings.learning_rate if run.settings.placement == "lns" else loss(run)

    study = bench(tmp_path, *FEW, loss=rising)
    rows = table(study, tmp_path)
    assert rows.loc["LayerNorm scaling", "undecided"] == "best rate is at an end of the grid"
    assert rows.loc["Post-LN", "verdict"] == "behind"
    others = {finding.of for finding in answer(study, tmp_path).of("beside-pre-ln")}
    assert others == {"Post-LN"}


def test_a_placement_that_trains_nowhere_is_behind(tmp_path: Path) -> None:
    def fails(run: LanguageRun) -> float | None:
        return None if run.settings.placement == "lns" else loss(run)

    rows = table(bench(tmp_path, *FEW, loss=fails), tmp_path)
    assert rows.loc["LayerNorm scaling", "loss"] == pytest.approx(BASELINE)
    assert rows.loc["LayerNorm scaling", "verdict"] == "behind"
    assert pd.isna(rows.loc["LayerNorm scaling", "highest_rate"])


def test_a_model_of_another_width_is_compared_with_pre_ln_of_that_width(tmp_path: Path) -> None:
    def wider_is_better(run: LanguageRun) -> float | None:
        ends = loss(run)
        return None if ends is None else ends - 0.5 * (run.settings.width == 64)

    wide = {**GRID, "placement": ["post", "pre", "lns"], "width": 64, "ffn_width": 256}
    study = grid(tmp_path, wider_is_better, {**GRID, "placement": NAMES}, wide)
    rows = table(study, tmp_path)
    assert rows["difference"].dropna().round(2).to_dict() == {
        **{"Post-LN": 0.3, "LayerNorm scaling": -0.2, "DeepNorm": 0.0},
        **{"Post-LN, width 64": 0.3, "LayerNorm scaling, width 64": -0.2},
    }


def test_a_published_order_is_judged_between_the_rows_with_their_own_initialisations(whole: Bench) -> None:
    result = answer(*whole)
    outcomes = {finding.of.partition(",")[0]: finding.outcome for finding in result.of("published")}
    assert outcomes == {
        "LayerNorm scaling and Pre-LN": Outcome.HOLDS,
        "LayerNorm scaling and Post-LN": Outcome.HOLDS,
        "LayerNorm scaling and DeepNorm": Outcome.HOLDS,
        "Pre-LN and Post-LN": Outcome.HOLDS,
        "Pre-LN and DeepNorm": Outcome.UNDECIDED,
        "Post-LN and DeepNorm": Outcome.FAILS,
    }
    assert result.words[:3] == [
        "ahead of Pre-LN: LayerNorm scaling",
        "behind Pre-LN: Post-LN, DeepNorm with common initialisation",
        "not told apart from Pre-LN: DeepNorm",
    ]
    assert result.words[3] == "published orders: 4 seen, 1 the other way round, 1 not told apart"


def test_with_seeds_enough_pre_ln_is_tried_under_another_name(tmp_path: Path) -> None:
    entries = ({**GRID, "placement": NAMES}, {**GRID, "placement": "pre", "seed": [4, 5, 6, 7, 8]})
    result = answer(grid(tmp_path, loss, *entries), tmp_path)
    (tries,) = result.of("renamed")
    assert tries.values == (20.0,)


def test_the_figure_has_a_panel_for_each_model_and_a_line_for_each_warm_up(whole: Bench) -> None:
    drawing = drawn("language-bench", *whole)
    titles = ["Post-LN", "Pre-LN", "LayerNorm scaling", "DeepNorm", "DeepNorm\ncommon initialisation"]
    assert [axes.get_title() for axes in drawing.axes if axes.get_title()] == titles
    (legend,) = drawing.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names[:3] == ["no warm-up", "warm-up of 4 updates", "warm-up of 8 updates"]
