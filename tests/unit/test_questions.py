"""The form of every question, how findings become a verdict, and how runs are chosen and compared."""

import datetime
import math
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.config import load
from preln.errors import PrelnError
from preln.questions import QUESTIONS, named
from preln.questions.base import AGAINST, FOR, Finding, Outcome, Question, Verdict, over_studies, verdict
from preln.questions.core import changes
from preln.questions.core.evidence import of_study
from preln.questions.core.series import (
    HIGHER,
    LONGEST,
    LOWER,
    NONE,
    SHORT,
    Sample,
    Series,
    after_epoch,
    compared,
    difference,
    gain,
    grouped,
    pairs,
    ratio,
    series,
    share,
    where,
)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda question: question.name)
def test_a_question_has_everything_that_its_readers_ask_for(question: Question) -> None:
    assert question.statement.endswith((".", "?", ".)"))
    assert question.source and question.published and len(question.rule) > 40
    assert question.quantities
    dates = [
        datetime.date.fromisoformat(date) for date in (question.written, *(dated.date for dated in question.changes))
    ]
    assert dates == sorted(dates)
    assert all(change.rule and change.why for change in question.changes)
    assert (question.kind == "own") == bool(question.reads)
    assert question.answer is None or question.kind == "own"


def test_a_question_finds_nothing_in_a_study_without_records(tmp_path: Path) -> None:
    evidence = of_study(load(Path("config/paper.yaml")), tmp_path)
    for name, question in QUESTIONS.items():
        answer = question.ask(evidence)
        assert (answer.findings, answer.verdict, answer.words) == ((), Verdict.NOT_TESTED, []), name


def test_a_question_has_one_label_by_which_it_is_found() -> None:
    assert changes.load().keys() <= QUESTIONS.keys()
    labels = [question.label for question in QUESTIONS.values()]
    assert len(labels) == len(set(labels))
    assert named("c9") is named("C9") is named("c09")
    with pytest.raises(PrelnError, match="no question C20.*C1, C2, .*, whole-trainings, widths$"):
        named("C20")


def finding(*values: float, low: float = 0.0, high: float = math.inf) -> Finding:
    return Finding("x.y", "a number", "", values, low, high)


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ((0.1, 5.0), Outcome.POINTS),
        ((0.1, 5.0, 0.2), Outcome.HOLDS),
        ((-0.1, -9.0), Outcome.OPPOSES),
        ((-0.1, -9.0, -0.2), Outcome.FAILS),
        ((-0.1, 9.0), Outcome.UNDECIDED),
        ((-0.1, 9.0, 9.0), Outcome.UNDECIDED),
        ((-0.1, *[9.0] * 20), Outcome.HOLDS),
        ((0.1, *[-9.0] * 20), Outcome.FAILS),
        ((9.0, 9.0, 9.0, math.nan), Outcome.UNDECIDED),
        ((math.inf, 9.0, 9.0), Outcome.HOLDS),
        ((), Outcome.UNDECIDED),
    ],
)
def test_every_seed_decides_and_the_interval_where_they_disagree(values: tuple[float, ...], outcome: Outcome) -> None:
    assert finding(*values).outcome is outcome


def test_seeds_on_both_sides_of_a_narrow_range_do_not_make_it_fail() -> None:
    assert finding(-0.3, 0.3, 0.4, low=-0.1, high=0.1).outcome is Outcome.UNDECIDED
    assert finding(0.3, 0.3, 0.4, low=-0.1, high=0.1).outcome is Outcome.FAILS


VALUES = st.lists(st.floats(-10, 10).map(lambda value: round(value, 3)), min_size=1, max_size=6)


