"""Why is Pre-LN not ahead at the higher rate? (C14)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.answers import schedules
from docs.committed import RESULTS, Ends, after_epoch, by_settings, of_half_the_width
from docs.markdown import answered, each_seed, rate
from preln.config import RunSettings
from preln.report.core.statistics import mean

NEAR_ENOUGH = 0.05
"""By how many bits C14 lets Pre-LN be behind."""


def early_drop(pre: Sequence[float], post: Sequence[float]) -> str:
    """Whether the high rate is why Pre-LN is not ahead in C14, from Pre-LN's losses after two epochs with the drop
    after the first, and Post-LN's at the lower rate after three."""
    is_cause = mean(pre) <= mean(post) + NEAR_ENOUGH
    return f"the high rate is {'the' if is_cause else 'no'} cause"


def read_dropped(results: Path) -> dict[int, Ends]:
    """Each seed of Pre-LN with Adam at 1e-3, after two epochs, by the epoch after which its rate drops."""

    def drop(its: RunSettings) -> int | None:
        is_asked = (its.placement, its.optimizer, its.learning_rate) == ("pre", "adam", 1e-3)
        return its.drop_epoch if is_asked else None

    return by_settings(of_half_the_width(results, lambda folder: after_epoch(folder, 2)), drop)


def table_of_the_early_drop() -> str:
    """Pre-LN at 1e-3 after two epochs, by when its rate drops, and Post-LN at 5e-4 after three, with the answer."""
    found = read_dropped(RESULTS)
    post = schedules.read(RESULTS)[schedules.Swapped("post", "inverse-sqrt")]
    rows = [
        ("Pre-LN", "1e-3", f"constant, ×0.1 after epoch {epoch}", "2", *each_seed(found[epoch]))
        for epoch in sorted(found)
    ]
    rows.append(("Post-LN", "5e-4", schedules.SCHEDULES["inverse-sqrt"], "3", *each_seed(post)))
    early = found.get(1, Ends()).losses
    said = [early_drop(early, post.losses)] if len(early) == 3 else []
    return answered(["", "peak rate", "schedule", "after epochs", "loss of each seed", "BLEU"], rows, said)


@dataclass(frozen=True)
class PreRate:
    """Batches in an update and a constant peak rate, in Pre-LN."""

    batches: int
    learning_rate: float


def why_the_higher_rate_is_worse(
    ours: tuple[Sequence[float], Sequence[float]], larger: tuple[Sequence[float], Sequence[float]]
) -> str:
    """What a larger batch says of Pre-LN's rates, by the losses at the lower and at the higher rate with each batch."""
    behind, behind_with_ours = (mean(high) - mean(low) for low, high in (larger, ours))
    if behind <= NEAR_ENOUGH:
        return "the batch is the cause"
    return "the batch is a cause in part" if behind <= behind_with_ours / 2 else "the batch is no cause"


def read_rates(results: Path) -> dict[PreRate, Ends]:
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

        return by_settings(of_half_the_width(results, lambda folder: after_epoch(folder, epoch)), one)

    return after(1, 1, {5e-4: 2, 1e-3: 1}) | after(2, 4, {5e-4: None, 1e-3: None})


def table_of_rates() -> str:
    """Pre-LN at two rates, with one batch in an update and with four, and the answer where all seeds are done."""
    found = read_rates(RESULTS)
    epochs = {1: ("1,024", "1,551"), 4: ("4 x 1,024", "776")}
    order = sorted(found, key=lambda one: (one.batches, one.learning_rate))
    rows = [(*epochs[one.batches], rate(one.learning_rate), *each_seed(found[one])) for one in order]
    said = []
    if len(found) == 4 and all(len(ends.losses) == 3 for ends in found.values()):
        ours, larger = (
            (found[PreRate(batches, 5e-4)].losses, found[PreRate(batches, 1e-3)].losses) for batches in epochs
        )
        said.append(why_the_higher_rate_is_worse(ours, larger))
    return answered(["tokens an update", "after updates", "rate", "loss of each seed", "BLEU"], rows, said)
