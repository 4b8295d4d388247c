"""Why does RAdam not train Post-LN? (C15)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from docs.committed import GUESS, LEARNS, RESULTS, Ends, by_settings, translations
from docs.markdown import each_seed, grid
from preln.report.core.statistics import mean


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


def answer(losses: Mapping[Corner, Sequence[float]], guess: float) -> list[str]:
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


def is_whole(losses: Mapping[Corner, Sequence[float]]) -> bool:
    """Whether all seeds of all corners that the rule reads are there."""
    wanted = {OURS: 3, PAPERS: 3, **dict.fromkeys(ALONE.values(), 1)}
    return all(len(losses.get(corner, ())) >= seeds for corner, seeds in wanted.items())


def read(results: Path) -> dict[Corner, Ends]:
    """The ends of each seed of the runs of RAdam in `confounds` that are done."""
    return by_settings(
        translations(results, "confounds"),
        lambda its: Corner(its.accumulate, its.initialisation, its.beta2) if its.optimizer == "radam" else None,
    )


def table() -> str:
    """The runs of RAdam in `confounds`, and the answer where the rule's are done."""
    found = read(RESULTS)
    order = sorted(found, key=lambda corner: (corner.batches, corner.initialisation, corner.beta2))
    rows = [
        (
            f"{corner.batches} x 1,024" if corner.batches > 1 else "1,024",
            f"`{corner.initialisation}`",
            f"{corner.beta2:g}",
            *each_seed(found[corner]),
        )
        for corner in order
    ]
    losses = {corner: ends.losses for corner, ends in found.items()}
    if is_whole(losses):
        said = f"The answer by the rule: {'; '.join(answer(losses, GUESS))}"
    else:
        found_so_far = causes(losses)
        said = f"So far, by the rule: {'; '.join(found_so_far) if found_so_far else 'no cause found'}"
    head = ["tokens an update", "initialisation", "β2", "loss of each seed", "BLEU"]
    return f"{grid(head, rows)}\n**{said}.**\n"
