"""Why do the placements not differ in a small BERT? (C17)"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs import markdown
from docs.committed import have_all_seeds, last_of, study_of
from docs.markdown import answered, rate, warm_up
from preln.placements import PLACEMENTS
from preln.pretraining.runs import expand as expand_pretraining
from preln.records import recording
from preln.report.core.statistics import mean


@dataclass(frozen=True)
class SmallBert:
    """What the runs of `bert-scaled` differ in, but for the seed."""

    initial_std: str
    learning_rate: float
    placement: str
    warmup: int


def answer(rates: Mapping[float, tuple[Sequence[float], Sequence[float]]], warmed_up: Sequence[float]) -> list[str]:
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


def read(results: Path) -> dict[SmallBert, list[float]]:
    """The last validation loss of each seed of the runs of `bert-scaled` that are done."""
    study = study_of("bert-scaled")
    found: dict[SmallBert, list[float]] = {}
    for run in expand_pretraining(study):
        folder = results / study.study / run.folder
        if (folder / recording.METRICS).exists():
            settings = run.settings
            one = SmallBert(
                str(settings.initial_std), float(settings.learning_rate), settings.placement, settings.warmup
            )
            found.setdefault(one, []).append(last_of(folder)["valid_loss"])
    return found


def table(results: Path) -> str:
    """The runs of `bert-scaled`, and the answer where all are done."""
    found = read(results)
    draws = {"scaled": "scaled", "fixed": "BERT base's"}
    order = sorted(found, key=lambda one: (one.initial_std == "fixed", one.learning_rate, one.warmup, one.placement))
    rows = [
        (
            *(draws[one.initial_std], rate(one.learning_rate), PLACEMENTS[one.placement].label, warm_up(one.warmup)),
            markdown.losses(found[one]),
        )
        for one in order
    ]
    scaled = {one: losses for one, losses in found.items() if one.initial_std == "scaled"}
    rates = {
        peak: (
            scaled.get(SmallBert("scaled", peak, "post", 0), []),
            scaled.get(SmallBert("scaled", peak, "pre", 0), []),
        )
        for peak in sorted({one.learning_rate for one in scaled})
    }
    warmed_up = next((losses for one, losses in scaled.items() if one.warmup), [])
    said: list[str] = []
    if len(rates) == 2 and have_all_seeds(warmed_up, *itertools.chain(*rates.values())):
        said = answer(rates, warmed_up)
        highest = max(rates)
        post, pre = (found.get(SmallBert("fixed", highest, one, 0), []) for one in ("post", "pre"))
        if have_all_seeds(post, pre):
            said += rate_or_draw((post, pre), rates[highest])
    return answered(["initial weights", "peak rate", "", "warm-up", "loss of each seed"], rows, said)
