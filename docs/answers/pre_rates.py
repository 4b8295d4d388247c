"""Do small batches make the higher rate the worse one for Pre-LN? (C14)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.answers.bounds import C14_BEHIND
from docs.answers.iwslt14 import HIGHER_RATE, PAPERS_RATE, of_half_the_width
from docs.committed import Ends, after_epoch, by_settings, have_all_seeds
from docs.markdown import answered, each_seed, rate, tokens
from preln.config import RunSettings
from preln.report.core.statistics import mean


@dataclass(frozen=True)
class PreRate:
    """Batches in an update and a constant peak rate, in Pre-LN."""

    batches: int
    learning_rate: float


def answer(ours: Sequence[Sequence[float]], larger: Sequence[Sequence[float]]) -> list[str]:
    """What a larger batch says of Pre-LN's rates, by the losses at the lower and at the higher rate with each batch.
    Nothing is said before each has three seeds."""
    if not have_all_seeds(*ours, *larger):
        return []
    behind, behind_with_ours = (mean(high) - mean(low) for low, high in (larger, ours))
    if behind <= C14_BEHIND:
        return ["the batch is the cause"]
    return ["the batch is a cause in part" if behind <= behind_with_ours / 2 else "the batch is no cause"]


def read(results: Path) -> dict[PreRate, Ends]:
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

        return by_settings(of_half_the_width(results, after_epoch(epoch)), one)

    return after(1, 1, {PAPERS_RATE: 2, HIGHER_RATE: 1}) | after(2, 4, {PAPERS_RATE: None, HIGHER_RATE: None})


def table(results: Path) -> str:
    """Pre-LN at two rates, with one batch in an update and with four, and the answer where all seeds are done."""
    found = read(results)
    updates = {1: "1,551", 4: "776"}
    order = sorted(found, key=lambda one: (one.batches, one.learning_rate))
    rows = [
        (tokens(one.batches), updates[one.batches], rate(one.learning_rate), *each_seed(found[one])) for one in order
    ]
    ours, larger = (
        tuple(found.get(PreRate(batches, peak), Ends()).losses for peak in (PAPERS_RATE, HIGHER_RATE))
        for batches in updates
    )
    head = ["tokens an update", "after updates", "rate", "loss of each seed", "BLEU"]
    return answered(head, rows, answer(ours, larger))
