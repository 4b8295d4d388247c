"""What the bench of placements says by the rules of its page, and how it stands beside what is published."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.answers.failure_map import Limits
from docs.bench import (
    NEAR,
    PUBLISHED,
    OnTheBench,
    Order,
    bears_more_with_warmup,
    best_four,
    is_ahead,
    of_depth,
    on_real_text,
    on_the_bench,
    verdict,
    what_the_bench_says,
)
from preln.config import load
from preln.placements import PLACEMENTS
from preln.report.core.labels import label
from preln.report.translation.bench import SOURCE, on_a_bench
from preln.runs import Run, expand
from tests.unit.test_report_placements import GRID, bench


def one_of(
    *losses: float, sensitivity: float = 1.0, without: float | None = 3e-3, longest: float | None = 3e-3
) -> OnTheBench:
    return OnTheBench(losses, 3e-3, 0, sensitivity, Limits(without, longest))


@pytest.mark.parametrize(
    ("without", "longest", "more"),
    [(3e-3, 9.5e-3, True), (9.5e-4, 3e-3, True), (None, 3e-4, True), (3e-3, 3e-3, False), (9.5e-3, 3e-3, False)],
)
def test_a_placement_bears_a_higher_rate_with_a_warm_up_that_raises_its_limit_by_a_step(
    without: float | None, longest: float | None, more: bool
) -> None:
    assert bears_more_with_warmup(one_of(5.0, without=without, longest=longest)) is more


def test_a_placement_that_trains_nowhere_bears_no_higher_rate_with_the_warm_up() -> None:
    assert not bears_more_with_warmup(one_of(8.0, without=None, longest=None))


@pytest.mark.parametrize(
    ("losses", "ahead"),
    [((4.8, 4.9), True), ((4.8, 5.05), False), ((4.97, 4.98), False), ((5.0, 5.1), False)],
    ids=["every seed", "one seed alone", "by too little", "not at all"],
)
def test_a_placement_is_ahead_by_every_seed_and_by_enough(losses: tuple[float, ...], ahead: bool) -> None:
    assert is_ahead(losses, (5.0, 5.02)) is ahead


def test_the_best_four_are_those_with_the_lowest_losses() -> None:
    losses = {"keel": 5.0, "lns": 4.0, "peri": 3.0, "b2t": 6.0, "admin": 2.0, "sub-ln": 7.0}
    assert best_four({name: one_of(loss) for name, loss in losses.items()}) == ["admin", "peri", "lns", "keel"]


def test_of_those_near_the_fourth_the_least_sensitive_go_on() -> None:
    bench = {
        **{"admin": one_of(4.0), "peri": one_of(4.5), "lns": one_of(4.98, sensitivity=3.0)},
        **{"keel": one_of(5.0, sensitivity=2.0), "b2t": one_of(5.04, sensitivity=1.0)},
        "sub-ln": one_of(5.06, sensitivity=0.0),
    }
    assert best_four(bench) == ["admin", "peri", "keel", "b2t"]


@given(st.lists(st.floats(2.0, 9.0), min_size=4, max_size=14))
def test_four_go_on_and_none_that_is_behind_them_by_more_than_is_told_apart(losses: list[float]) -> None:
    bench = {f"p{number}": one_of(loss, sensitivity=loss) for number, loss in enumerate(losses)}
    chosen = best_four(bench)
    assert len(chosen) == 4
    assert max(bench[name].losses[0] for name in chosen) <= sorted(losses)[3] + NEAR


def told(found: dict[str, OnTheBench], name: str) -> tuple[list[float], float, int]:
    """A model's losses, best rate and warm-up."""
    return list(found[name].losses), found[name].rate, found[name].warmup


def test_a_model_is_known_by_its_best_rate_with_the_better_warm_up(tmp_path: Path) -> None:
    def loss(run: Run) -> float:
        its = run.settings
        return 4.0 + its.seed / 10 + (its.learning_rate != 1e-3) + (its.warmup == 0) * (its.placement == "post")

    study, runs = bench(tmp_path, loss, {**GRID, "seed": [1, 2]})
    found = on_the_bench(SOURCE.load(study, on_a_bench(study, runs), tmp_path))
    assert told(found, "Post-LN") == ([4.1, 4.2], 1e-3, 50)
    # Of two warm-ups with the same loss, the shorter one is taken.
    assert told(found, "Pre-LN") == ([4.1, 4.2], 1e-3, 0)


