"""The answers to the questions of the pages follow from their rules, whatever was found."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.answers import (
    amplification,
    bounds,
    control,
    depth_of_gradient,
    drop_of_pre,
    early_drop,
    failure_map,
    first_epoch,
    first_updates,
    gradient_after_warmup,
    low_rate,
    pre_rates,
    quick_radam,
    quick_seeds,
    radam,
    radam_in_pre,
    readings,
    schedules,
    short_warmup,
    small_bert,
    small_causes,
    small_radam,
    small_sums,
    warmup_of_post,
    whole_trainings,
    width_or_rate,
)
from docs.answers.amplification import ByDepth
from docs.answers.depth_of_gradient import Exponents
from docs.answers.failure_map import Limits
from docs.answers.first_updates import FirstUpdates
from docs.answers.radam import Corner
from docs.answers.schedules import UnderSchedules
from docs.committed import Ends, differences, lowest_of, study_of
from preln.jobs.runs import expand
from preln.report.core.statistics import Estimate
from preln.report.reference import claims as reference
from tests.conftest import settings
from tests.made_up.results import end
from tests.made_up.theory import rows_of, small_study, write_part

STUCK = FirstUpdates(seeds=3, loss=9.8, last_gradient=2.0, largest_step=1.0, first_gradient_kept=0.05, input_growth=2.0)
LEARNING = FirstUpdates(
    seeds=3, loss=8.0, last_gradient=0.5, largest_step=0.3, first_gradient_kept=1.0, input_growth=1.0
)


def answer(
    post: FirstUpdates = STUCK,
    pre: FirstUpdates = LEARNING,
    control: FirstUpdates = LEARNING,
    warmed_up: FirstUpdates = LEARNING,
) -> list[str]:
    return first_updates.answer(post, pre, control, warmed_up)


def test_a_control_that_learns_with_as_large_a_gradient_speaks_against_gradients_and_for_updates() -> None:
    found = answer(control=replace(LEARNING, last_gradient=2.1))
    assert found == ["against large gradients", "for large updates", "for the mechanism of Wang et al."]


def test_both_explanations_may_be_consistent_with_what_is_found() -> None:
    assert answer() == ["for large gradients", "for large updates", "for the mechanism of Wang et al."]


def test_a_large_step_of_a_model_that_learns_speaks_against_large_updates() -> None:
    warmed_up = replace(LEARNING, largest_step=0.95)
    assert answer(warmed_up=warmed_up) == [
        "for large gradients",
        "against large updates",
        "for the mechanism of Wang et al.",
    ]


def test_the_mechanism_stands_beside_whatever_else_is_said() -> None:
    mechanism = "for the mechanism of Wang et al."
    unlike = replace(LEARNING, last_gradient=1.7, largest_step=0.7)
    assert answer(control=unlike, warmed_up=unlike) == ["the question stays open", mechanism]
    stuck = replace(LEARNING, loss=9.8, last_gradient=1.7, largest_step=0.7)
    assert answer(control=stuck)[-1] == mechanism


@pytest.mark.parametrize("changed", [{"first_gradient_kept": 0.2}, {"input_growth": 1.2}])
def test_the_mechanism_needs_both_of_its_signs(changed: dict[str, Any]) -> None:
    assert "for the mechanism of Wang et al." not in answer(post=replace(STUCK, **changed))


def test_the_mechanism_is_not_shown_where_the_control_has_a_sign_of_it() -> None:
    assert "for the mechanism of Wang et al." not in answer(control=replace(LEARNING, input_growth=1.6))


@pytest.mark.parametrize("models", [{"post": LEARNING}, {"pre": STUCK}], ids=["Post-LN learns", "Pre-LN is stuck"])
def test_there_is_nothing_to_explain_unless_the_placements_differ(models: dict[str, FirstUpdates]) -> None:
    (found,) = answer(**models)
    assert found.startswith("nothing to explain")


def test_a_control_that_is_stuck_tells_nothing_apart() -> None:
    assert answer(control=STUCK)[-1].startswith("Post-LN-init is stuck")


def test_in_between_the_question_stays_open() -> None:
    near = replace(LEARNING, last_gradient=1.75, largest_step=0.8)
    post = replace(STUCK, first_gradient_kept=0.2)
    assert answer(post=post, pre=near, control=near, warmed_up=near) == ["the question stays open"]


@pytest.mark.parametrize(("number", "cause"), [("largest_step", "updates"), ("last_gradient", "gradients")])
@given(mine=st.floats(0.1, 20), theirs=st.floats(0.1, 20), controls=st.floats(0.1, 20))
def test_no_case_holds_for_and_against_a_cause_at_once(
    mine: float, theirs: float, controls: float, number: str, cause: str
) -> None:
    def with_number(one: FirstUpdates, value: float) -> FirstUpdates:
        changed: dict[str, Any] = {number: value}
        return replace(one, **changed)

    found = answer(with_number(STUCK, mine), with_number(LEARNING, theirs), with_number(LEARNING, controls))

    assert not {f"for large {cause}", f"against large {cause}"} <= set(found)


@pytest.mark.parametrize(
    ("post", "pre", "large", "found"),
    [
        (Limits(1e-3, 6.5e-3), Limits(6.5e-3, 1.4e-2), Limits(3e-3, None), {"needs", "does not need", "noise"}),
        (Limits(1e-3, 3e-3), Limits(6.5e-3, 6.5e-3), Limits(1e-3, None), {"does not need"}),
        (Limits(None, 3e-3), Limits(1e-3, 6.5e-3), Limits(None, None), {"needs"}),
        (Limits(1e-3, 1e-3), Limits(1e-3, None), Limits(None, None), {"none"}),
    ],
)
def test_the_map_is_read_by_its_limits(post: Limits, pre: Limits, large: Limits, found: set[str]) -> None:
    said = failure_map.answer(post, pre, large)
    assert len(said) == len(found)
    assert all(any(word in one for one in said) for word in found)


def by_depth(step: float, gradient: float = 0.0, half: float = 0.05) -> ByDepth:
    return ByDepth(*(Estimate(mean, mean - half, mean + half, 3) for mean in (step, gradient)))


TOLD = ["Post-LN amplifies", "more than Pre-LN", "the gradient does not tell it", "the control amplifies less"]


@pytest.mark.parametrize(
    ("post", "pre", "control", "found"),
    [
        (by_depth(0.5), by_depth(0.1), by_depth(0.1), TOLD),
        # A gradient that changes with the depth may tell it.
        (
            by_depth(0.5, gradient=0.3),
            by_depth(0.1),
            by_depth(0.4),
            [*TOLD[:2], "the gradient may tell it", "the control is not shown to amplify less"],
        ),
        # Intervals that overlap show no difference.
        (
            by_depth(0.5, half=0.2),
            by_depth(0.27),
            by_depth(0.0),
            [TOLD[0], "not shown to be more than Pre-LN", *TOLD[2:]],
        ),
    ],
)
def test_amplification_is_read_by_the_exponents_and_their_intervals(
    post: ByDepth, pre: ByDepth, control: ByDepth, found: list[str]
) -> None:
    assert amplification.answer(post, pre, control) == found


@pytest.mark.parametrize(
    ("post", "others"),
    [(by_depth(0.5, half=0.6), 0.1), (by_depth(0.0), -0.5), (by_depth(math.nan), 0.1), (by_depth(0.1), 0.1)],
    ids=["too wide an interval", "less than nothing", "no exponent", "too little"],
)
def test_where_nothing_amplifies_nothing_else_is_asked(post: ByDepth, others: float) -> None:
    assert amplification.answer(post, by_depth(others), by_depth(others)) == [
        "the depth does not amplify the first update"
    ]


@pytest.mark.parametrize(("loss", "found"), [(6.7, "the cause"), (6.8, "no cause")])
def test_the_high_rate_is_the_cause_if_pre_ln_is_near_enough_after_an_early_drop(loss: float, found: str) -> None:
    said = early_drop.answer([loss - 0.1, loss, loss + 0.1], [6.6, 6.7, 6.8])

    assert said == [f"the high rate in the compared epoch is {found}"]


@pytest.mark.parametrize(
    ("losses", "found"),
    [
        ((6.9, 7.1, 7.4), "the control trains"),
        ((7.2, 7.3, 7.4), "the control trains less well"),
        ((9.3, 9.7, 10.1), "the control fails"),
        ((math.inf, 6.0, 6.0), "the control fails"),
    ],
)
def test_the_control_trains_if_it_ends_near_post_ln_with_the_warm_up(losses: Sequence[float], found: str) -> None:
    assert control.answer(losses, [6.6, 6.7, 6.8]) == [found]


SEEDS = [6.6, 6.7, 6.8]


@pytest.mark.parametrize(("one", "other"), [(SEEDS[:2], SEEDS), (SEEDS, SEEDS[:2]), ([], SEEDS), (SEEDS, [])])
def test_three_seeds_of_both_sides_are_asked_for(one: list[float], other: list[float]) -> None:
    assert control.answer(one, other) == []
    assert early_drop.answer(one, other) == []
    assert pre_rates.answer((SEEDS, SEEDS), (one, other)) == []
    assert pre_rates.answer((one, other), (SEEDS, SEEDS)) == []


def test_a_trace_is_read_as_the_rule_says() -> None:
    updates = range(201)
    trace = pd.DataFrame(
        {
            "update": updates,
            "loss": [10.0 - update / 64 for update in updates],
            # The largest is behind the tenth update, and does not count.
            "function_change": [0.0, *[0.1] * 9, 0.4, 5.0, *[0.1] * 189],
            "gradient_norm.decoder.1": [0.0, *[4.0] * 190, *[1.0] * 10],
            "gradient_norm.decoder.2": [0.0, 3.0, *[7.0] * 199],
            "input_norm.decoder.1": [1.0] * 201,
            "input_norm.decoder.2": [2.0, *[9.0] * 190, *[5.0] * 10],
        }
    )
    two_seeds = [(trace, settings(decoder_layers=2))] * 2

    assert first_updates.of_seeds(two_seeds) == FirstUpdates(
        seeds=2, loss=6.875, last_gradient=3.0, largest_step=0.4, first_gradient_kept=0.25, input_growth=2.5
    )


@pytest.mark.parametrize("lacks", ["a model", "a seed"])
def test_the_first_updates_decide_nothing_before_each_model_has_three_seeds(lacks: str) -> None:
    found = dict(zip(first_updates.MODELS, [STUCK, LEARNING, LEARNING, LEARNING], strict=True))
    assert first_updates.answer_of(found)
    last = list(found)[-1]
    if lacks == "a seed":
        found[last] = replace(LEARNING, seeds=2)
    else:
        del found[last]

    assert first_updates.answer_of(found) == []


WHOLE = {
    Corner(): [9.6, 9.7, 9.8],
    Corner(1, "xavier"): [9.7] * 3,
    Corner(beta2=0.999): [9.7] * 3,
    Corner(4): [9.7],
    Corner(4, "xavier"): [9.7] * 3,
}


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, ["no cause found", "not explained"]),
        ({Corner(4): [8.6]}, ["the batch is a cause", "not explained"]),
        ({Corner(4): [9.0]}, ["no cause found", "not explained"]),
        ({Corner(4): [9.1, 9.1, 9.2]}, ["the batch is a cause", "not explained"]),
        (
            {Corner(1, "xavier"): [8.0] * 3, Corner(beta2=0.999): [8.0] * 3},
            ["the initialisation is a cause", "β2 is a cause", "not explained"],
        ),
        ({Corner(4, "xavier"): [8.0, 8.1, 9.5]}, ["no cause found", "explained"]),
        ({Corner(4, "xavier"): [8.0, 8.1, 9.7]}, ["no cause found", "not explained"]),
    ],
)
def test_radam_is_read_by_what_changes_alone_and_by_the_papers_side(
    changed: dict[Corner, list[float]], found: list[str]
) -> None:
    assert radam.answer({**WHOLE, **changed}) == found


@pytest.mark.parametrize("lacks", WHOLE)
def test_the_answer_about_radam_waits_for_every_seed_that_the_rule_reads(lacks: Corner) -> None:
    assert radam.answer({**WHOLE, lacks: WHOLE[lacks][1:]}) == []


@pytest.mark.parametrize(("loss", "word"), [(9.8, "a"), (9.9, "no")])
def test_the_batch_is_a_cause_at_the_higher_rate_if_one_seed_ends_a_bit_lower(loss: float, word: str) -> None:
    losses = {Corner(learning_rate=1e-3): [10.8], Corner(4, learning_rate=1e-3): [loss], Corner(): [8.0]}

    assert radam.at_the_higher_rate(losses) == [f"at 1e-3, the batch is {word} cause"]


@pytest.mark.parametrize(
    ("losses", "found"),
    [
        ([9.3, 9.4, 9.5], ["at 1e-3, β2 is a cause"]),
        ([9.3, 9.4, 9.7], ["at 1e-3, β2 is no cause"]),
        ([9.3, 9.4], []),
    ],
)
def test_beta2_is_a_cause_at_the_higher_rate_if_every_seed_trains_with_the_other(
    losses: list[float], found: list[str]
) -> None:
    ours = {Corner(learning_rate=1e-3): [10.8, 10.9, 10.7]}

    assert radam.at_the_higher_rate({**ours, Corner(beta2=0.999, learning_rate=1e-3): losses}) == found


def test_beta2_is_no_cause_at_the_higher_rate_if_ours_ends_nearly_as_low() -> None:
    losses = {Corner(learning_rate=1e-3): [9.5, 9.6, 9.7], Corner(beta2=0.999, learning_rate=1e-3): [9.2, 9.2, 9.2]}

    assert radam.at_the_higher_rate(losses) == ["at 1e-3, β2 is no cause"]


@pytest.mark.parametrize(
    ("adam", "found"),
    [
        ([7.7], ["RAdam helps with four batches"]),
        ([7.6], ["RAdam is undecided with four batches"]),
        ([6.8], ["RAdam does not help with four batches"]),
        ([6.0], ["RAdam does not help with four batches"]),
        ([], []),
    ],
)
def test_radam_helps_with_four_batches_if_adam_ends_a_bit_above_it(adam: list[float], found: list[str]) -> None:
    assert radam.beside_adam({radam.ALONE["the batch"]: [6.7], radam.ADAM: adam}) == found


@pytest.mark.parametrize(
    ("xavier", "found"),
    [
        ([9.7, 9.5, 9.9], ["Xavier's draw makes Adam fail"]),
        ([9.5, 8.4, 8.6], ["Xavier's draw delays Adam"]),
        ([8.4, 8.5, 8.3], ["Xavier's draw does not make Adam fail"]),
        ([9.7, 9.7], []),
    ],
)
def test_the_draw_makes_adam_fail_if_nothing_is_learned_with_it(xavier: list[float], found: list[str]) -> None:
    assert radam.of_the_draw([8.0, 7.9, 8.1], xavier) == found


def test_the_draws_are_compared_with_adam_alone(tmp_path: Path) -> None:
    runs = tmp_path / "confounds" / "translation"
    trained(runs / "post-adam-lr5e-4-wu0-hold1333-epochs4-accumulate4-s1", [9.0, 8.0, 7.3, 6.8])
    trained(runs / "post-adam-lr5e-4-wu0-hold1333-initialisationxavier-epochs4-accumulate4-s1", [9.6, 9.2, 8.5, 8.0])
    trained(runs / "post-radam-lr5e-4-linear4653-initialisationxavier-epochs4-accumulate4-s1", [1.0] * 4)

    found = radam.read(tmp_path)

    assert [found[one].losses for one in (radam.ADAM, radam.ADAM_BY_XAVIER)] == [[6.8], [8.0]]


@pytest.mark.parametrize(
    ("slower", "found"),
    [
        ([9.7, 9.61, 9.8], ["the rate is the cause"]),
        ([9.7, 9.59, 9.8], ["the rate is a cause in part"]),
        ([8.2, 8.1, 8.1], ["the rate is a cause in part"]),
        ([8.2, 8.0, 7.9], ["the rate is no cause"]),
        ([8.2, 8.0], []),
    ],
)
def test_the_rate_keeps_radam_from_training_if_nothing_is_learned_with_that_of_the_papers_size(
    slower: list[float], found: list[str]
) -> None:
    assert width_or_rate.answer({width_or_rate.FASTER: [7.6, 7.5, 7.7], width_or_rate.SLOWER: slower}) == found


def test_the_lengths_of_radams_decay_are_told_apart_and_read_after_three_epochs(tmp_path: Path) -> None:
    runs = tmp_path / "confounds" / "translation"
    trained(runs / "post-radam-lr5e-4-linear4653-initialisationxavier-epochs4-accumulate4-s1", [9.4, 8.5, 7.9, 7.4])
    trained(runs / "post-radam-lr5e-4-linear16500-initialisationxavier-accumulate4-s1", [9.5, 8.6, 8.0])
    trained(runs / "post-radam-lr5e-4-linear4653-epochs4-accumulate4-s1", [1.0] * 4)

    found = width_or_rate.read(tmp_path)

    assert {updates: ends.losses for updates, ends in found.items()} == {4653: [7.9], 16500: [8.0]}
    assert radam.read(tmp_path)[radam.PAPERS].losses == [7.4]


def test_nothing_is_said_of_the_higher_rate_before_both_runs_are_made() -> None:
    assert radam.at_the_higher_rate({Corner(learning_rate=1e-3): [10.8], Corner(4): [6.7]}) == []


@pytest.mark.parametrize(("losses", "word"), [([8.9, 7.9, 8.0], ""), ([8.0, 8.91, 8.0], "not ")])
def test_radams_departure_is_one_of_size_if_every_seed_trains_at_the_papers_size(
    losses: list[float], word: str
) -> None:
    assert first_epoch.of_size(losses) == [f"RAdam's departure is {word}one of size"]


@pytest.mark.parametrize(
    ("losses", "found"),
    [
        ((6.4, 8.0, 9.8), ["as in the paper", "Post-LN without a warm-up fails"]),
        ((7.0, 7.9, 9.8), ["Post-LN without a warm-up fails"]),
        ((6.4, 8.8, 9.5), ["neither"]),
    ],
)
def test_the_first_epoch_asks_for_the_order_and_for_the_values(
    losses: tuple[float, float, float], found: list[str]
) -> None:
    assert first_epoch.answer(*([loss - 0.1, loss, loss + 0.1] for loss in losses)) == found


@pytest.mark.parametrize(
    ("losses", "found"),
    [
        ([8.9, 8.0, 7.5], "β2 is the cause"),
        ([8.91, 8.0, 7.5], "β2 is a cause in part"),
        ([9.59, 9.61, 10.0], "β2 is a cause in part"),
        ([9.61, 9.8, math.inf], "β2 is no cause"),
    ],
)
def test_beta2_is_the_cause_if_radam_trains_with_the_other(losses: list[float], found: str) -> None:
    assert first_epoch.of_beta2(losses) == [found]


def test_the_two_values_of_beta2_are_read_apart(tmp_path: Path) -> None:
    runs = tmp_path / "paper-epoch" / "translation"
    for seed in (1, 2, 3):
        trained(runs / f"post-radam-lr5e-4-linear16500-s{seed}", [10.0, 10.0, 10.0])
        trained(runs / f"post-radam-lr5e-4-linear16500-beta20.999-s{seed}", [9.9, 9.0, 8.0])

    told = first_epoch.table(tmp_path)

    assert "| Post-LN, RAdam | 10.00, 10.00, 10.00 |" in told
    assert "| Post-LN, RAdam, β2 = 0.999 | 8.00, 8.00, 8.00 |" in told
    assert "RAdam's departure is not one of size; β2 is the cause" in told


@pytest.mark.parametrize(
    ("without", "control", "word"), [(8.0, 7.8, "sum"), (8.0, 7.5, "harm"), (8.0, 8.5, "large rate")]
)
def test_a_missing_warm_up_is_held_against_as_small_a_sum_of_rates(without: float, control: float, word: str) -> None:
    (said,) = small_sums.answer(without, control)

    assert word in said


@pytest.mark.parametrize(
    ("pre", "post", "found"),
    [
        ((6.0, 6.1), (6.7, 6.6), "the placement"),
        ((6.0, 6.8), (6.2, 6.5), "the schedule"),
        ((6.0, 6.4), (6.7, 6.6), "both"),
    ],
)
def test_the_placement_decides_if_it_matters_more_than_the_schedule(
    pre: tuple[float, float], post: tuple[float, float], found: str
) -> None:
    assert schedules.answer(UnderSchedules(*pre), UnderSchedules(*post)) == [found]


@pytest.mark.parametrize(
    ("higher", "warmed_up", "found"),
    [
        (([8.0, 8.2], [7.0, 7.1]), [7.2], ["hid", "lacks"]),
        (([8.0, 8.2], [7.0, 7.1]), [7.9], ["hid"]),
        (([7.2, 8.2], [7.0, 7.3]), [7.0], ["open"]),
        (([7.1, 7.1], [7.05, 7.1]), [7.0], ["not the reason"]),
    ],
)
def test_a_small_bert_shows_a_gap_only_where_the_seeds_do_not_overlap(
    higher: tuple[list[float], list[float]], warmed_up: list[float], found: list[str]
) -> None:
    said = small_bert.answer({1e-3: ([7.0, 7.1], [7.0, 7.1]), 3e-3: higher}, warmed_up)
    assert len(said) == len(found)
    assert all(word in one for word, one in zip(found, said, strict=True))


@pytest.mark.parametrize(
    ("own", "scaled", "found"),
    [
        (
            ([9.0, 9.1], [8.0, 8.1]),
            ([9.0, 9.1], [8.0, 8.1]),
            ["the rate alone brings it out", "the draw does not add to it"],
        ),
        (([9.0, 9.1], [8.7, 8.8]), ([9.0, 9.1], [8.0, 8.1]), ["the rate alone brings it out", "the draw adds to it"]),
        (([9.0, 8.1], [8.0, 8.1]), ([9.0, 9.1], [8.0, 8.1]), ["the rate alone does not bring it out"]),
    ],
)
def test_the_rate_alone_brings_a_gap_out_if_it_is_there_with_bert_bases_own_draw(
    own: tuple[list[float], list[float]], scaled: tuple[list[float], list[float]], found: list[str]
) -> None:
    assert small_bert.rate_or_draw(own, scaled) == found


@pytest.mark.parametrize(
    ("large", "long", "said"),
    [
        ([7.0, 8.0, 9.0], [7.5], ["the batch is a cause", "with 4 x 1,024 tokens the claim holds"]),
        ([8.0, 8.5, 9.0], [7.5], ["the batch is no cause", "with 4 x 1,024 tokens the claim does not hold either"]),
        ([7.0, 8.0], [7.5], []),
        ([7.0, 8.0, 9.0], [], ["the batch is a cause"]),
    ],
)
def test_the_short_warm_up_is_judged_by_the_means_of_three_seeds(
    large: list[float], long: list[float], said: list[str]
) -> None:
    losses = {short_warmup.SHORT: [9.0, 9.2, 9.4], short_warmup.SHORT_LARGER: large, short_warmup.LONG_LARGER: long}

    assert short_warmup.answer(losses) == said


@pytest.mark.parametrize(
    ("kept", "said"),
    [(0.1, "a cause"), (0.11, "a cause in part"), (0.085, "a cause"), (0.12, "a cause in part"), (0.121, "no cause")],
)
def test_the_batch_is_a_cause_of_the_gradient_by_what_the_warm_up_leaves(kept: float, said: str) -> None:
    assert gradient_after_warmup.answer(kept, kept_by_ours=0.24) == [f"the batch is {said}"]


@pytest.mark.parametrize(("kept", "found"), [(0.1, "the cause"), (0.11, "not enough alone")])
def test_the_length_is_the_cause_of_the_gradient_if_the_longer_warm_up_leaves_what_c7_asks(
    kept: float, found: str
) -> None:
    assert gradient_after_warmup.of_the_length(kept) == [f"the length is {found}"]


def of_seeds(*losses: float) -> Ends:
    """The ends of a run whose seeds are 1, 2 and so on."""
    return Ends([*losses], [0.0] * len(losses), [*range(1, len(losses) + 1)])


def curve(run: Path, losses: Sequence[float], updates: int = 1551) -> None:
    """The record of a run's epochs of so many updates each, as far as an answer reads it."""
    rows = [f"{epoch},{epoch * updates},{loss},1.0" for epoch, loss in enumerate(losses, start=1)]
    (run / "curve.csv").write_text("\n".join(["epoch,updates,valid_loss,test_bleu", *rows]), encoding="utf-8")


