"""Is Pre-LN behind at the higher rate because it is compared before its rate drops? (C14)"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docs.answers import schedules
from docs.answers.bounds import C14_BEHIND
from docs.answers.iwslt14 import HIGHER_RATE, SCHEDULES, of_half_the_width
from docs.committed import Ends, after_epoch, by_settings, have_all_seeds
from docs.markdown import answered, each_seed
from preln.config import RunSettings
from preln.report.core.statistics import mean


def answer(pre: Sequence[float], post: Sequence[float]) -> list[str]:
    """Whether the high rate is why Pre-LN is not ahead in C14, from Pre-LN's losses after two epochs with the drop
    after the first, and Post-LN's at the lower rate after three. Nothing is said before both have three seeds."""
    if not have_all_seeds(pre, post):
        return []
    is_cause = mean(pre) <= mean(post) + C14_BEHIND
    return [f"the high rate in the compared epoch is {'the' if is_cause else 'no'} cause"]


def read(results: Path) -> dict[int, Ends]:
    """Each seed of Pre-LN with Adam at 1e-3, after two epochs, by the epoch after which its rate drops."""

    def drop(its: RunSettings) -> int | None:
        asked = ("pre", "adam", HIGHER_RATE, "constant", 1)
        is_asked = (its.placement, its.optimizer, its.learning_rate, its.schedule, its.accumulate) == asked
        return its.drop_epoch if is_asked else None

    return by_settings(of_half_the_width(results, after_epoch(2)), drop)


def table(results: Path) -> str:
    """Pre-LN at 1e-3 after two epochs, by when its rate drops, and Post-LN at 5e-4 after three, with the answer."""
    found = read(results)
    post = schedules.read(results).get(schedules.Swapped("post", "inverse-sqrt"), Ends())
    rows = [
        ("Pre-LN", "1e-3", f"constant, ×0.1 after epoch {epoch}", "2", *each_seed(found[epoch]))
        for epoch in sorted(found)
    ]
    rows.append(("Post-LN", "5e-4", SCHEDULES["inverse-sqrt"], "3", *each_seed(post)))
    early = found.get(1, Ends()).losses
    head = ["", "peak rate", "schedule", "after epochs", "loss of each seed", "BLEU"]
    return answered(head, rows, answer(early, post.losses))