def test_a_model_that_trains_at_no_rate_is_behind_all_others(tmp_path: Path) -> None:
    study, runs = bench(tmp_path, lambda run: None if run.settings.placement == "post" else 4.0)
    found = on_the_bench(SOURCE.load(study, on_a_bench(study, runs), tmp_path))
    assert not found["Post-LN"].trains
    assert is_ahead(found["Pre-LN"].losses, found["Post-LN"].losses)
    assert not is_ahead(found["Post-LN"].losses, found["Post-LN"].losses)


@pytest.mark.parametrize(
    ("better", "worse", "said"),
    [(4.0, 5.0, "agrees"), (5.0, 4.0, "differs"), (4.0, 4.02, "not told apart"), (math.inf, 4.0, "differs")],
)
def test_a_published_order_agrees_if_the_same_placement_is_ahead(better: float, worse: float, said: str) -> None:
    order = Order("A", "B", "BLEU 2, 1", "a model", "a paper", "printed")
    assert verdict(order, {"A": [better], "B": [worse]}) == said


def test_the_published_orders_are_of_models_of_the_bench() -> None:
    study = load(Path("config/placements.yaml"))
    settings = [run.settings for run in expand(study)]
    names = {label(one, {"placement", "norm", "qk_norm"}, with_warmup=False) for one in settings}
    assert {name for order in PUBLISHED for name in (order.better, order.worse)} <= names


def test_the_page_has_the_models_by_their_losses_and_the_best_four() -> None:
    found = {one.label: one_of(4.0 + number / 10) for number, one in enumerate(PLACEMENTS.values())}
    found["Keel"] = one_of(math.inf, without=None, longest=None)
    said = what_the_bench_says(found)
    rows = [line.split(" | ")[0].removeprefix("| ") for line in said.splitlines() if line.startswith("| ")][2:]
    assert rows[:3] == ["Post-LN", "Pre-LN", "Admin"]
    assert rows[-1] == "Keel"
    assert "The best four by the rule: Admin, B2T, DeepNorm, LayerNorm scaling." in said


@pytest.mark.parametrize(
    ("twelve", "eighteen", "said"),
    [
        ((4.0, 4.1), (3.8, 3.9), "gains"),
        ((4.0, 4.1), (4.2, 4.3), "loses"),
        ((4.0, 4.1), (3.98, 4.12), "keeps"),
        ((4.0, 4.1), (3.0, 7.8), "fails"),
        ((math.inf, 4.1), (3.8, 3.9), "fails"),
    ],
)
def test_deeper_models_gain_keep_lose_or_fail(
    twelve: tuple[float, float], eighteen: tuple[float, float], said: str
) -> None:
    assert of_depth({18: eighteen, 6: (4.0, 4.1), 12: twelve}, guess=8.0) == said


def test_the_bench_foretells_real_text_if_most_pairs_stand_in_the_same_order() -> None:
    bench = {"A": (1.0, 1.1), "B": (2.0, 2.1), "C": (3.0, 3.1), "D": (3.0, 3.1)}
    found = on_real_text(bench, {"A": (5.0, 5.1), "B": (6.0, 6.1), "C": (5.5, 5.6)})
    assert (found.told_apart, found.same, found.changed) == (3, [("A", "B"), ("A", "C")], [("B", "C")])
    assert found.foretells


def test_the_bench_foretells_nothing_where_it_tells_nothing_apart() -> None:
    assert not on_real_text({"A": (1.0, 1.1), "B": (1.0, 1.1)}, {"A": (5.0, 5.1), "B": (6.0, 6.1)}).foretells


def test_the_bench_does_not_foretell_orders_that_real_text_does_not_tell_apart() -> None:
    bench = {"A": (1.0,), "B": (2.0,), "C": (3.0,)}
    found = on_real_text(bench, {"A": (5.0,), "B": (5.1,), "C": (5.1,)})
    assert len(found.same) == 2
    assert found.foretells
    assert not on_real_text(bench, {"A": (5.0,), "B": (5.01,), "C": (5.05,)}).foretells
