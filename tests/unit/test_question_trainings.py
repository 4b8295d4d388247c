"""The questions of our own about whole trainings, on made-up losses."""

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.config import RunSettings
from preln.questions import named
from preln.questions.annealing import COLD, DROP, INVERSE, SCHEDULES, WARMED
from preln.questions.base import Answer
from preln.questions.core.evidence import Evidence, Recorded
from preln.translation.report.records import Records
from tests.made_up.translation import small_study

BASELINE = 9.9
COMMON: dict[str, Any] = {
    **{"placement": "post", "optimizer": "adam", "learning_rate": 5e-4, "schedule": "inverse-sqrt"},
    **{"width": 256, "batch_tokens": 1024, "accumulate": 1, "epochs": 3, "seed": [1, 2, 3]},
}


def answer(
    question: str,
    loss: Callable[[RunSettings, int], float],
    *entries: dict[str, Any],
    updates: Callable[[RunSettings, int], int] = lambda settings, epoch: 1551 * epoch,
) -> Answer:
    """The answer for runs that have these losses after each epoch, infinite where they diverge, and have made these
    updates."""
    corpora = {name: {"source": "embedded", "vocabulary": 1024} for name in ("iwslt14", "embedded")}
    translation = {"settings": {"corpus": "iwslt14"}, "runs": [{**COMMON, **entry} for entry in entries]}
    study, runs = small_study(corpora=corpora, translation=translation)
    curves = [
        (run.id, epoch, updates(run.settings, epoch), loss(run.settings, epoch), 10.0)
        for run in runs
        for epoch in range(1, run.settings.epochs + 1)
        if all(math.isfinite(loss(run.settings, before)) for before in range(1, epoch + 1))
    ]
    summary = [(run.id, "finished", 1e6, run.settings.warmup, BASELINE) for run in runs]
    recorded = Recorded(study, Path())
    vars(recorded)["translation"] = Records(
        tuple(runs),
        pd.DataFrame(curves, columns=["run", "epoch", "updates", "valid_loss", "test_bleu"]),
        pd.DataFrame(summary, columns=["run", "status", "updates", "warmup", "constant_guess"]),
    )
    return named(question).ask(Evidence((recorded,)))


def outcomes(result: Answer) -> dict[str, str]:
    """The outcome of each quantity that has one finding."""
    return {finding.quantity.split(".", 1)[1]: finding.outcome for finding in result.findings}


@pytest.mark.parametrize(
    ("losses", "decides"),
    [
        # By placement and schedule: Post-LN's, then Pre-LN's, each with the inverse root and with the constant rate.
        ((7.0, 7.2, 6.0, 6.1), "the placement"),
        ((7.0, 6.4, 6.9, 6.3), "the schedule"),
        ((7.0, 6.5, 6.0, 6.2), "both"),
    ],
)
def test_schedules_compares_pre_lns_lead_with_what_the_schedule_makes(losses: tuple[float, ...], decides: str) -> None:
    cells = [(name, schedule) for name in ("post", "pre") for schedule in ("inverse-sqrt", "constant")]
    by_cell = dict(zip(cells, losses, strict=True))
    warmups = [(name, schedule, 0 if (name, schedule) == ("pre", "constant") else 1333) for name, schedule in cells]
    entries = [{"placement": name, "schedule": schedule, "warmup": warmup} for name, schedule, warmup in warmups]
    result = answer("schedules", lambda run, epoch: by_cell[run.placement, run.schedule] + 0.01 * run.seed, *entries)
    assert result.words == [decides]
    assert answer("schedules", lambda run, epoch: 7.0, *entries[:3]).findings == ()


@pytest.mark.parametrize(
    ("control", "warmed_up", "expected"),
    [
        (7.0, 6.8, {"learns": "holds", "behind": "holds"}),
        (7.0, 6.4, {"learns": "holds", "behind": "fails"}),
        (9.7, 6.8, {"learns": "fails", "behind": "fails"}),
    ],
)
def test_control_trains_if_it_learns_and_ends_near_the_warmed_up_post_ln(
    control: float, warmed_up: float, expected: dict[str, str]
) -> None:
    result = answer(
        "control",
        lambda run, epoch: warmed_up if run.warmup else control,
        {"anchor": "hold", "placement": "post", "warmup": 1333},
        {"anchor": "hold", "placement": "post-init", "warmup": 0},
        # The other reading of "no warm-up" is not asked.
        {"anchor": "warmup", "placement": "post-init", "warmup": 0},
    )
    assert outcomes(result) == expected


@pytest.mark.parametrize(("apart", "expected"), [(0.2, "holds"), (-0.2, "holds"), (1.0, "fails")])
def test_sums_of_rates_compares_runs_that_spend_as_much(apart: float, expected: str) -> None:
    # In peak rates: the inverse root from the first update on, and after 1,333 updates of a linear warm-up.
    updates = range(1, 4654)
    without = sum(update**-0.5 for update in updates)
    with_one = sum(min(update / 1333, (1333 / update) ** 0.5) for update in updates)
    assert (round(without), round(with_one)) == (135, 2982)
    result = answer(
        "sums-of-rates",
        lambda run, epoch: 8.0 if run.warmup else 8.0 + apart,
        {"warmup": 0},
        {"warmup": 1333, "learning_rate": 5e-4 * without / with_one},
        {"warmup": 1333},
    )
    (finding,) = result.findings
    assert finding.values == pytest.approx([apart] * 3)
    assert str(finding.outcome) == expected