def trained(run: Path, losses: Sequence[float], updates: int = 1551) -> None:
    """The record of a run that ended after these epochs."""
    end(run.parent, run.name, losses[-1])
    curve(run, losses, updates)


def test_the_short_warm_up_is_read_after_as_many_updates_with_each_batch(tmp_path: Path) -> None:
    runs = tmp_path / "confounds" / "translation"
    for run, updates, losses in (
        ("post-adam-lr5e-4-wu167-hold1333-s1", 1551, [9.3, 8.9, 8.7]),
        ("post-adam-lr5e-4-wu167-hold1333-epochs1-s2", 1551, [9.0]),
        ("post-adam-lr5e-4-wu167-hold1333-epochs4-accumulate4-s1", 388, [8.3, 7.5, 6.9, 6.4]),
        ("post-adam-lr5e-4-wu1333-epochs4-accumulate4-s1", 388, [8.9, 8.0, 7.4, 6.8]),
        # Neither another placement nor another schedule.
        ("pre-adam-lr5e-4-wu1333-s1", 1551, [1.0, 1.0, 1.0]),
        ("post-adam-lr5e-4-const-wu1333-drop2-s1", 1551, [1.0, 1.0, 1.0]),
    ):
        trained(runs / run, losses, updates)

    found = short_warmup.read(tmp_path)

    assert {one: ends.losses for one, ends in found.items()} == {
        short_warmup.SHORT: [9.3, 9.0],
        short_warmup.SHORT_LARGER: [6.4],
        short_warmup.LONG_LARGER: [6.8],
    }


