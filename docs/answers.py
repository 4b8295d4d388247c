"""The answers to the questions of docs/departures.md, from committed records, by the rules that stand there.

Each rule is a function of numbers, so that a test can show what it says of any. `docs/tables.py` writes the answers
into the page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

import pandas as pd

from preln import recording
from preln.config import RunSettings, Study
from preln.config import load as load_study
from preln.pretraining.runs import expand as expand_pretraining
from preln.report.core.statistics import Estimate, mean
from preln.report.theory import records as of_theory
from preln.report.theory import traces
from preln.report.theory.figure_amplification import Number, depths_of, slope, values
from preln.report.theory.table_first_updates import FIRST
from preln.report.theory.tables import theory as statements
from preln.report.translation.budgets import sum_of_rates
from preln.report.translation.failure_map import Map
from preln.runs import expand
from preln.schedules import of as schedule_of
from preln.theory.measurement_jobs import expand as expand_measurements
from preln.theory.trace_jobs import expand as expand_traces

LEARNS = 0.3
"""A model that learns is so many bits below the constant guess."""
STEP_OF_THE_GRID = 2.2
AS_GOOD = 0.15
"""By how many bits C15 lets RAdam and Adam differ in Pre-LN."""
NEAR_ENOUGH = 0.05
"""By how many bits C14 lets Pre-LN be behind."""
LAST_UPDATES = (191, 200)
KEPT = "last gradient of W^2, after warm-up over initial"
"""What the table of the theory calls it, before the kind of its estimate."""
SHORT_WARMUP = 167
"""The updates of the short warm-up in `confounds`."""
COMMON_UPDATES = 1551
"""The updates after which its runs are compared: with four batches in an update it is one more."""
LONG_WARMUP = 1333
"""The updates of the warm-up with which Post-LN trains there."""
UPDATES = 4653
"""The updates of a run of `confounds` with one batch in an update."""
EPOCHS_LIKE_THE_PAPERS_FIRST = 3
"""The epochs of `paper-epoch` with about as many updates as the paper's first epoch."""


K = TypeVar("K")


@dataclass(frozen=True)
class Ends:
    """What each seed of a run has at its end: the validation loss, in bits a token, and the test BLEU."""

    losses: list[float] = field(default_factory=list)
    bleu: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Limits:
    """The largest rates at which a placement trains, without a warm-up and with the longest; None where none does."""

    without: float | None
    longest: float | None

    @property
    def ratio(self) -> float:
        """By how much the longest warm-up raises the limit. Infinite where nothing trains without one."""
        if self.longest is None:
            return math.nan
        return math.inf if self.without is None else self.longest / self.without


def where_training_fails(post: Limits, pre: Limits, post_of_large_batches: Limits) -> list[str]:
    """What the map of failure says. A limit of a batch of four times the tokens is of one seed."""
    found = []
    if post.ratio >= 4:
        found.append("Post-LN needs the warm-up")
    if pre.ratio <= STEP_OF_THE_GRID:
        found.append("Pre-LN does not need it")
    raised = Limits(post.without, post_of_large_batches.without).ratio
    # The grid's steps are 2.14 to 2.17, and its rates have two digits.
    if raised >= 2.1:
        found.append("noise sets Post-LN's limit")
    return found or ["none of the three"]


@dataclass(frozen=True)
class FirstUpdates:
    """The first updates of a model: means over the seeds.

    Attributes:
        seeds: how many.
        loss: of the fixed batch after the last update, in bits a token.
        last_gradient: norm of the gradient of the last decoder layer, before the first update.
        largest_step: the largest ‖Δf‖ of the first ten updates.
        first_gradient_kept: the gradient of the first decoder layer over updates 191 to 200, over that before the first
            update.
        input_growth: the input of the last decoder layer's LayerNorm over the same updates, over that at
            initialisation.
    """

    seeds: int
    loss: float
    last_gradient: float
    largest_step: float
    first_gradient_kept: float
    input_growth: float

    @property
    def vanishes(self) -> bool:
        """Whether the gradient of the first decoder layer is at most a tenth of what it was."""
        return self.first_gradient_kept <= 0.1

    @property
    def swells(self) -> bool:
        """Whether the input of the last LayerNorm is at least half as large again."""
        return self.input_growth >= 1.5


