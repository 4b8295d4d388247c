"""Is it the width or the rate that keeps RAdam from training at the paper's size? (C15)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from docs.answers import first_epoch
from docs.answers.iwslt14 import UPDATES, fails
from docs.answers.radam import ENOUGH, PAPERS, corner_of
from docs.committed import Ends, after_epoch, by_settings, have_all_seeds, losses_of, translations
from docs.markdown import answered, each_seed
from preln.config import RunSettings
from preln.report.core.statistics import mean

EPOCHS = 3
"""The epochs after which the runs at half the width are read: 1,164 updates, where the paper's size has 1,083."""
FASTER, SLOWER = UPDATES, 16500
"""The updates after which RAdam's rate is 0: in the other runs at half the width, and in `paper-epoch`."""


def answer(losses: Mapping[int, Sequence[float]]) -> list[str]:
    """Whether the rate is the cause, by the losses at half the width for each length of the decay. Nothing is said
    before both have three seeds."""
    faster, slower = (losses.get(updates, ()) for updates in (FASTER, SLOWER))
    if not have_all_seeds(faster, slower):
        return []
    if all(map(fails, slower)):
        return ["the rate is the cause"]
    return ["the rate is no cause" if mean(slower) - mean(faster) < ENOUGH else "the rate is a cause in part"]


def read(results: Path) -> dict[int, Ends]:
    """Each seed of RAdam in `confounds` with the paper's batch, draw and rate, by the length of the decay."""

    def decay(its: RunSettings) -> int | None:
        return its.decay_updates if corner_of(its) == PAPERS else None

    return by_settings(translations(results, "confounds", after_epoch(EPOCHS)), decay)


def table(results: Path) -> str:
    """RAdam with each length of the decay at half the paper's width, and at the paper's, with the answer."""
    found = read(results)
    rows = [("256", f"{updates:,}", *each_seed(found[updates])) for updates in (FASTER, SLOWER) if updates in found]
    at_papers_size = first_epoch.read(results).get(first_epoch.RADAM)
    if at_papers_size:
        rows.append(("512", f"{SLOWER:,}", *each_seed(at_papers_size)))
    head = ["width", "updates until the rate is 0", "loss of each seed", "BLEU"]
    return answered(head, rows, answer(losses_of(found)))