def test_radam_is_read_after_as_many_updates_at_both_rates(tmp_path: Path) -> None:
    ours, others = (tmp_path / study / "translation" for study in ("iwslt14-50k-cpu", "confounds"))
    for folder, losses in {
        ours / "post-radam-lr1e-3-linear4653-s1": [10.8, 11.1, 11.3],
        # Its runs at the paper's rate are trained anew in `confounds`, and are read there.
        ours / "post-radam-lr5e-4-linear4653-s1": [1.0, 1.0, 1.0],
        ours / "pre-radam-lr1e-3-linear4653-s1": [1.0, 1.0, 1.0],
        others / "post-radam-lr5e-4-linear4653-epochs1-s1": [9.3],
        others / "post-radam-lr5e-4-linear4653-epochs4-accumulate4-s1": [9.0, 8.0, 7.0, 6.7],
        others / "post-radam-lr1e-3-linear4653-epochs4-accumulate4-s1": [9.0, 8.0, 7.5, 7.2],
        others / "post-radam-lr1e-3-linear4653-epochs1-s2": [10.7],
        others / "post-adam-lr5e-4-wu0-hold1333-epochs4-accumulate4-s1": [9.9, 9.8, 9.7, 9.6],
        others / "post-adam-lr5e-4-wu167-hold1333-epochs4-accumulate4-s1": [1.0, 1.0, 1.0, 1.0],
        ours / "post-adam-lr5e-4-wu0-hold1333-s1": [1.0, 1.0, 1.0],
    }.items():
        trained(folder, losses)

    found = radam.read(tmp_path)

    assert {corner: ends.losses for corner, ends in found.items()} == {
        Corner(): [9.3],
        Corner(4): [6.7],
        Corner(learning_rate=1e-3): [10.8, 10.7],
        Corner(4, learning_rate=1e-3): [7.2],
        radam.ADAM: [9.6],
    }