def large_gradients_or_large_updates(
    post: FirstUpdates, pre: FirstUpdates, control: FirstUpdates, warmed_up: FirstUpdates, guess: float
) -> list[str]:
    """What the first updates say.

    Args:
        post, pre, control: Post-LN, Pre-LN and Post-LN-init without a warm-up.
        warmed_up: Post-LN with one.
        guess: the loss of the constant guess.
    """
    without = [post, pre, control]
    stuck = [one for one in without if not one.loss <= guess - LEARNS]
    learning = [one for one in without if one not in stuck]
    if post not in stuck or pre not in learning:
        return ["nothing to explain here, for Post-LN learns or Pre-LN does not"]
    found = []
    gradients_for = all(one.last_gradient >= 1.25 * other.last_gradient for one in stuck for other in learning)
    gradients_against = control in learning and control.last_gradient >= 0.9 * post.last_gradient
    updates_for = all(one.largest_step >= 2 * other.largest_step for one in stuck for other in [*learning, warmed_up])
    updates_against = any(other.largest_step >= 0.9 * post.largest_step for other in [*learning, warmed_up])
    for holds, answer in (
        (gradients_for, "for large gradients"),
        (gradients_against, "against large gradients"),
        (updates_for, "for large updates"),
        (updates_against, "against large updates"),
    ):
        if holds:
            found.append(answer)
    if control in stuck:
        return [*found, "Post-LN-init is stuck, so the two explanations are not told apart"]
    if not found or (gradients_for and gradients_against) or (updates_for and updates_against):
        return [*found, "the question stays open"]
    if post.vanishes and post.swells and not control.vanishes and not control.swells:
        found.append("for the mechanism of Wang et al.")
    return found


@dataclass(frozen=True)
class Corner:
    """How a run of RAdam departs from ours of half the width: tokens an update, initialisation and β2."""

    batches: int = 1
    initialisation: str = "fairseq"
    beta2: float = 0.98


OURS = Corner()
ALONE = {
    "the batch": replace(OURS, batches=4),
    "the initialisation": replace(OURS, initialisation="xavier"),
    "β2": replace(OURS, beta2=0.999),
}
"""Each factor changed alone."""
PAPERS = Corner(4, "xavier")
"""The paper's side of the factors that are known of it."""


def why_radam_fails(losses: Mapping[Corner, Sequence[float]], guess: float) -> list[str]:
    """What the runs of RAdam say. `losses` are of all seeds of each of the eight corners."""
    found = causes(losses)
    if all(loss <= guess - LEARNS for loss in losses[PAPERS]):
        found.append("explained")
    return found or ["no cause found, and not explained"]


def causes(losses: Mapping[Corner, Sequence[float]]) -> list[str]:
    """The factors that lower the loss enough by themselves, of those of which both sides are known."""
    found = []
    for factor, corner in ALONE.items():
        ours, theirs = (losses.get(one, ()) for one in (OURS, corner))
        enough = 0.5 if min(len(ours), len(theirs)) >= 3 else 1.0
        if ours and theirs and mean(ours) - mean(theirs) >= enough:
            found.append(f"{factor} is a cause")
    return found


def of_size(radam: Sequence[float]) -> bool:
    """Whether RAdam trains Post-LN at the paper's size as it does there, in every seed."""
    return all(loss <= 8.9 for loss in radam)


def the_first_epoch(pre: float, post: float, without: float, guess: float) -> list[str]:
    """What the updates of the paper's first epoch say: losses of Pre-LN, of Post-LN with a warm-up, and without."""
    found = []
    if post - pre >= 1 and abs(pre - 6.4) <= 0.7 and abs(post - 8.0) <= 0.7:
        found.append("as in the paper")
    if without > guess - LEARNS:
        found.append("Post-LN without a warm-up fails as in the paper")
    return found or ["neither"]


