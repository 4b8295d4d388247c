"""Do whole trainings at the paper's size end as the paper's do? (C13, C14, C15)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.answers.bounds import C13_AT_REST, C13_NO_WORSE, C15_IN_PRE, C15_SHARE
from docs.committed import (
    Ends,
    Reader,
    after_epoch,
    by_settings,
    have_all_seeds,
    last_of,
    losses_of,
    lowest_of,
    translations,
)
from docs.markdown import answered, each_seed
from preln.report.core.statistics import mean, share_of_way

STUDY = "iwslt14-50k-scaled"
COMPARED = 9
"""The epoch of Pre-LN that C14 compares with Post-LN's last: three fifths of fifteen, as in the paper."""
BEFORE_THE_LAST_FIFTH = 12
"""From this epoch to the last, C13 asks for the loss to be at rest."""


@dataclass(frozen=True)
class Whole:
    """What the runs of the study differ in, but for the seed."""

    placement: str
    optimizer: str
    warmup: int
    beta2: float = 0.98


PRE, POST = Whole("pre", "adam", 0), Whole("post", "adam", 1333)
PRE_RADAM, RADAM, RADAM_LONG = Whole("pre", "radam", 0), Whole("post", "radam", 0), Whole("post", "radam", 0, 0.999)
WITHOUT = Whole("post", "adam", 0)
MODELS = {
    "Pre-LN, Adam, no warm-up": PRE,
    "Post-LN, Adam, warm-up of 1,333": POST,
    "Pre-LN, RAdam": PRE_RADAM,
    "Post-LN, RAdam": RADAM,
    "Post-LN, RAdam, β2 = 0.999": RADAM_LONG,
    "Post-LN, Adam, no warm-up": WITHOUT,
}
"""The runs of the study."""
Losses = Mapping[Whole, Sequence[float]]


def _are_made(last: Losses, *runs: Whole) -> bool:
    """Whether all seeds of the runs are."""
    return have_all_seeds(*(last.get(one, ()) for one in runs))


def where_it_ends(before: Losses, lowest: Losses, last: Losses) -> list[str]:
    """Whether Pre-LN ends no worse, by the lowest losses: asked only where a loss is not at rest in the last fifth."""
    if not _are_made(last, PRE, POST):
        return []
    if all(_is_at_rest(before[one], last[one]) for one in (PRE, POST)):
        return []
    return [f"Pre-LN ends {'no ' if mean(lowest[PRE]) - mean(lowest[POST]) <= C13_NO_WORSE else ''}worse"]


def _is_at_rest(before: Sequence[float], last: Sequence[float]) -> bool:
    # A run that diverged has come to its end.
    return all(math.isinf(end) or abs(end - earlier) <= C13_AT_REST for earlier, end in zip(before, last, strict=True))


def of_beta2(last: Losses) -> list[str]:
    """Whether β2 decides to the end whether RAdam trains Post-LN, by the share of the gap that each seed closes."""
    if not _are_made(last, POST, WITHOUT, RADAM, RADAM_LONG):
        return []

    def closes_half(radam: Whole) -> list[bool]:
        ends = zip(last[radam], last[WITHOUT], last[POST], strict=True)
        return [share_of_way(*(-loss for loss in of_seed)) >= C15_SHARE for of_seed in ends]

    short, long = closes_half(RADAM), closes_half(RADAM_LONG)
    if all(long) and not any(short):
        return ["β2 decides to the end"]
    return ["β2 only delays it" if all(long) and all(short) else "what β2 does is not told"]


def of_pre(last: Losses) -> list[str]:
    """Whether RAdam makes a difference to Pre-LN."""
    if not _are_made(last, PRE, PRE_RADAM):
        return []
    differs = abs(mean(last[PRE_RADAM]) - mean(last[PRE])) > C15_IN_PRE
    return [f"RAdam makes {'a' if differs else 'no'} difference to Pre-LN"]


def read(results: Path, reader: Reader = last_of) -> dict[Whole, Ends]:
    """Each seed of the runs that are done: its end, or where else it is read."""
    return by_settings(
        translations(results, STUDY, reader), lambda its: Whole(its.placement, its.optimizer, its.warmup, its.beta2)
    )


def table(results: Path) -> str:
    """The runs that are done: after the compared epoch, where their loss was lowest, and at their end; and the answers
    whose runs are."""
    before, compared, lowest, last = (
        read(results, reader)
        for reader in (after_epoch(BEFORE_THE_LAST_FIFTH), after_epoch(COMPARED), lowest_of, last_of)
    )
    rows = [
        (name, *each_seed(compared[one]), each_seed(lowest[one])[0], *each_seed(last[one]))
        for name, one in MODELS.items()
        if one in last
    ]
    ends = losses_of(last)
    said = [*where_it_ends(losses_of(before), losses_of(lowest), ends), *of_beta2(ends), *of_pre(ends)]
    after = f"after epoch {COMPARED}"
    head = ["", f"loss {after}", f"BLEU {after}", "lowest loss", "loss at the end", "BLEU at the end"]
    return answered(head, rows, said)