def test_a_run_without_a_warm_up_stands_beside_the_one_whose_rates_sum_to_as_much(tmp_path: Path) -> None:
    runs = tmp_path / "confounds" / "translation"
    end(runs, "post-adam-lr1e-3-wu0-s1", 9.0, 2.0)
    end(runs, "post-adam-lr4.527e-5-wu1333-s1", 8.0, 3.0)
    end(runs, "post-adam-lr2.263e-5-wu1333-s1", 8.5)
    # Neither its peak's place nor its length is what the question is about.
    end(runs, "post-adam-lr5e-4-wu0-shift1333-s1", 5.0)
    end(runs, "post-adam-lr5e-4-wu167-hold1333-s1", 6.0)
    end(runs, "post-adam-lr5e-4-wu1333-epochs4-accumulate4-s1", 4.0)

    found = small_sums.read(tmp_path)

    assert [(one.warmup, ends.losses, ends.bleu) for one, ends in found.items()] == [
        (1333, [8.5], [1.0]),
        (0, [9.0], [2.0]),
        (1333, [8.0], [3.0]),
    ]
    half, one, other = (one.total for one in found)
    assert one == other == pytest.approx(2 * half, rel=2e-3) == 0.135


def test_each_reading_of_no_warm_up_stands_by_its_sum_of_rates_before_the_warm_up(tmp_path: Path) -> None:
    of_both = {study: tmp_path / study / "translation" for study in ("iwslt14-50k-cpu", "confounds")}
    end(of_both["iwslt14-50k-cpu"], "post-adam-lr5e-4-wu1333-hold1333-s1", 6.0)
    end(of_both["iwslt14-50k-cpu"], "post-adam-lr5e-4-wu0-hold1333-s1", 11.0)
    end(of_both["confounds"], "post-adam-lr5e-4-wu0-shift1333-s1", 9.0)
    end(of_both["confounds"], "post-adam-lr5e-4-wu0-s1", 8.0)
    # Neither a warm-up of another length nor a part of a run is a reading.
    end(of_both["confounds"], "post-adam-lr5e-4-wu167-hold1333-s1", 7.0)
    end(of_both["confounds"], "post-adam-lr5e-4-wu1333-epochs4-accumulate4-s1", 5.0)

    found = readings.read(tmp_path)

    assert [(one.anchor, one.warmup, ends.losses) for one, ends in found.items()] == [
        ("warmup", 0, [8.0]),
        ("shift", 0, [9.0]),
        ("hold", 0, [11.0]),
        ("hold", 1333, [6.0]),
    ]
    _, shift, hold, warmed_up = (one.total for one in found)
    # Integrals in place of the sums.
    assert shift == pytest.approx(2 * 1333 * ((1 + 4653 / 1333) ** 0.5 - 1), rel=2e-3)
    assert warmed_up == pytest.approx(1333 / 2 + 2 * 1333 * ((4653 / 1333) ** 0.5 - 1), rel=2e-3)
    assert hold == pytest.approx(warmed_up + 1333 / 2, rel=2e-3)


def test_each_placement_is_read_with_its_own_schedule_and_with_the_others(tmp_path: Path) -> None:
    own, others = (tmp_path / study / "translation" for study in ("iwslt14-50k-cpu", "confounds"))
    end(own, "post-adam-lr5e-4-wu1333-hold1333-s1", 7.0)
    end(own, "post-adam-lr5e-4-wu1333-hold1333-s3", 7.2)
    end(own, "pre-adam-lr5e-4-const-drop2-s1", 6.0)
    end(own, "pre-adam-lr1e-3-const-drop2-s1", 1.0)
    end(own, "post-adam-lr5e-4-wu0-hold1333-s1", 1.0)
    end(others, "pre-adam-lr5e-4-wu1333-s2", 6.5)
    end(others, "post-adam-lr5e-4-const-wu1333-drop2-s2", 6.8)
    end(others, "post-adam-lr4.527e-5-wu1333-s1", 1.0)
    end(others, "post-adam-lr5e-4-wu1333-epochs4-accumulate4-s1", 1.0)
    end(others, "pre-adam-lr5e-4-const-epochs2-accumulate4-s1", 1.0)

    found = schedules.read(tmp_path)

    assert {(one.placement, one.schedule): ends.losses for one, ends in found.items()} == {
        ("post", "inverse-sqrt"): [7.0, 7.2],
        ("pre", "constant"): [6.0],
        ("pre", "inverse-sqrt"): [6.5],
        ("post", "constant"): [6.8],
    }