def failure_or_small_sum(without: float, with_as_large_a_sum: float) -> str:
    """What a run without a warm-up says, beside one with a warm-up whose rates sum to as much."""
    if abs(without - with_as_large_a_sum) <= 0.3:
        return "the sum of the rates explains the loss"
    if without > with_as_large_a_sum:
        return "the missing warm-up does harm of its own"
    return "a large rate at the beginning helps"


@dataclass(frozen=True)
class UnderSchedules:
    """The mean losses of a placement: with an inverse square root, and with a constant rate that drops."""

    inverse_sqrt: float
    constant: float


def placement_or_schedule(pre: UnderSchedules, post: UnderSchedules) -> str:
    """What decides."""
    of_schedule = max(abs(one.inverse_sqrt - one.constant) for one in (pre, post))
    ahead = (post.inverse_sqrt - pre.inverse_sqrt, post.constant - pre.constant)
    if all(difference > of_schedule for difference in ahead):
        return "the placement"
    if all(abs(difference) < of_schedule for difference in ahead):
        return "the schedule"
    return "both"


def early_drop(pre: Sequence[float], post: Sequence[float]) -> str:
    """Whether the high rate is why Pre-LN is not ahead in C14, from Pre-LN's losses after two epochs with the drop
    after the first, and Post-LN's at the lower rate after three."""
    is_cause = mean(pre) <= mean(post) + NEAR_ENOUGH
    return f"the high rate is {'the' if is_cause else 'no'} cause"


def why_the_higher_rate_is_worse(
    ours: tuple[Sequence[float], Sequence[float]], larger: tuple[Sequence[float], Sequence[float]]
) -> str:
    """What a larger batch says of Pre-LN's rates, by the losses at the lower and at the higher rate with each batch."""
    behind, behind_with_ours = (mean(high) - mean(low) for low, high in (larger, ours))
    if behind <= NEAR_ENOUGH:
        return "the batch is the cause"
    return "the batch is a cause in part" if behind <= behind_with_ours / 2 else "the batch is no cause"


def of_the_schedule(adam: float, radam: float) -> str:
    """Whether the schedule is why RAdam is ahead in Pre-LN, by the losses of both with RAdam's."""
    return f"the schedule is {'the' if abs(adam - radam) <= AS_GOOD else 'no'} cause"


def of_the_control(control: Sequence[float], warmed_up: Sequence[float], guess: float) -> str:
    """What becomes of Post-LN-init without a warm-up, beside Post-LN with one."""
    if mean(control) > guess - LEARNS:
        return "the control fails"
    return "the control trains" if mean(control) <= mean(warmed_up) + 0.5 else "the control trains less well"


def small_bert(rates: Mapping[float, tuple[Sequence[float], Sequence[float]]], warmed_up: Sequence[float]) -> list[str]:
    """What the scaled initialisation says.

    Args:
        rates: by peak rate, the losses of all seeds of Post-LN and of Pre-LN, both without a warm-up.
        warmed_up: those of Post-LN with a warm-up, at the higher rate.
    """
    gaps = {rate: mean(post) - mean(pre) for rate, (post, pre) in rates.items()}
    apart = [rate for rate, (post, pre) in rates.items() if _pre_is_ahead(post, pre)]
    if all(abs(gap) <= 0.1 for gap in gaps.values()):
        return ["the initialisation is not the reason"]
    found = ["the initialisation hid the difference"] if apart else []
    highest = max(rates)
    if highest in apart and mean(rates[highest][0]) - mean(warmed_up) >= gaps[highest] / 2:
        found.append("Post-LN lacks a warm-up there")
    return found or ["the question stays open"]


def rate_or_draw(
    own: tuple[Sequence[float], Sequence[float]], scaled: tuple[Sequence[float], Sequence[float]]
) -> list[str]:
    """What BERT base's own draw says at the higher rate, by the losses of Post-LN and of Pre-LN with each draw."""
    if not _pre_is_ahead(*own):
        return ["the rate alone does not bring it out"]
    gap, gap_of_scaled = (mean(post) - mean(pre) for post, pre in (own, scaled))
    more = gap_of_scaled - gap >= 0.2
    return ["the rate alone brings it out", "the draw adds to it" if more else "the draw does not add to it"]


