"""The runs that show whether Post-LN needs the warm-up, and Pre-LN not: those of one model, text and peak rate with
Adam, which differ in placement and warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from preln.config import Study
from preln.report.core.curves import by_series
from preln.schedules import SETTINGS
from preln.translation.runs import Run

_FREE = {"placement", "warmup", "epochs", "seed", "schedule", *SETTINGS}


def shown(study: Study, runs: Sequence[Run]) -> list[Run]:
    """The runs of up to four curves: Post-LN and Pre-LN, each without a warm-up and with the longest one.

    Of several models, texts and rates, it takes the one with the most of the four curves, then the most seeds. With and
    without a warm-up, a placement has one schedule; Pre-LN has Post-LN's where it can. No curve is shown unless Post-LN
    without a warm-up is one of at least two, nor where several models or rates have as many: none of them would speak
    for the study.
    """
    models: dict[tuple[Any, ...], list[list[Run]]] = {}
    for curve in by_series(run for run in runs if run.settings.optimizer == "adam").values():
        settings = curve[0].settings
        model = tuple(repr(value) for key, value in settings.model_dump().items() if key not in _FREE)
        models.setdefault(model, []).append(curve)
    choices = sorted(map(_four, models.values()), key=_extent, reverse=True)
    if not choices or (len(choices) > 1 and _extent(choices[0]) == _extent(choices[1])):
        return []
    return [run for curve in choices[0] for run in curve]


def _extent(curves: Sequence[Sequence[Run]]) -> tuple[int, int]:
    return len(curves), sum(map(len, curves))


def _four(curves: Sequence[list[Run]]) -> list[list[Run]]:
    """Choose among the curves of one model those of each placement without a warm-up and with the longest one."""
    post = _pair([curve for curve in curves if curve[0].settings.placement == "post"])
    if not post:
        return []
    schedule = post[0][0].settings.schedule
    pre = [curve for curve in curves if curve[0].settings.placement == "pre"]
    chosen = [*post, *(_pair([curve for curve in pre if curve[0].settings.schedule == schedule]) or _pair(pre))]
    return chosen if len(chosen) > 1 else []


def _pair(curves: Sequence[list[Run]]) -> list[list[Run]]:
    """Choose among a placement's curves that without a warm-up and that with the longest one of the same schedule."""
    pairs = []
    for without in curves:
        settings = without[0].settings
        if settings.warmup <= 1:
            alike = [curve for curve in curves if curve[0].settings.schedule == settings.schedule and curve != without]
            longest = max(alike, key=lambda curve: curve[0].settings.warmup, default=without)
            pairs.append([without, longest] if longest[0].settings.warmup > 1 else [without])
    return max(pairs, key=_extent, default=[])