def test_pre_ln_at_the_higher_rate_is_read_after_two_epochs_by_its_drop(tmp_path: Path) -> None:
    ours, early = (tmp_path / study / "translation" for study in ("iwslt14-50k-cpu", "confounds"))
    trained(ours / "pre-adam-lr1e-3-const-drop2-s1", [7.7, 6.9, 6.5])
    for run, losses in {
        "pre-adam-lr1e-3-const-drop1-epochs2-s1": [7.6, 7.2],
        "pre-adam-lr1e-3-const-drop1-epochs2-s3": [7.7, 7.4],
        "pre-adam-lr5e-4-wu1333-s1": [3.0, 2.0, 1.0],
        "pre-adam-lr1e-3-linear4653-s1": [3.0, 2.0, 1.0],
        "pre-adam-lr1e-3-const-epochs2-accumulate4-s1": [2.0, 1.0],
    }.items():
        trained(early / run, losses)

    found = early_drop.read(tmp_path)

    assert {epoch: ends.losses for epoch, ends in found.items()} == {1: [7.2, 7.4], 2: [6.9]}


@pytest.mark.parametrize(
    ("higher", "found"), [(7.04, "the cause"), (6.5, "the cause"), (7.09, "a cause in part"), (7.2, "no cause")]
)
def test_the_batch_is_why_the_higher_rate_is_worse_if_it_is_not_with_four_batches(higher: float, found: str) -> None:
    ours = [7.4, 7.5, 7.6], [7.6, 7.7, 7.8]
    larger = [6.9, 7.0, 7.1], [higher - 0.1, higher, higher + 0.1]

    assert pre_rates.answer(ours, larger) == [f"the batch is {found}"]


def test_pre_lns_rates_are_read_before_the_rate_drops(tmp_path: Path) -> None:
    ours, others = (tmp_path / study / "translation" for study in ("iwslt14-50k-cpu", "confounds"))
    for folder, losses in {
        ours / "pre-adam-lr5e-4-const-drop2-s1": [7.4, 6.5, 6.2],
        # Its seeds are read where the rate drops after the first epoch.
        ours / "pre-adam-lr1e-3-const-drop2-s1": [1.0, 1.0, 1.0],
        others / "pre-adam-lr1e-3-const-drop1-epochs2-s1": [7.6, 7.2],
        others / "pre-adam-lr5e-4-const-epochs2-accumulate4-s2": [9.0, 7.9],
        others / "pre-adam-lr1e-3-const-epochs2-accumulate4-s2": [8.8, 7.8],
        others / "pre-adam-lr5e-4-wu1333-s1": [1.0, 1.0, 1.0],
    }.items():
        trained(folder, losses)

    found = pre_rates.read(tmp_path)

    assert {(one.batches, one.learning_rate): ends.losses for one, ends in found.items()} == {
        (1, 5e-4): [7.4],
        (1, 1e-3): [7.6],
        (4, 5e-4): [7.9],
        (4, 1e-3): [7.8],
    }


def test_radam_in_pre_ln_stands_beside_adam_with_each_schedule(tmp_path: Path) -> None:
    ours, others = (tmp_path / study / "translation" for study in ("iwslt14-50k-cpu", "confounds"))
    end(ours, "pre-radam-lr1e-3-linear4653-s1", 6.2)
    end(ours, "pre-adam-lr1e-3-const-drop2-s1", 6.5)
    end(ours, "pre-adam-lr5e-4-const-drop2-s1", 6.1)
    end(ours, "pre-radam-lr5e-4-linear4653-s1", 6.0)
    end(others, "pre-adam-lr5e-4-wu1333-s1", 1.0)
    end(others, "pre-adam-lr1e-3-linear4653-s1", 6.3)
    end(others, "pre-adam-lr1e-3-linear4653-wu100-s1", 6.4)
    end(others, "pre-adam-lr1e-3-const-drop1-epochs2-s1", 1.0)
    end(others, "pre-adam-lr5e-4-linear4653-epochs2-s1", 6.7)

    found = radam_in_pre.read(tmp_path)

    assert {one: ends.losses for one, ends in found.items()} == {
        radam_in_pre.RADAM: [6.2],
        radam_in_pre.WITH_ITS_OWN_SCHEDULE: [6.5],
        radam_in_pre.WITH_ITS_SCHEDULE: [6.3],
        radam_in_pre.WITH_A_WARMUP: [6.4],
        radam_in_pre.RADAM_AT_THE_PAPERS: [6.0],
        radam_in_pre.ADAM_AT_THE_PAPERS: [6.1],
        radam_in_pre.WITH_ITS_SCHEDULE_AT_THE_PAPERS: [6.7],
    }


@pytest.mark.parametrize(("adam", "word"), [(6.34, "the"), (6.06, "the"), (6.4, "no")])
@pytest.mark.parametrize(
    ("run", "what"),
    [(radam_in_pre.WITH_ITS_SCHEDULE, "the schedule"), (radam_in_pre.WITH_A_WARMUP, "RAdam's own warm-up")],
)
def test_what_adam_has_of_radam_is_the_cause_in_pre_ln_if_it_ends_as_radam_with_it(
    run: radam_in_pre.InPre, what: str, adam: float, word: str
) -> None:
    ends = {radam_in_pre.RADAM: of_seeds(6.2), run: of_seeds(adam)}

    assert radam_in_pre.answer(ends) == [f"at 1e-3, {what} is {word} cause"]


@pytest.mark.parametrize(
    ("radam", "swapped", "found"),
    [
        ([6.8, 6.8], [6.7, 6.7], ["at 5e-4, the schedule is the cause"]),
        ([6.8, 6.8, 9.0], [6.9, 6.9], ["at 5e-4, the schedule is the cause"]),
        ([6.8, 6.8], [6.6, 6.6], ["at 5e-4, the schedule is no cause"]),
        ([6.6, 6.6], [6.6, 6.6], []),
    ],
)
def test_the_schedule_is_why_radam_differs_at_5e_4_if_adam_with_it_does_too(
    radam: list[float], swapped: list[float], found: list[str]
) -> None:
    ends = {
        radam_in_pre.RADAM_AT_THE_PAPERS: of_seeds(*radam),
        radam_in_pre.ADAM_AT_THE_PAPERS: of_seeds(*[6.5] * len(radam)),
        radam_in_pre.WITH_ITS_SCHEDULE_AT_THE_PAPERS: of_seeds(*swapped),
    }

    assert radam_in_pre.at_the_papers_rate(ends) == found


def test_nothing_is_said_of_the_schedule_at_5e_4_before_adam_is_trained_with_it() -> None:
    ends = {
        radam_in_pre.RADAM_AT_THE_PAPERS: of_seeds(6.8, 6.8),
        radam_in_pre.ADAM_AT_THE_PAPERS: of_seeds(6.5, 6.5),
    }

    assert radam_in_pre.at_the_papers_rate(ends) == []


def test_the_bounds_that_answers_share_with_the_ledger_are_the_ledgers() -> None:
    of_claims: dict[str, Any] = {claim.id: claim.tests for claim in reference.load().claims}
    no_worse, faster = of_claims["C13"][0], of_claims["C14"][0]
    in_post, in_pre = of_claims["C15"]

    without, behind_adam, gain = of_claims["C11"]
    ahead, fixed_gain, _ = of_claims["C12"]

    assert of_claims["C7"][2].high == bounds.C7_KEPT
    assert (without.low, behind_adam.low, gain.low) == (bounds.C11_BEHIND, bounds.C11_BEHIND, bounds.C11_GAIN)
    assert (ahead.high, fixed_gain.low) == (-bounds.C12_AHEAD, bounds.C12_GAIN)
    assert (no_worse.settled, no_worse.high) == (bounds.C13_AT_REST, bounds.C13_NO_WORSE)
    assert faster.high == bounds.C14_BEHIND
    assert in_post.low == bounds.C15_SHARE
    assert (in_pre.low, in_pre.high) == (-bounds.C15_IN_PRE, bounds.C15_IN_PRE)