def _pre_is_ahead(post: Sequence[float], pre: Sequence[float]) -> bool:
    return mean(post) - mean(pre) >= 0.2 and max(pre) < min(post)


@dataclass(frozen=True)
class Warmup:
    """A length of Adam's warm-up, and how many batches an update has."""

    updates: int
    batches: int


SHORT, SHORT_LARGER, LONG_LARGER = Warmup(SHORT_WARMUP, 1), Warmup(SHORT_WARMUP, 4), Warmup(LONG_WARMUP, 4)


def short_warmup(losses: Mapping[Warmup, Sequence[float]]) -> list[str]:
    """What the short warm-up says, by the losses of the seeds of each: up to two answers.

    Nothing is said of what lacks a run: three seeds of a short warm-up, and one of the long one.
    """
    ours, larger, long = (losses.get(one, ()) for one in (SHORT, SHORT_LARGER, LONG_LARGER))
    found = []
    if len(ours) == len(larger) == 3:
        found.append("the batch is a cause" if mean(ours) - mean(larger) >= 1 else "the batch is no cause")
    if len(larger) == 3 and long:
        holds = mean(larger) - mean(long) <= 0.5
        found.append(f"with 4 x 1,024 tokens the claim {'holds' if holds else 'does not hold either'}")
    return found


def why_the_gradient_falls_less(kept: float, kept_by_ours: float) -> str:
    """What the warm-up with four batches says.

    Args:
        kept: the last gradient of W² after it, over that at initialisation.
        kept_by_ours: the same for the warm-up with one batch.
    """
    if kept <= 0.1:
        return "the batch is a cause"
    return "the batch is a cause in part" if kept <= kept_by_ours / 2 else "the batch is no cause"


@dataclass(frozen=True)
class ByDepth:
    """The exponents of the depth, over the seeds: of the first step of the function, and of the last gradient."""

    step: Estimate
    gradient: Estimate


def amplified(post: ByDepth, pre: ByDepth, control: ByDepth) -> list[str]:
    """What the first updates by depth say; `control` is Post-LN-init."""
    if not (post.step.mean >= 0.25 and post.step.low > 0):
        return ["the depth does not amplify the first update"]

    def more_than(other: ByDepth) -> bool:
        return post.step.mean - other.step.mean >= 0.2 and post.step.low > other.step.high

    return [
        "Post-LN amplifies",
        "more than Pre-LN" if more_than(pre) else "not shown to be more than Pre-LN",
        "the gradient does not tell it" if abs(post.gradient.mean) <= 0.15 else "the gradient may tell it",
        "the control amplifies less" if more_than(control) else "the control is not shown to amplify less",
    ]


@dataclass(frozen=True)
class SmallBert:
    """What the runs of `bert-scaled` differ in, but for the seed."""

    initial_std: str
    learning_rate: float
    placement: str
    warmup: int


def small_berts(results: Path) -> dict[SmallBert, list[float]]:
    """The last validation loss of each seed of the runs of `bert-scaled` that are done."""
    study = _study("bert-scaled")
    found: dict[SmallBert, list[float]] = {}
    for run in expand_pretraining(study):
        folder = results / study.study / run.folder
        if (folder / "metrics.json").exists():
            settings = run.settings
            one = SmallBert(
                str(settings.initial_std), float(settings.learning_rate), settings.placement, settings.warmup
            )
            found.setdefault(one, []).append(_last(folder)["valid_loss"])
    return found


