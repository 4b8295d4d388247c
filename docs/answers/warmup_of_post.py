"""Is Pre-LN behind because Post-LN's warm-up is short? (C14)"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docs.answers import small_causes
from docs.committed import Ends, after_epoch, by_settings, differences, translations
from docs.markdown import answered, each_seed, grid, interval, rate, warm_up
from preln.placements import PLACEMENTS
from preln.report.core.statistics import estimate

LONGER = ("post", 705, None)
"""Post-LN of `small-causes` with a warm-up of a quarter of the run, as in the paper."""
LOWER = (3e-4, 6.5e-4, 1.4e-3)
"""The peak rates of `failure-map` at which Post-LN trains without a warm-up."""


def answer(short: Sequence[float], longer: Sequence[float]) -> list[str]:
    """Whether the short warm-up is why Pre-LN is behind, beside Post-LN's short warm-up and beside its longer one."""
    return [f"the short warm-up is {word}" for word in small_causes.cause(short, longer)]


def table(results: Path) -> str:
    """Post-LN at the low rate with each warm-up, Pre-LN where C14 reads it, and the answer."""
    before, last = small_causes.LONG
    rows = [
        (PLACEMENTS[model[0]].label, warm_up(model[1]), str(epoch), each_seed(found[model])[0])
        for model, epoch in ((small_causes.PRE, before), (small_causes.POST, last), (LONGER, last))
        if model in (found := small_causes.read(results, epoch))
    ]
    said = answer(*(small_causes.behind(results, small_causes.LONG, post) for post in (small_causes.POST, LONGER)))
    return answered(["", "warm-up", "after epochs", "loss of each seed"], rows, said)


def read_map(results: Path, epoch: int) -> dict[tuple[str, float, int], Ends]:
    """Each seed of the runs of `failure-map` with small batches after an epoch, by placement, peak rate and warm-up."""
    return by_settings(
        translations(results, "failure-map", after_epoch(epoch)),
        lambda its: (its.placement, its.learning_rate, its.warmup) if its.batch_tokens == 1024 else None,
    )


def behind_on_the_map(results: Path) -> dict[tuple[float, int], list[float]]:
    """How far Pre-LN without a warm-up is behind after one epoch where Post-LN is after two, by seed; for each of the
    lower peak rates and each warm-up of Post-LN."""
    first, last = (read_map(results, epoch) for epoch in (1, 2))
    return {
        (peak, warmup): differences(first["pre", peak, 0], ends)
        for (placement, peak, warmup), ends in last.items()
        if placement == "post" and warmup and peak in LOWER
    }


def map_table(results: Path) -> str:
    """How far Pre-LN is behind on the map, by the peak rate and Post-LN's warm-up."""
    found = behind_on_the_map(results)
    warmups = sorted({warmup for _, warmup in found})
    rows = [(rate(peak), *(interval(estimate(found[peak, warmup])) for warmup in warmups)) for peak in LOWER]
    return grid(["peak rate", *map(warm_up, warmups)], rows)