def test_runs_are_compared_seed_by_seed_whichever_seeds_each_has() -> None:
    one = Ends([6.0, 7.0, 7.5], [], [1, 2, 3])
    other = Ends([7.25, 6.75, 1.0], [], [3, 2, 4])

    assert differences(one, other) == [0.25, 0.25]


def test_the_control_stands_beside_post_ln_with_a_held_peak(tmp_path: Path) -> None:
    ours, others = (tmp_path / study / "translation" for study in ("iwslt14-50k-cpu", "confounds"))
    end(ours, "post-adam-lr5e-4-wu1333-hold1333-s1", 6.7)
    end(ours, "post-adam-lr5e-4-wu0-hold1333-s1", 11.0)
    end(ours, "post-adam-lr5e-4-wu167-hold1333-s1", 1.0)
    end(ours, "post-adam-lr1e-3-wu0-hold1333-s1", 1.0)
    end(others, "post-adam-lr5e-4-wu0-s1", 1.0)
    end(others, "post-init-adam-lr5e-4-wu0-hold1333-s2", 7.0)

    found = control.read(tmp_path)

    assert {(one.placement, one.warmup): ends.losses for one, ends in found.items()} == {
        ("post", 1333): [6.7],
        ("post", 0): [11.0],
        ("post-init", 0): [7.0],
    }


def test_the_first_epoch_is_read_after_three_of_ours_also_of_the_run_that_goes_on(tmp_path: Path) -> None:
    runs = tmp_path / "paper-epoch" / "translation"
    end(runs, "post-adam-lr5e-4-wu4000-epochs12-s1", 6.0)
    losses = {"post-adam-lr5e-4-wu4000-epochs12-s1": [9.0, 8.5, 8.0, 7.5]}
    for seed in (1, 2):
        end(runs, f"post-radam-lr5e-4-linear16500-s{seed}", 8.0 + seed)
        losses[f"post-radam-lr5e-4-linear16500-s{seed}"] = [9.9, 9.5, 8.0 + seed]
    for run, its in losses.items():
        curve(runs / run, its)

    found = first_epoch.read(tmp_path)

    assert {(one.optimizer, one.warmup): ends.losses for one, ends in found.items()} == {
        ("adam", 4000): [8.0],
        ("radam", 0): [9.0, 10.0],
    }


def test_a_run_that_diverges_within_the_first_epoch_has_learned_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "paper-epoch" / "translation" / "post-adam-lr5e-4-wu0-hold4000-s1"
    folder.mkdir(parents=True)
    (folder / "metrics.json").write_text(json.dumps({"diverged": {"update": 500}, "final": {}}), encoding="utf-8")
    (folder / "curve.csv").write_text("epoch,valid_loss,test_bleu\n1,12.0,0.0", encoding="utf-8")

    (found,) = first_epoch.read(tmp_path).values()

    assert (found.losses, found.bleu) == ([math.inf], [0.0])


@pytest.mark.parametrize(
    ("long", "found"),
    [
        ([0.0, 0.01, -0.01], "the cause"),
        ([0.1, 0.1, 0.11], "a cause in part"),
        ([0.4, 0.5, 0.45], "no cause"),
        ([-0.3, 0.3, 0.0], "a cause in part"),
    ],
)
def test_too_few_updates_are_why_pre_ln_is_behind_if_it_is_not_with_more(long: list[float], found: str) -> None:
    assert low_rate.answer([0.5, 0.6, 0.55], long) == [f"too few updates are {found}"]
    assert low_rate.answer([0.5, 0.6, 0.55], long[:2]) == []


def test_the_low_rate_is_read_of_pre_ln_after_six_epochs_and_of_post_ln_after_ten(tmp_path: Path) -> None:
    runs = tmp_path / "small-causes" / "translation"
    for seed in (1, 2, 3):
        trained(runs / f"pre-adam-lr3e-4-const-s{seed}", [9.0, 8.0, 7.0, 6.0, 5.5, 5.0 + seed, 4.0, 3.0, 2.0, 1.0])
        trained(runs / f"post-adam-lr3e-4-const-wu180-s{seed}", [9.0] * 9 + [5.5 + seed])

    told = low_rate.table(tmp_path)

    assert "| Pre-LN, no warm-up | 1 | 9.00, 9.00, 9.00 |" in told
    assert "| Post-LN, warm-up of 180 updates | 2 | 9.00, 9.00, 9.00 |" in told
    assert "| Pre-LN, no warm-up | 6 | 6.00, 7.00, 8.00 |" in told
    assert "| Post-LN, warm-up of 180 updates | 10 | 6.50, 7.50, 8.50 |" in told
    assert "too few updates are the cause" in told


@pytest.mark.parametrize(
    ("answer", "what"),
    [(warmup_of_post.answer, "the short warm-up"), (drop_of_pre.answer, "the missing drop")],
)
@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ([0.0, 0.01, -0.01], "the cause"),
        ([0.5, 0.5, 0.49], "a cause in part"),
        ([0.5, 0.5, 0.53], "no cause"),
    ],
)
def test_what_was_changed_is_why_pre_ln_is_behind_if_it_is_not_with_the_change(
    changed: list[float], found: str, answer: Callable[[Sequence[float], Sequence[float]], list[str]], what: str
) -> None:
    assert answer([1.0, 1.0, 1.0], changed) == [f"{what} is {found}"]
    assert answer([1.0, 1.0, 1.0], changed[:2]) == []


def test_pre_ln_after_six_epochs_stands_beside_post_ln_with_both_warm_ups(tmp_path: Path) -> None:
    runs = tmp_path / "small-causes" / "translation"
    for seed in (1, 2, 3):
        trained(runs / f"pre-adam-lr3e-4-const-s{seed}", [9.0] * 5 + [6.0] + [1.0] * 4)
        trained(runs / f"post-adam-lr3e-4-const-wu180-s{seed}", [9.0] * 9 + [5.0])
        trained(runs / f"post-adam-lr3e-4-const-wu705-s{seed}", [9.0] * 9 + [6.5])

    told = warmup_of_post.table(tmp_path)

    assert "| Pre-LN | none | 6 | 6.00, 6.00, 6.00 |" in told
    assert "| Post-LN | 180 updates | 10 | 5.00, 5.00, 5.00 |" in told
    assert "| Post-LN | 705 updates | 10 | 6.50, 6.50, 6.50 |" in told
    assert "the short warm-up is the cause" in told
    # The question before this one reads the short warm-up alone.
    assert small_causes.behind(tmp_path, small_causes.LONG) == [1.0, 1.0, 1.0]


def test_pre_ln_whose_rate_drops_stands_beside_pre_ln_whose_rate_does_not(tmp_path: Path) -> None:
    runs = tmp_path / "small-causes" / "translation"
    for seed in (1, 2, 3):
        trained(runs / f"pre-adam-lr3e-4-const-s{seed}", [9.0] * 5 + [6.0] + [1.0] * 4)
        trained(runs / f"pre-adam-lr3e-4-const-drop5-s{seed}", [9.0] * 5 + [5.4] + [1.0] * 4)
        trained(runs / f"post-adam-lr3e-4-const-wu180-s{seed}", [9.0] * 9 + [5.0])

    told = drop_of_pre.table(tmp_path)

    assert "| Pre-LN | constant | 6 | 6.00, 6.00, 6.00 |" in told
    assert "| Pre-LN | constant, ×0.1 after epoch 5 | 6 | 5.40, 5.40, 5.40 |" in told
    assert "| Post-LN | constant, after a warm-up of 180 updates | 10 | 5.00, 5.00, 5.00 |" in told
    assert "the missing drop is a cause in part" in told
    # The questions before this one read the constant rate alone.
    assert small_causes.behind(tmp_path, small_causes.LONG) == [1.0, 1.0, 1.0]


def test_on_the_map_pre_ln_after_one_epoch_stands_beside_post_ln_after_two(tmp_path: Path) -> None:
    runs = tmp_path / "failure-map" / "translation"
    for seed, loss in ((1, 7.0), (2, 7.2)):
        trained(runs / f"pre-adam-lr3e-4-const-s{seed}", [loss, 1.0])
        trained(runs / f"pre-adam-lr3e-4-const-wu560-s{seed}", [1.0, 1.0])
        trained(runs / f"post-adam-lr3e-4-const-s{seed}", [1.0, 1.0])
        trained(runs / f"post-adam-lr3e-4-const-wu560-s{seed}", [1.0, 6.5])
        trained(runs / f"post-adam-lr0.03-const-wu560-s{seed}", [1.0, 1.0])
        trained(runs / f"pre-adam-lr0.03-const-s{seed}", [1.0, 1.0])

    found = warmup_of_post.behind_on_the_map(tmp_path)

    assert found == {(3e-4, 560): [pytest.approx(0.5), pytest.approx(0.7)]}