def warmups(results: Path) -> dict[Warmup, list[float]]:
    """The loss of each seed of the runs of `confounds` that the short warm-up is judged by, after the updates that they
    have in common."""
    study = _study("confounds")
    found: dict[Warmup, list[float]] = {}
    for run in expand(study):
        its, curve = run.settings, results / study.study / run.folder / "curve.csv"
        one = Warmup(its.warmup, its.accumulate)
        if its.optimizer == "adam" and one in (SHORT, SHORT_LARGER, LONG_LARGER) and curve.exists():
            # A run that diverged before has no such epoch.
            common = _epoch(curve, "updates", COMMON_UPDATES, within=1) or {"valid_loss": math.inf}
            found.setdefault(one, []).append(common["valid_loss"])
    return found


def kept_by_the_warm_up(results: Path) -> float | None:
    """What is left of the last gradient of W² after the warm-up with four batches of `confounds`, without the bias of
    the mini-batches' noise; None while it is not measured."""
    study = _study("confounds")
    found = statements(of_theory.load(study, expand_measurements(study, expand(study)), results))
    kept = found[found["quantity"] == f"{KEPT}, unbiased"]
    return float(kept["measured"].iloc[0]) if len(kept) else None


def amplification(results: Path, rate: float) -> dict[str, ByDepth]:
    """The exponents of each placement in `amplification` at a peak rate, by the placement's name; nothing while a trace
    is missing."""
    study = _study("amplification")
    jobs = [job for job in expand_traces(study) if job.settings.learning_rate == rate]
    found = traces.load(study, jobs, results)
    if found.table["run"].nunique() < len(jobs):
        return {}

    def exponents(number: Number) -> dict[str, Estimate]:
        by_placement = values(found, number).groupby("placement", sort=False)
        return {str(name): slope(mine, depths_of(jobs)) for name, mine in by_placement}

    steps, gradients = exponents(traces.first_step), exponents(traces.gradient_at_first)
    return {name: ByDepth(steps[name], gradients[name]) for name in steps}


def radam(results: Path) -> dict[Corner, Ends]:
    """The ends of each seed of the runs of RAdam in `confounds` that are done."""
    return _by(
        _translations(results, "confounds"),
        lambda its: Corner(its.accumulate, its.initialisation, its.beta2) if its.optimizer == "radam" else None,
    )


@dataclass(frozen=True)
class SmallSum:
    """A run of `confounds` whose rate decays from the end of its warm-up on, or from the first update."""

    learning_rate: float
    warmup: int
    total: float
    """The sum of its rates."""


def small_sums(results: Path) -> dict[SmallSum, Ends]:
    """The ends of the runs that are done, by their sums; of one sum, that without a warm-up is first."""

    def small_sum(its: RunSettings) -> SmallSum | None:
        asked = ("post", "adam", "inverse-sqrt", "warmup", 1)
        if (its.placement, its.optimizer, its.schedule, its.anchor, its.accumulate) != asked:
            return None
        return SmallSum(its.learning_rate, its.warmup, float(f"{sum_of_rates(schedule_of(its), UPDATES):.3g}"))

    found = _by(_translations(results, "confounds"), small_sum)
    return dict(sorted(found.items(), key=lambda one: (one[0].total, one[0].warmup)))


@dataclass(frozen=True)
class Swapped:
    """A placement with one of the two schedules."""

    placement: str
    schedule: str


def swapped(results: Path) -> dict[Swapped, Ends]:
    """The ends of each seed of Adam at 5e-4, by placement and schedule. `iwslt14-50k-cpu` has each placement's own, and
    `confounds` the other's. Only Pre-LN's own has no warm-up."""

    def one(its: RunSettings) -> Swapped | None:
        own = its.placement == "pre" and its.schedule == "constant"
        asked = ("adam", 5e-4, 0 if own else LONG_WARMUP, 1)
        is_asked = (its.optimizer, its.learning_rate, its.warmup, its.accumulate) == asked
        return Swapped(its.placement, its.schedule) if is_asked else None

    return _by(_of_both(results), one)


def under_schedules(found: Mapping[Swapped, Ends], placement: str) -> UnderSchedules:
    """The mean losses of a placement over the seeds that are done."""
    inverse_sqrt, constant = (mean(found[Swapped(placement, one)].losses) for one in ("inverse-sqrt", "constant"))
    return UnderSchedules(inverse_sqrt, constant)