def test_whole_trainings_reads_the_lowest_loss_and_how_much_radam_closes() -> None:
    ends = {("pre", "adam", 0): 4.4, ("post", "adam", 1333): 4.05, ("post", "adam", 0): 7.0, ("pre", "radam", 0): 4.5}

    def loss(run: RunSettings, epoch: int) -> float:
        if (run.placement, run.optimizer) == ("post", "radam"):
            return 5.0 if run.beta2 == 0.999 else 6.5
        # Pre-LN has its lowest loss before its end.
        is_lowest = (run.placement, run.optimizer, epoch) == ("pre", "adam", 9)
        return 4.1 if is_lowest else ends[run.placement, run.optimizer, run.warmup]

    whole = {"width": 512, "epochs": 15}
    result = answer(
        "whole-trainings",
        loss,
        {**whole, "placement": ["post", "pre"], "warmup": 0},
        {**whole, "warmup": 1333},
        {**whole, "placement": ["post", "pre"], "optimizer": "radam", "warmup": 0},
        {**whole, "optimizer": "radam", "beta2": 0.999, "warmup": 0},
    )
    parts = {
        "ends-no-worse": "holds",
        "closes-half-0.98": "fails",
        "closes-half-0.999": "holds",
        "radam-in-pre": "holds",
    }
    assert outcomes(result) == parts
    assert result.of("closes-half-0.999")[0].values == pytest.approx([2 / 2.95] * 3)


def test_radam_takes_for_a_cause_what_lowers_the_loss_alone() -> None:
    """Four batches help alone, as β2 does; the initialisation makes no difference, and Adam with four batches ends as
    RAdam does."""
    radam = {"optimizer": "radam", "warmup": 0, "schedule": "linear", "decay_updates": 4653}

    def loss(run: RunSettings, epoch: int) -> float:
        if run.width == 512:
            # After the first epoch of the paper, which is the third.
            return 9.0 - 0.1 * epoch
        return 7.0 if run.accumulate == 4 or run.beta2 == 0.999 else 8.0

    def updates(run: RunSettings, epoch: int) -> int:
        return 388 * epoch if run.accumulate == 4 else 1551 * epoch

    larger = {"accumulate": 4, "epochs": 4}
    result = answer(
        "radam",
        loss,
        radam,
        {**radam, "beta2": 0.999},
        {**radam, "initialisation": "xavier"},
        {**radam, **larger},
        {**radam, **larger, "initialisation": "xavier"},
        {**larger, "anchor": "hold", "warmup": 0},
        {**radam, **larger, "initialisation": "xavier", "width": 512, "decay_updates": 16500},
        updates=updates,
    )
    causes = {
        "batch": "holds",
        "initialisation": "fails",
        "beta2": "holds",
        "papers-side": "holds",
        "helps-adam": "fails",
    }
    assert {part: outcomes(result)[part] for part in causes} == causes
    assert (result.of("helps-adam")[0].values, result.of("at-size-0.98")[0].values) == ((0.0,) * 3, (8.7,) * 3)


WIDTHS = (64, 128, 256)
RATES = [2.0**step * 1e-4 for step in range(5)]


def of_widths(learns: Callable[[RunSettings], bool]) -> Answer:
    """The answer on the widths for runs of which these learn."""
    shared = {"corpus": "embedded", "schedule": "constant", "warmup": 0, "epochs": 2, "learning_rate": RATES}
    entries = [{**shared, "width": width} for width in WIDTHS]
    return answer("widths", lambda run, epoch: 5.0 if learns(run) else BASELINE - 0.1, *entries)


@pytest.mark.parametrize(
    ("limits", "law"),
    [
        ((8e-4, 4e-4, 2e-4), "the limit falls as 1/width, exponent -1.00"),
        ((4e-4, 4e-4, 4e-4), "the width does not matter, exponent 0.00"),
        ((4e-4, 4e-4, 2e-4), "it falls by another law, exponent -0.50"),
        ((1.6e-3, 8e-4, 4e-4), "not decided, a limit is at an end of its rates"),
        ((8e-4, 4e-4, 5e-5), "not decided, a limit is at an end of its rates"),
    ],
)
def test_widths_names_the_law_of_the_limits(limits: tuple[float, ...], law: str) -> None:
    by_width = dict(zip(WIDTHS, limits, strict=True))
    assert of_widths(lambda run: run.learning_rate <= by_width[run.width]).words == [f"1,024 tokens an update: {law}"]