@pytest.mark.parametrize(
    ("benchs", "papers", "found"),
    [
        ((-0.09, 0.09), (-0.2, 0.2), "chance is the cause"),
        ((-0.19, -0.11), (-0.09, 0.09), "the depths are the cause"),
        ((-0.19, -0.05), (-0.09, 0.09), "neither is shown"),
        ((-0.19, -0.11), (-0.2, 0.05), "neither is shown"),
    ],
)
def test_the_depths_are_a_cause_if_the_papers_have_no_exponent_and_the_benchs_have(
    benchs: tuple[float, float], papers: tuple[float, float], found: str
) -> None:
    both = (Estimate((low + high) / 2, low, high, 7) for low, high in (benchs, papers))

    assert depth_of_gradient.answer(Exponents(*both)) == [found]


def test_the_depths_are_read_of_the_seeds_that_the_bench_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, parts = small_study(depths=(6, 8, 10, 12, 14, 18), seeds=10)
    monkeypatch.setattr(depth_of_gradient, "study_of", lambda name: study)
    for part in parts:
        write_part(study, part, rows_of(part, seeds=10), tmp_path)

    found = depth_of_gradient.read(tmp_path)

    # The made-up gradient doubles with each layer, and a seed's factor does not change an exponent.
    for depths, read in (((6, 12, 18), found["post"].benchs), ((6, 8, 10, 12, 14), found["post"].papers)):
        slope, _ = np.polyfit(np.log(depths), np.multiply(depths, math.log(2)), 1)
        assert read.n == 7
        assert read.mean == pytest.approx(slope)


def test_nothing_is_said_of_the_depths_before_all_are_measured(tmp_path: Path) -> None:
    assert depth_of_gradient.read(tmp_path) == {}
    assert "runs that the rule reads are not made" in depth_of_gradient.table(tmp_path)


def test_a_run_that_ends_before_an_epoch_says_nothing_of_it(tmp_path: Path) -> None:
    runs = tmp_path / "paper-epoch" / "translation"
    trained(runs / "post-adam-lr5e-4-wu0-hold4000-s1", [9.9, 10.0, 10.2])
    trained(runs / "pre-adam-lr5e-4-const-epochs12-s1", [8.0, 7.0, 6.5, 6.0, 5.8, 5.5, 5.4, 5.3, 5.2, 5.1, 5.0, 4.9])

    found = first_epoch.read(tmp_path, papers_epoch=4)

    assert {one.placement: ends.losses for one, ends in found.items()} == {"pre": [4.9]}


@pytest.mark.parametrize(
    ("radam", "swapped", "found"),
    [
        (2.6, 9.0, "chance is the cause"),
        (3.1, 3.2, "the schedule is the cause"),
        (3.5, 3.1, "the schedule is a cause in part"),
        (3.5, 2.6, "the schedule is no cause"),
        (3.5, 2.2, "the schedule is no cause"),
    ],
)
def test_the_schedule_is_why_radam_is_behind_if_adam_is_too_with_it(radam: float, swapped: float, found: str) -> None:
    losses = {quick_radam.ADAM: [2.5] * 3, quick_radam.RADAM: [radam] * 3, quick_radam.SWAPPED: [swapped] * 3}

    assert quick_radam.answer(losses) == [found]
    assert quick_radam.answer({**losses, quick_radam.SWAPPED: [swapped] * 2}) == []


def test_the_runs_on_the_text_of_quick_are_read_by_optimizer_and_schedule(tmp_path: Path) -> None:
    names = {
        run.settings.optimizer + run.settings.schedule: run.id
        for run in expand(study_of("small-causes"))
        if (run.settings.corpus, run.settings.placement) == ("quick", "pre")
    }
    for number, name in enumerate(sorted(names)):
        end(tmp_path / "small-causes" / "translation", names[name], 1.0 + number)
    for name in ("pre-adam-lr3e-4-const-s1", "post-adam-lr5e-4-const-epochs3-batchtokens768-quick-s1"):
        end(tmp_path / "small-causes" / "translation", name, 9.0)

    found = quick_radam.read(tmp_path)

    assert {one: ends.losses for one, ends in found.items()} == {
        quick_radam.ADAM: [1.0],
        quick_radam.SWAPPED: [2.0],
        quick_radam.RADAM: [3.0],
    }


@pytest.mark.parametrize(("radam_has", "found"), [([8.1], ["β2 is the cause"]), ([8.2], ["β2 is no cause"]), ([], [])])
def test_beta2_is_the_cause_in_the_small_study_if_half_of_the_gap_is_closed(
    radam_has: list[float], found: list[str]
) -> None:
    losses = {small_radam.DECAYING: [9.0], small_radam.RADAM: [9.1], small_radam.WARMED_UP: [7.3]}

    assert small_radam.answer({**losses, small_radam.WITH_LONG_BETA2: radam_has}) == found


def test_the_runs_of_the_small_study_are_read_at_one_rate_by_optimizer_and_beta2(tmp_path: Path) -> None:
    names = ["adam-lr2e-3-wu0", "radam-lr2e-3-linear3602", "radam-lr2e-3-linear3602-beta20.999", "adam-lr4e-3-wu0"]
    for number, name in enumerate(names):
        end(tmp_path / "iwslt14-cpu" / "translation", f"post-{name}-s1", 1.0 + number)
    end(tmp_path / "iwslt14-cpu" / "translation", "pre-radam-lr2e-3-linear3602-s1", 9.0)

    found = small_radam.read(tmp_path)

    assert {one: ends.losses for one, ends in found.items()} == {
        small_radam.DECAYING: [1.0],
        small_radam.RADAM: [2.0],
        small_radam.WITH_LONG_BETA2: [3.0],
    }


def test_the_runs_that_two_claims_compare_are_read_by_seeds(tmp_path: Path) -> None:
    of_quick = {run.id: run.settings for run in expand(study_of("small-causes")) if run.settings.corpus == "quick"}
    for name, its in of_quick.items():
        end(tmp_path / "small-causes" / "translation", name, float(its.seed) if its.placement == "post" else 9.0)

    found = quick_seeds.read(tmp_path)

    asked = [*quick_seeds.COMPARED, quick_seeds.LONGER, quick_seeds.LONGER_WARMED_UP]
    assert {one: ends.losses for one, ends in found.items()} == {one: [1.0, 2.0, 3.0] for one in asked}


def of_quick(**losses: list[float]) -> dict[quick_seeds.OfPost, Ends]:
    """The runs that C11 and C12 compare, with three seeds each, where both hold; with other losses of some."""
    held = {
        quick_seeds.SGD: [8.3, 8.2, 8.3],
        quick_seeds.SGD_WARMED_UP: [7.0, 7.1, 7.0],
        quick_seeds.ADAM: [9.0, 8.9, 9.0],
        quick_seeds.ADAM_WARMED_UP: [3.0, 3.1, 3.0],
        quick_seeds.FIXED: [5.0, 5.1, 5.0],
    }
    held |= {getattr(quick_seeds, name): values for name, values in losses.items()}
    return {one: Ends(values, seeds=[*range(1, len(values) + 1)]) for one, values in held.items()}


@pytest.mark.parametrize(
    ("losses", "found"),
    [
        ({}, ["C11 is reproduced", "C12 is reproduced"]),
        ({"SGD_WARMED_UP": [8.3, 8.1, 7.0]}, ["C11 is inconclusive", "C12 is reproduced"]),
        ({"SGD_WARMED_UP": [8.3, 8.2, 8.3]}, ["C11 is reproduced in part", "C12 is reproduced"]),
        ({"FIXED": [8.8, 8.7, 8.8]}, ["C11 is reproduced", "C12 is reproduced in part"]),
        ({"ADAM_WARMED_UP": [5.2, 5.3, 5.2]}, ["C11 is reproduced", "C12 is reproduced in part"]),
        ({"FIXED": [5.0, 5.1]}, []),
    ],
    ids=["all hold", "one seed of SGD learns", "SGD never learns", "the rate fails", "the rate ends lower", "a seed"],
)
def test_two_claims_are_judged_over_three_seeds(losses: dict[str, list[float]], found: list[str]) -> None:
    assert quick_seeds.answer(of_quick(**losses)) == found