def dropped(results: Path) -> dict[int, Ends]:
    """Each seed of Pre-LN with Adam at 1e-3, after two epochs, by the epoch after which its rate drops."""

    def drop(its: RunSettings) -> int | None:
        is_asked = (its.placement, its.optimizer, its.learning_rate) == ("pre", "adam", 1e-3)
        return its.drop_epoch if is_asked else None

    return _by(_of_both(results, lambda folder: _after(folder, 2)), drop)


@dataclass(frozen=True)
class PreRate:
    """Batches in an update and a constant peak rate, in Pre-LN."""

    batches: int
    learning_rate: float


def pre_rates(results: Path) -> dict[PreRate, Ends]:
    """Each seed of Pre-LN before its rate drops: after one epoch with one batch in an update, and after two with four.

    The seeds of the higher rate with one batch are those whose rate drops after this epoch."""

    def after(epoch: int, batches: int, drop_epochs: Mapping[float, int | None]) -> dict[PreRate, Ends]:
        def one(its: RunSettings) -> PreRate | None:
            is_asked = (
                (its.placement, its.optimizer, its.schedule, its.accumulate) == ("pre", "adam", "constant", batches)
                and its.learning_rate in drop_epochs
                and its.drop_epoch == drop_epochs[its.learning_rate]
            )
            return PreRate(batches, its.learning_rate) if is_asked else None

        return _by(_of_both(results, lambda folder: _after(folder, epoch)), one)

    return after(1, 1, {5e-4: 2, 1e-3: 1}) | after(2, 4, {5e-4: None, 1e-3: None})


@dataclass(frozen=True)
class InPre:
    """An optimizer and its schedule, in Pre-LN."""

    optimizer: str
    schedule: str


def radam_in_pre(results: Path) -> dict[InPre, Ends]:
    """The ends of each seed of Pre-LN at 1e-3 after three epochs."""

    def one(its: RunSettings) -> InPre | None:
        is_asked = (its.placement, its.learning_rate, its.epochs) == ("pre", 1e-3, 3)
        return InPre(its.optimizer, its.schedule) if is_asked else None

    return _by(_of_both(results), one)


@dataclass(frozen=True)
class Control:
    """Post-LN or its control, Post-LN-init."""

    placement: str
    warmup: int


def control(results: Path) -> dict[Control, Ends]:
    """The ends of each seed of Post-LN and Post-LN-init at 5e-4 with a held peak, with the long warm-up and without.
    All have as many updates."""

    def one(its: RunSettings) -> Control | None:
        is_asked = (
            (its.optimizer, its.learning_rate, its.schedule, its.accumulate) == ("adam", 5e-4, "inverse-sqrt", 1)
            and its.placement in ("post", "post-init")
            and its.warmup in (0, LONG_WARMUP)
            and its.anchor == "hold"
        )
        return Control(its.placement, its.warmup) if is_asked else None

    return _by(_of_both(results), one)


@dataclass(frozen=True)
class OfFirstEpoch:
    """What the runs of `paper-epoch` differ in, but for the seed."""

    placement: str
    optimizer: str
    warmup: int
    initialisation: str


def first_epoch(results: Path) -> dict[OfFirstEpoch, Ends]:
    """Each seed of the runs of `paper-epoch` that are done, after the updates of the paper's first epoch. One run goes
    on after them."""
    return _by(
        _translations(results, "paper-epoch", lambda folder: _after(folder, EPOCHS_LIKE_THE_PAPERS_FIRST)),
        lambda its: OfFirstEpoch(its.placement, its.optimizer, its.warmup, its.initialisation),
    )


def _last(folder: Path) -> dict[str, float]:
    """A run's numbers at its end."""
    ended = recording.read_metrics(folder)
    # What diverged has learned nothing that it kept.
    return {"valid_loss": math.inf, "test_bleu": 0.0} if ended["diverged"] else ended["final"]


def _after(folder: Path, epoch: int) -> dict[str, float]:
    """A run's numbers after one of its epochs; its last ones if it diverged before."""
    return _epoch(folder / "curve.csv", "epoch", epoch) or _last(folder)


