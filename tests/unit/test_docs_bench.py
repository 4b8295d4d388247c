"""What the bench of placements says by the rules of its page, and how it stands beside what is published."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import placements
from benchmarks.record import entries
from docs.answers.failure_map import Limits
from docs.bench import cost, depth, lower_rate, models, published, real_text, seeds
from docs.bench.models import (
    NEAR,
    OnTheBench,
    bears_more_with_warmup,
    best_four,
    is_ahead,
    models_of,
    name_of,
    on_the_bench,
    what_the_bench_says,
)
from docs.bench.published import PUBLISHED, Order, Scores
from docs.committed import RESULTS, study_of
from preln.jobs.runs import Run, expand
from preln.placements import PLACEMENTS
from preln.translation.report.bench import SOURCE, is_plain, on_a_bench
from preln.translation.report.failure_map import model_of
from tests.made_up.maps import GRID, GUESS, bench
from tests.made_up.results import end


def one_of(
    *losses: float, sensitivity: float = 1.0, without: float | None = 3e-3, longest: float | None = 3e-3
) -> OnTheBench:
    return OnTheBench(losses, 3e-3, 0, sensitivity, Limits(without, longest), 3e-2, GUESS)


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
    [((4.8, 4.9), True), ((4.8, 5.05), False), ((4.97, 4.98), False), ((4.95, 4.97), True), ((5.0, 5.1), False)],
    ids=["every seed", "one seed alone", "by too little", "by just enough", "not at all"],
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


@given(st.lists(st.tuples(st.floats(2.0, 2.3), st.floats(0.0, 1.0)), min_size=4, max_size=14))
def test_four_go_on_and_none_that_is_behind_them_by_more_than_is_told_apart(drawn: list[tuple[float, float]]) -> None:
    bench = {f"p{number}": one_of(loss, sensitivity=sensitive) for number, (loss, sensitive) in enumerate(drawn)}
    chosen = best_four(bench)
    assert len(chosen) == 4
    fourth = sorted(loss for loss, _ in drawn)[3]
    assert max(bench[name].losses[0] for name in chosen) <= fourth + NEAR + 1e-6
    ahead = {name for name, one in bench.items() if one.losses[0] < fourth - NEAR - 1e-6}
    assert ahead <= set(chosen)


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
    assert published.answer(order, {"A": [better], "B": [worse]}) == [said]


def test_every_pair_of_a_papers_scores_is_an_order_but_for_those_within_the_spread() -> None:
    scores = Scores("BLEU", {"A": 35.1, "B": 35.3, "C": 36.0, "D": -math.inf}, "a model", "a paper", "printed", 0.2)
    orders = [(one.better, one.worse, one.published) for one in scores.orders]
    assert orders == [
        ("C", "B", "BLEU 36, 35.3"),
        ("C", "A", "BLEU 36, 35.1"),
        ("C", "D", "BLEU 36, fails"),
        ("B", "D", "BLEU 35.3, fails"),
        ("A", "D", "BLEU 35.1, fails"),
    ]


def test_a_lower_perplexity_is_better() -> None:
    (order,) = Scores("perplexity", {"A": 27.0, "B": 26.5}, "a model", "a paper", "printed").orders
    assert (order.better, order.worse, order.published) == ("B", "A", "perplexity 26.5, 27")


def test_the_published_orders_are_of_models_of_the_bench() -> None:
    study = study_of("placements")
    settings = [run.settings for run in expand(study)]
    assert {name for order in PUBLISHED for name in (order.better, order.worse)} <= set(map(name_of, settings))


def test_the_page_has_the_models_by_their_losses_and_the_best_four() -> None:
    found = {one.label: one_of(4.0 + number / 10) for number, one in enumerate(PLACEMENTS.values())}
    found["Keel"] = one_of(math.inf, without=None, longest=None)
    said = what_the_bench_says(found)
    rows = [line.split(" | ")[0].removeprefix("| ") for line in said.splitlines() if line.startswith("| ")][2:]
    assert rows[:3] == ["Post-LN", "Pre-LN", "Admin"]
    assert rows[-1] == "Keel"
    assert "The best four by the rule: Admin, B2T, DeepNorm, LayerNorm scaling." in said


@pytest.mark.parametrize(
    ("without", "longest", "said"),
    [(3e-3, 9.5e-3, "yes"), (3e-3, 3e-3, "no"), (3e-2, 3e-2, "at the top"), (3e-2, 9.5e-3, "no")],
)
def test_of_a_model_that_trains_at_the_highest_rate_it_is_not_said_that_the_warm_up_raises_no_limit(
    without: float, longest: float, said: str
) -> None:
    found = {one.label: one_of(4.0, without=without, longest=longest) for one in PLACEMENTS.values()}
    assert {line.split(" | ")[6] for line in what_the_bench_says(found).splitlines()[2:] if " | " in line} == {said}


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
    assert depth.answer((4.0, 4.1), [twelve, eighteen], guess=8.0) == [said]


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_nothing_is_said_of_the_depth_before_each_depth_has_its_seeds(missing: int) -> None:
    shallow, *deeper = ((4.0,) if number == missing else (4.0, 4.1) for number in range(3))
    assert depth.answer(shallow, deeper, guess=8.0) == []


@pytest.mark.parametrize(
    ("lower", "said"),
    [
        ((4.0, 4.1), ["keeps", "the rate was too high"]),
        ((4.9, 5.0), ["loses", "the rate was too high"]),
        ((5.1, 5.3), ["loses"]),
        ((7.9, 4.0), ["fails"]),
        ((4.0,), []),
    ],
)
def test_a_rate_was_too_high_for_the_depth_if_a_lower_one_is_ahead_there(
    lower: tuple[float, ...], said: list[str]
) -> None:
    assert lower_rate.answer((4.0, 4.1), (5.2, 5.4), lower, guess=8.0) == said


def test_of_a_model_that_fails_at_the_lower_rate_too_it_is_not_said_that_the_rate_was_too_high() -> None:
    assert lower_rate.answer((4.0, 4.1), (9.2, 9.4), (7.9, 7.8), guess=8.0) == ["fails"]


def test_the_deeper_models_are_known_by_their_names_and_their_layers(tmp_path: Path) -> None:
    runs = expand(study_of("placements-depth"))
    pre = [run for run in runs if name_of(run.settings) == "Pre-LN"]
    for run in pre:
        loss = 3.0 + run.settings.encoder_layers / 10 + run.settings.seed
        end(tmp_path / "placements-depth" / "translation", run.id, loss)
    assert depth.read(tmp_path) == {
        "Pre-LN": {6: [6.6, 7.6], 12: [7.2, 8.2], 18: [7.8, 8.8]},
    }


def test_a_model_of_the_bench_is_judged_by_the_seeds_that_chose_its_rate_and_by_two_new_ones() -> None:
    found = seeds.all_seeds({"A": one_of(4.0, 4.1), "B": one_of(4.2, 4.3)}, {"A": [4.2, 4.3], "B": [4.2]})
    assert found == {"A": [4.0, 4.1, 4.2, 4.3]}


def test_a_model_that_trains_at_no_rate_has_no_new_seeds() -> None:
    assert seeds.all_seeds({"A": one_of(math.inf)}, {}) == {"A": [math.inf]}


def test_nothing_is_said_of_a_published_order_while_a_seed_is_missing() -> None:
    order = Order("A", "B", "BLEU 2, 1", "a model", "a paper", "printed")
    assert published.answer(order, {"A": [4.0]}) == []


def test_nothing_is_known_of_the_bench_while_a_run_is_not_made(tmp_path: Path) -> None:
    assert models.read(tmp_path) == {}


def test_nothing_is_said_of_deeper_models_while_a_run_of_the_bench_is_not_made(tmp_path: Path) -> None:
    run = expand(study_of("placements-depth"))[0]
    end(tmp_path / "placements-depth" / "translation", run.id, 4.0)
    assert depth.read(tmp_path)
    assert depth.answers(tmp_path) == {}
    assert "loses" not in lower_rate.table(tmp_path)


def best(study: str) -> dict[str, tuple[float, int]]:
    """The rate and the warm-up of the models of a study, by their names on the bench. Each has one of both."""
    found = {(name_of(its := run.settings), its.learning_rate, its.warmup) for run in expand(study_of(study))}
    assert len({name for name, *_ in found}) == len(found)
    return {name: (rate, warmup) for name, rate, warmup in found}


def test_the_deeper_models_have_the_best_rate_of_the_bench_and_its_warm_up() -> None:
    bench = models.read(RESULTS)
    assert best("placements-depth") == {name: (one.rate, one.warmup) for name, one in bench.items() if one.trains}


def test_the_new_seeds_are_of_the_models_of_the_bench() -> None:
    bench = expand(study_of("placements"))
    new = [run for run in expand(study_of("placements-depth")) if run.settings.encoder_layers == depth.FEWEST]
    assert {model_of(run.settings) for run in new} == {model_of(run.settings) for run in bench}
    assert {run.settings.seed for run in new}.isdisjoint(run.settings.seed for run in bench)


def test_the_placements_that_fail_or_lose_with_the_depth_are_trained_at_the_next_lower_rate_of_the_bench() -> None:
    rates = {run.settings.learning_rate for run in expand(study_of("placements"))}
    first = models_of("placements-depth")
    lower = [run.settings for run in expand(study_of(lower_rate.STUDY))]
    assert {name_of(its) for its in lower} == {
        name for name, said in depth.answers(RESULTS).items() if {"fails", "loses"} & set(said)
    }
    for its in lower:
        at_first = first[name_of(its)]
        a_step_lower = max(rate for rate in rates if rate < at_first.learning_rate)
        assert its == at_first.model_copy(
            update={"learning_rate": a_step_lower, "encoder_layers": 18, "decoder_layers": 18, "seed": its.seed}
        )
    assert Counter(its.seed for its in lower) == {3: len(lower) / 2, 4: len(lower) / 2}


def test_each_placement_is_trained_at_each_depth_in_each_new_seed() -> None:
    found = [run.settings for run in expand(study_of("placements-depth"))]
    plain = [(one.placement, one.encoder_layers, one.decoder_layers, one.seed) for one in found if is_plain(one)]
    assert sorted(plain) == sorted(
        (name, layers, layers, seed) for name in PLACEMENTS for layers in depth.DEPTHS for seed in (3, 4)
    )


def test_the_models_on_real_text_are_the_papers_two_and_the_best_four_at_a_quarter_of_their_rates() -> None:
    bench = models.read(RESULTS)
    names = ["Post-LN", "Pre-LN", *best_four(models.the_other_fourteen(bench))]
    found = best("placements-real")
    assert found.keys() == set(names)
    for name in names:
        rate, warmup = found[name]
        assert math.isclose(rate, bench[name].rate / 4)
        assert warmup == (1333 if bench[name].warmup else 0)


def test_pre_ln_on_real_text_is_trained_as_in_the_study_of_half_the_width_but_for_its_rate() -> None:
    (ours, *_), (theirs, *_) = (
        [run.settings for run in expand(study_of(study)) if run.settings.placement == "pre"]
        for study in ("placements-real", "iwslt14-50k-cpu")
    )
    # A constant rate does not read the period of a decay.
    unread = {"decay_period": None}
    assert model_of(ours).model_copy(update=unread) == model_of(theirs).model_copy(update=unread)


def test_the_bench_is_held_against_real_text_when_each_model_has_three_seeds_there() -> None:
    bench = {"A": [4.0, 4.1, 4.2, 4.3], "B": [5.0, 5.1, 5.2, 5.3], "Post-LN": [6.0, 6.1, 6.2, 6.3]}
    real = {"A": [7.0, 7.1, 7.2], "B": [6.0, 6.1, 6.2], "Post-LN": [8.0, 8.1, 8.2]}
    assert real_text.answer(bench, real) == [
        "pairs that the bench tells apart: 3 (without Post-LN 1)",
        "in the same order on real text: 2 (0)",
        "in the other: 1 (1)",
        "the bench foretells real text",
    ]
    assert real_text.answer(bench, real | {"B": [7.0, 7.1]}) == []


def test_nothing_is_said_of_real_text_while_a_model_lacks_its_seeds_on_the_bench() -> None:
    assert real_text.answer({"A": [4.0]}, {"A": [6.0, 6.1, 6.2], "B": [7.0, 7.1, 7.2]}) == []


def test_the_bench_foretells_real_text_if_most_pairs_stand_in_the_same_order() -> None:
    bench = {"A": (1.0, 1.1), "B": (2.0, 2.1), "C": (3.0, 3.1), "D": (3.0, 3.1)}
    found = real_text.pairs(bench, {"A": (5.0, 5.1), "B": (6.0, 6.1), "C": (5.5, 5.6)})
    assert (found.told_apart, found.same, found.changed) == (3, [("A", "B"), ("A", "C")], [("B", "C")])
    assert found.foretells


def test_the_bench_foretells_nothing_where_it_tells_nothing_apart() -> None:
    assert not real_text.pairs({"A": (1.0, 1.1), "B": (1.0, 1.1)}, {"A": (5.0, 5.1), "B": (6.0, 6.1)}).foretells


def test_the_bench_does_not_foretell_orders_that_real_text_does_not_tell_apart() -> None:
    bench = {"A": (1.0,), "B": (2.0,), "C": (3.0,)}
    found = real_text.pairs(bench, {"A": (5.0,), "B": (5.1,), "C": (5.1,)})
    assert len(found.same) == 2
    assert found.foretells
    one_of_three = real_text.pairs(bench, {"A": (5.0,), "B": (5.01,), "C": (5.052,)})
    assert (len(one_of_three.same), one_of_three.changed) == (1, [])
    assert not one_of_three.foretells


def test_every_model_of_the_bench_is_timed_beside_post_ln() -> None:
    timed = {f"placement-{'-'.join(model)}" for model in placements.models()}
    assert {cost.entry_of(settings) for settings in models_of("placements-depth").values()} == timed | {
        "placement-post"
    }
    assert timed <= {entry["name"] for entry in entries()}


def test_a_side_that_is_half_as_fast_takes_twice_as_long() -> None:
    assert cost.time_beside_post_ln({"ratio": 0.5, "low": 0.4, "high": 0.8}) == "2.00 (1.25 to 2.50)"