@given(VALUES, st.floats(0.001, 10), st.booleans())
def test_a_seed_never_turns_a_verdict_to_the_other_side(values: list[float], size: float, meets: bool) -> None:
    one_side, other = (FOR, AGAINST) if meets else (AGAINST, FOR)
    before, after = finding(*values).outcome, finding(*values, size if meets else -size).outcome
    if before in one_side and len({value >= 0 for value in values}) == 1:
        certain, pointing = (Outcome.HOLDS, Outcome.POINTS) if meets else (Outcome.FAILS, Outcome.OPPOSES)
        assert after is (certain if len(values) >= 2 else pointing)
    assert not (before in {*one_side, Outcome.UNDECIDED} and after in other)


def test_a_ratio_is_averaged_on_the_log_scale() -> None:
    ratios = replace(finding(0.5, 2.0), ratio=True)
    assert ratios.estimate.mean == pytest.approx(1.0)
    assert finding(0.5, 2.0).estimate.mean == 1.25


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], Verdict.NOT_TESTED),
        (["holds", "holds"], Verdict.HOLDS),
        (["holds", "points that way"], Verdict.POINTS),
        (["points that way", "fails"], Verdict.IN_PART),
        (["holds", "points the other way"], Verdict.UNDECIDED),
        (["fails", "undecided"], Verdict.FAILS),
        (["points the other way"], Verdict.OPPOSES),
        (["holds", "undecided"], Verdict.UNDECIDED),
    ],
)
def test_a_claim_of_several_comparisons(outcomes: list[str], expected: Verdict) -> None:
    assert verdict(map(Outcome, outcomes)) is expected


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["not tested yet"], Verdict.NOT_TESTED),
        (["not testable at this size", "not tested yet"], Verdict.NOT_TESTABLE),
        (["holds", "points that way", "undecided"], Verdict.HOLDS),
        (["holds", "points the other way"], Verdict.IN_PART),
        (["points that way", "points the other way"], Verdict.UNDECIDED),
        (["points that way", "fails"], Verdict.IN_PART),
        (["fails", "undecided"], Verdict.FAILS),
    ],
)
def test_what_several_studies_say_together(verdicts: list[str], expected: Verdict) -> None:
    assert over_studies(map(Verdict, verdicts)) is expected


def run(seeds: dict[int, float], baseline: float = 10.0, **settings: object) -> Series:
    """A series that ends at the losses of its seeds, by four epochs that begin one bit above."""
    every = {"corpus": "iwslt14", "placement": "post", "warmup": 0, "learning_rate": 1e-3, "epochs": 4, **settings}
    samples = {
        seed: Sample(every, seed, (last + 1, last + 0.5, last + 0.2, last), (1, 2, 3, 4), baseline, epochs=4)
        for seed, last in seeds.items()
    }
    return Series(every, samples)


def test_samples_are_a_series_by_their_settings() -> None:
    samples = [Sample({"a": a}, seed, (1.0,)) for a in (1, 2) for seed in (1, 2)]
    assert [(run.settings, run.seeds) for run in series(samples)] == [({"a": 1}, [1, 2]), ({"a": 2}, [1, 2])]


def test_superlatives_are_among_the_runs_with_the_rest_on_the_same_text() -> None:
    lengths = ((0, "a"), (20, "a"), (60, "a"), (500, "b"))
    runs = [run({1: 5.0}, warmup=warmup, corpus=corpus) for warmup, corpus in lengths]
    for word, chosen in ((LONGEST, [60, 500]), (SHORT, [20]), (NONE, [0])):
        assert [run.settings["warmup"] for run in where(runs, warmup=word)] == chosen


def test_of_one_rate_none_is_higher_or_lower() -> None:
    low, high = run({1: 5.0}), run({1: 5.0}, learning_rate=2e-3)
    assert where([low], learning_rate=HIGHER) == where([low], learning_rate=LOWER) == []
    assert where([low, high], learning_rate=HIGHER) == [high]
    assert where([low, high], learning_rate=LOWER) == [low]