def test_widths_takes_no_rate_that_trains_above_one_that_fails_for_a_limit() -> None:
    (law,) = of_widths(lambda run: run.learning_rate <= 0.0256 / run.width or run.learning_rate == RATES[-1]).of(
        "falls-as-1-over-width"
    )
    assert law.values == pytest.approx([-1.0] * 3)


ANNEALED: dict[str, dict[str, Any]] = {
    INVERSE: {"schedule": "inverse-sqrt", "warmup": 100, "decay_period": 100},
    DROP: {"schedule": "constant", "warmup": 0, "drop_epoch": 2, "drop_factor": 0.1},
    WARMED: {"schedule": "linear", "warmup": 100, "decay_updates": 400},
    COLD: {"schedule": "linear", "warmup": 0, "decay_updates": 400},
}
PAIR = [("post", INVERSE), ("pre", DROP)]
EVERY = [(placement, schedule) for schedule in SCHEDULES.values() for placement in ("post", "pre")]
ENDS = (8.0, 7.0, 6.0, 5.5)
"""Pre-LN's losses after each of four epochs."""
AT_THE_DROP = "at equal sums where Pre-LN's rate drops, {} (read afterwards)"


def annealed(
    loss: Callable[[str, str, int], float],
    cells: Iterable[tuple[str, str]] = EVERY,
    seeds: Callable[[str], list[int]] = lambda placement: [1, 2, 3],
) -> Answer:
    """The answer for runs of these placements and schedules that have these losses after each epoch."""
    entries = [
        {**ANNEALED[schedule], "placement": name, "accumulate": 4, "epochs": 4, "seed": seeds(name)}
        for name, schedule in cells
    ]
    names = {(schedule["schedule"], schedule["warmup"]): name for name, schedule in ANNEALED.items()}

    def of_run(run: RunSettings, epoch: int) -> float:
        return loss(run.placement, names[run.schedule, run.warmup], epoch) + 0.01 * run.seed

    return answer("annealing", of_run, *entries, updates=lambda run, epoch: 100 * epoch)


def ahead(placement: str, schedule: str, epoch: int) -> float:
    """Pre-LN is half a bit ahead after every epoch, with every schedule."""
    return ENDS[epoch - 1] + 0.5 * (placement == "post")


@pytest.mark.parametrize(
    ("post", "expected", "before"),
    [
        ([9.0, 8.0, 7.5, 7.0], "it stands on both clocks", "it leads"),
        # After epoch 3 Post-LN is behind; it has spent less until then, and where it has spent as much it is ahead.
        ([9.0, 7.0, 6.2, 4.0], "it depends on the schedule", "it does not lead"),
        ([7.0, 6.5, 5.0, 4.0], "it stands on neither clock", "it does not lead"),
    ],
)
def test_annealing_judges_the_papers_pair_on_both_clocks_before_the_other_schedules_are_there(
    post: list[float], expected: str, before: str
) -> None:
    result = annealed(lambda name, schedule, epoch: (post if name == "post" else ENDS)[epoch - 1], PAIR)
    assert result.words == [f"the lead of the paper's pair: {expected} (seeds: 3)", AT_THE_DROP.format(before)]


def test_annealing_decides_nothing_by_runs_without_a_seed_in_common() -> None:
    assert annealed(ahead, PAIR, seeds=lambda name: [1 if name == "post" else 2]).findings == ()


@pytest.mark.parametrize("placement", ["post", "pre"])
def test_annealing_counts_a_seed_that_diverged_with_the_unigram_baseline(placement: str) -> None:
    entries = [{**ANNEALED[schedule], "placement": name, "accumulate": 4, "epochs": 4} for name, schedule in PAIR]

    def loss(run: RunSettings, epoch: int) -> float:
        diverges = (run.placement, run.seed) == (placement, 2) and epoch > 2
        return math.inf if diverges else ENDS[epoch - 1] + 0.5 * (run.placement == "post")

    (lead,) = answer("annealing", loss, *entries, updates=lambda run, epoch: 100 * epoch).of("equal-sums")
    expected = BASELINE - ENDS[-1] if placement == "post" else ENDS[-1] + 0.5 - BASELINE
    assert lead.values[1] == pytest.approx(expected)


def test_annealing_takes_a_lead_that_every_schedule_leaves_for_the_placements() -> None:
    assert annealed(ahead).words == [
        "the lead of the paper's pair: it stands on both clocks (seeds: 3)",
        AT_THE_DROP.format("it does not lead"),
        "the lead is the placement's",
        "annealed, they do not end level",
        "the warm-up makes no difference in Post-LN",
        "the warm-up makes no difference in Pre-LN",
    ]


def test_annealing_takes_a_lead_whose_sign_the_schedule_decides_for_the_schedules() -> None:
    def loss(placement: str, schedule: str, epoch: int) -> float:
        return ahead(placement, schedule, epoch) - 0.58 * ((placement, schedule, epoch) == ("post", WARMED, 4))

    assert annealed(loss).words[2:] == [
        "the lead depends on the schedule",
        "annealed, they end level",
        "the warm-up helps in Post-LN",
        "the warm-up makes no difference in Pre-LN",
    ]