@pytest.mark.parametrize(
    ("without", "warmed_up", "found"),
    [
        ([8.3, 8.3, 8.3], [7.9, 7.8, 7.0], ["SGD lacked updates"]),
        ([8.3, 8.3, 8.3], [7.9, 8.0, 7.0], ["that SGD lacked updates is not shown"]),
        ([8.3, 8.3, 7.1], [7.9, 7.8, 7.0], ["that SGD lacked updates is not shown"]),
        ([8.3, 8.3], [7.9, 7.8], []),
    ],
    ids=["every seed", "one seed has not learned", "one seed is as good without", "two seeds"],
)
def test_sgd_lacked_updates_if_every_seed_needs_the_warm_up_and_learns_with_it(
    without: list[float], warmed_up: list[float], found: list[str]
) -> None:
    assert quick_seeds.of_longer(of_quick(LONGER=without, LONGER_WARMED_UP=warmed_up)) == found


def test_whole_trainings_are_read_after_nine_epochs_at_their_lowest_loss_and_at_their_end(tmp_path: Path) -> None:
    runs = tmp_path / whole_trainings.STUDY / "translation"
    falls = [9.0, 8.0, 7.0, 6.5, 6.0, 5.8, 5.6, 5.4, 5.2, 5.1, 5.0, 4.9, 4.8, 4.95, 5.05]
    for run, lower in (("pre-adam-lr5e-4-const-drop8-s1", 0.0), ("post-radam-lr5e-4-linear5415-beta20.999-s2", 0.5)):
        losses = [loss + lower for loss in falls]
        trained(runs / run, losses)
        metrics = json.loads((runs / run / "metrics.json").read_text(encoding="utf-8"))
        best = {"valid_loss": min(losses), "test_bleu": 20.0}
        (runs / run / "metrics.json").write_text(json.dumps({**metrics, "best": best}), encoding="utf-8")

    told = whole_trainings.table(tmp_path)

    rows = [line.split(" | ") for line in told.splitlines() if "-LN" in line]
    assert [(name.strip("| "), early, lowest, end) for name, early, _, lowest, end, _ in rows] == [
        ("Pre-LN, Adam, no warm-up", "5.20", "4.80", "5.05"),
        ("Post-LN, RAdam, β2 = 0.999", "5.70", "5.30", "5.55"),
    ]
    assert "runs that the rule reads are not made" in told


def test_the_lowest_loss_of_a_run_that_diverged_is_that_of_its_end(tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text(json.dumps({"diverged": {"update": 500}, "best": None}), encoding="utf-8")

    assert lowest_of(tmp_path)["valid_loss"] == math.inf


@pytest.mark.parametrize(
    ("pre_at_12", "pre_lowest", "found"),
    [(5.0, 4.9, []), (5.2, 5.1, ["Pre-LN ends no worse"]), (5.2, 5.2, ["Pre-LN ends worse"])],
)
def test_the_lowest_losses_are_compared_where_a_loss_is_not_at_rest(
    pre_at_12: float, pre_lowest: float, found: list[str]
) -> None:
    pre, post = whole_trainings.PRE, whole_trainings.POST
    last = {pre: [5.0] * 3, post: [5.0] * 3}
    before = {pre: [pre_at_12] * 3, post: [5.0] * 3}
    lowest = {pre: [pre_lowest] * 3, post: [5.0] * 3}

    assert whole_trainings.where_it_ends(before, lowest, last) == found


@pytest.mark.parametrize(
    ("placement", "before", "ends", "is_asked"),
    [
        # One seed that moves is enough, whatever the mean does, and whether it falls or rises.
        (whole_trainings.PRE, [5.2, 5.0, 5.0], [5.0] * 3, True),
        (whole_trainings.PRE, [4.8, 5.0, 5.0], [5.0] * 3, True),
        (whole_trainings.POST, [5.2, 5.0, 5.0], [5.0] * 3, True),
        (whole_trainings.POST, [5.1, 5.1, 4.9], [5.0] * 3, False),
        (whole_trainings.POST, [5.0] * 3, [5.0, 5.0, math.inf], False),
    ],
)
def test_a_loss_is_at_rest_if_no_seed_changes_by_more_than_c13_allows(
    placement: whole_trainings.Whole, before: list[float], ends: list[float], is_asked: bool
) -> None:
    at_rest = {whole_trainings.PRE: [5.0] * 3, whole_trainings.POST: [5.0] * 3}

    said = whole_trainings.where_it_ends({**at_rest, placement: before}, at_rest, {**at_rest, placement: ends})

    assert said == (["Pre-LN ends no worse"] if is_asked else [])


@pytest.mark.parametrize(
    ("short", "long", "found"),
    [
        ([10.0] * 3, [6.0] * 3, "β2 decides to the end"),
        ([7.4] * 3, [6.0] * 3, "β2 only delays it"),
        ([10.0, 10.0, 6.0], [6.0] * 3, "what β2 does is not told"),
        ([10.0] * 3, [6.0, 6.0, 8.0], "what β2 does is not told"),
    ],
)
def test_beta2_decides_if_every_seed_closes_half_of_the_gap_with_the_one_and_none_with_the_other(
    short: list[float], long: list[float], found: str
) -> None:
    last = {
        whole_trainings.WITHOUT: [10.0] * 3,
        whole_trainings.POST: [5.0] * 3,
        whole_trainings.RADAM: short,
        whole_trainings.RADAM_LONG: long,
    }

    assert whole_trainings.of_beta2(last) == [found]


@pytest.mark.parametrize(
    ("without", "long", "found"),
    [
        # From where a run diverged, whatever is finite has gone the whole way.
        (math.inf, 6.0, "β2 decides to the end"),
        # There is no gap to close.
        (5.0, 4.0, "what β2 does is not told"),
        (4.9, 4.0, "what β2 does is not told"),
    ],
)
def test_the_share_of_the_gap_is_that_of_the_ledger(without: float, long: float, found: str) -> None:
    last = {
        whole_trainings.WITHOUT: [without] * 3,
        whole_trainings.POST: [5.0] * 3,
        whole_trainings.RADAM: [math.inf] * 3,
        whole_trainings.RADAM_LONG: [long] * 3,
    }

    assert whole_trainings.of_beta2(last) == [found]


@pytest.mark.parametrize(("radam", "word"), [(5.1, "no"), (5.2, "a"), (4.8, "a")])
def test_radam_makes_a_difference_to_pre_ln_if_the_means_differ_by_more_than_c15_allows(
    radam: float, word: str
) -> None:
    last = {whole_trainings.PRE: [5.0] * 3, whole_trainings.PRE_RADAM: [radam] * 3}

    assert whole_trainings.of_pre(last) == [f"RAdam makes {word} difference to Pre-LN"]


@pytest.mark.parametrize("lacks", whole_trainings.MODELS.values(), ids=whole_trainings.MODELS)
def test_nothing_is_said_of_whole_trainings_that_lack_a_seed(lacks: whole_trainings.Whole) -> None:
    last = {**{one: [5.0] * 3 for one in whole_trainings.MODELS.values()}, lacks: [5.0] * 2}
    moving = {one: [6.0] * len(losses) for one, losses in last.items()}

    said = {
        "C13": whole_trainings.where_it_ends(moving, last, last),
        "β2": whole_trainings.of_beta2(last),
        "Pre-LN": whole_trainings.of_pre(last),
    }

    reads = {
        whole_trainings.PRE: {"C13", "Pre-LN"},
        whole_trainings.POST: {"C13", "β2"},
        whole_trainings.PRE_RADAM: {"Pre-LN"},
    }
    assert {what for what, found in said.items() if not found} == reads.get(lacks, {"β2"})