def _epoch(curve: Path, column: str, value: int, within: int = 0) -> dict[str, float] | None:
    """The numbers of the first epoch of a curve in which a column has the value; None where no epoch has it."""
    rows = pd.read_csv(curve)
    found = rows[(rows[column] - value).abs() <= within]
    return None if found.empty else {number: float(found[number].iloc[0]) for number in ("valid_loss", "test_bleu")}


def _translations(
    results: Path, name: str, read: Callable[[Path], dict[str, float]] = _last
) -> Iterator[tuple[RunSettings, dict[str, float]]]:
    """The settings and the numbers of the translation runs of a study that are done: the last ones, or what `read`
    takes from a run's folder."""
    for run in expand(_study(name)):
        folder = results / name / run.folder
        if (folder / "metrics.json").exists():
            yield run.settings, read(folder)


def _of_both(
    results: Path, read: Callable[[Path], dict[str, float]] = _last
) -> Iterator[tuple[RunSettings, dict[str, float]]]:
    """The runs of half the paper's width that are done, of both studies."""
    return chain.from_iterable(_translations(results, name, read) for name in ("iwslt14-50k-cpu", "confounds"))


def _by(runs: Iterable[tuple[RunSettings, dict[str, float]]], what: Callable[[RunSettings], K | None]) -> dict[K, Ends]:
    """The ends of all seeds, by what a run is. Runs for which `what` returns None are left out."""
    found: dict[K, Ends] = {}
    for settings, last in runs:
        one = what(settings)
        if one is not None:
            ends = found.setdefault(one, Ends())
            ends.losses.append(last["valid_loss"])
            ends.bleu.append(last["test_bleu"])
    return found


def _study(name: str) -> Study:
    return load_study(Path(__file__).parents[1] / "config" / f"{name}.yaml")


def radam_is_whole(losses: Mapping[Corner, Sequence[float]]) -> bool:
    """Whether all seeds of all corners that the rule reads are there."""
    wanted = {OURS: 3, PAPERS: 3, **dict.fromkeys(ALONE.values(), 1)}
    return all(len(losses.get(corner, ())) >= seeds for corner, seeds in wanted.items())


def limits(one: Map) -> Limits:
    """The limits of a map's model, with its shortest and its longest warm-up."""
    return Limits(one.limit(one.warmups[0]), one.limit(one.warmups[-1]))


def traced(results: Path, runs: str) -> FirstUpdates:
    """The first updates of the runs of a study, in the folder of its results, whose id begins so."""
    traces = [pd.read_csv(path) for path in sorted(results.glob(f"first-updates/{runs}-s*/updates.csv"))]
    if not traces:
        raise KeyError(f"{results} has no trace of {runs}")
    layers = [name for name in map(str, traces[0]) if name.startswith("gradient_norm.decoder.")]
    last = max(int(name.rpartition(".")[2]) for name in layers)
    at_end = slice(LAST_UPDATES[0], LAST_UPDATES[1])

    def over_seeds(number: Callable[[pd.DataFrame], float]) -> float:
        return mean([number(trace.set_index("update")) for trace in traces])

    # The gradient of update 1 is that of the initial weights.
    return FirstUpdates(
        seeds=len(traces),
        loss=over_seeds(lambda trace: float(trace["loss"].iloc[-1])),
        last_gradient=over_seeds(lambda trace: float(trace[f"gradient_norm.decoder.{last}"][1])),
        largest_step=over_seeds(lambda trace: float(trace["function_change"].loc[1:FIRST].max())),
        first_gradient_kept=over_seeds(lambda trace: float(trace["gradient_norm.decoder.1"].loc[at_end].mean()))
        / over_seeds(lambda trace: float(trace["gradient_norm.decoder.1"][1])),
        input_growth=over_seeds(lambda trace: float(trace[f"input_norm.decoder.{last}"].loc[at_end].mean()))
        / over_seeds(lambda trace: float(trace[f"input_norm.decoder.{last}"][0])),
    )