def test_a_run_is_compared_with_its_like_and_of_several_with_the_best_at_the_seeds_of_both() -> None:
    without = run({1: 9.0, 2: 9.0}, anchor="hold")
    near = run({1: 6.0, 3: 1.0}, warmup=60, anchor="hold")
    best = run({1: 5.0, 2: 6.0}, warmup=60, anchor="warmup")
    runs = [without, near, best, run({1: 2.0}, warmup=60, anchor="hold", corpus="wmt14")]
    ((name, chosen, alike),) = pairs(runs, {"warmup": NONE}, warmup=LONGEST)
    assert (name, chosen, alike) == ("peak rate 1e-3", without, near.of([1]))
    assert difference(without, alike).values == (3.0,)
    ((_, _, free),) = pairs(runs, {"warmup": NONE}, ("anchor",), warmup=LONGEST)
    assert free == best


def test_of_a_group_the_first_run_of_a_seed_counts_and_a_group_that_is_missing_gives_no_comparison() -> None:
    runs = run({1: 5.0}), run({1: 6.0, 2: 6.0}, anchor="hold")
    samples = [sample for of_settings in runs for sample in of_settings.samples.values()]
    groups = grouped(samples, itemgetter("placement"), {"corpus": "iwslt14"}, after_epoch(3))
    assert groups["post"].values == [5.2, 6.2]
    assert compared(gain, groups, "post") == gain(groups["post"])
    assert compared(difference, groups, "post", "pre") is None


def test_a_loss_counts_as_no_worse_than_the_unigram_baseline() -> None:
    failed, diverged, learned = run({1: 12.0}), run({1: math.inf}, warmup=1), run({1: 4.0}, warmup=60)
    assert difference(failed, learned).values == difference(diverged, learned).values == (6.0,)
    assert share(failed, diverged, learned).values == (0.0,)
    assert gain(failed).values == (-2.0,)


def test_a_comparison_decides_nothing_without_a_run_that_learned_a_gap_to_close_or_ends_at_rest() -> None:
    without, warmed_up = run({1: 5.0, 2: 12.0}), run({1: 6.0, 2: 10.0}, warmup=60)
    assert difference(without, warmed_up).undecided == "neither learns with seed 2"
    assert difference(without.of([1]), warmed_up).undecided == ""
    radam, without, warmed_up = run({1: 5.0}), run({1: 4.0}), run({1: 6.0})
    assert "no gap" in share(radam, without, warmed_up).undecided
    assert share(radam, warmed_up, without).values == (0.5,)
    without, warmed_up = run({1: 5.0}), run({1: 6.0}, warmup=60)
    assert "still changes" in difference(without, warmed_up, settled=0.15).undecided
    assert difference(without, warmed_up, settled=0.25).undecided == ""
    early, late, never = (Series({}, {1: Sample({}, 1, (updates,))}) for updates in (400, 600, math.inf))
    assert ratio(late, early).values == (1.5,)
    assert ratio(never, early).values == (math.inf,)
    assert ratio(never, never).undecided


def test_at_equal_rates_the_other_is_read_where_it_has_spent_as_much() -> None:
    def spending(sums: tuple[float, ...], warmup: int) -> Series:
        spender = run({1: 5.0}, warmup=warmup)
        return replace(spender, samples={1: replace(spender.samples[1], sums=sums)})

    slow, fast = spending((0.5, 1.0, 1.5, 2.5), 0), spending((1.0, 2.0, 3.0, 4.0), 60)
    assert difference(slow, fast, equal_rates=True).values == pytest.approx((5.0 - 5.35,))
    assert difference(fast, slow, equal_rates=True).values == (0.0,)
    early = spending((0.1, 0.2, 0.3, 0.5), 0)
    assert "before its first epoch" in difference(early, fast, equal_rates=True).undecided


def test_a_longer_run_is_read_after_as_many_epochs_as_the_other_has() -> None:
    long = run({1: 5.0})
    short = Series({**long.settings, "epochs": 2}, {1: Sample({}, 1, (7.0, 6.0), (), 10.0, epochs=2)})
    assert difference(long, short).values == (5.5 - 6.0,)
    assert difference(long, run({1: 5.0}), share=0.5).values == (0.5,)
