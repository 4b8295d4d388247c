"""Settings as figures and tables print them."""

from __future__ import annotations

from collections.abc import Iterable

from preln.config import PretrainingSettings, RunSettings
from preln.placements import PLACEMENTS
from preln.schedules import SETTINGS, of
from preln.values import short

OPTIMIZERS = {"adam": "Adam", "radam": "RAdam", "sgd": "SGD"}
TASKS = {"mrpc": "MRPC", "rte": "RTE"}

OPTIONS: dict[str, dict[object, str]] = {
    "norm": {"layer": "", "rms": "RMSNorm"},
    "qk_norm": {False: "", True: "QK-norm"},
}
"""What a label says of the options of every placement: nothing where a model is without one."""

_TOLD_BY_SCHEDULE = {"schedule", *SETTINGS}
_TOLD = {"placement", "optimizer", "learning_rate", "warmup", "seed"} | _TOLD_BY_SCHEDULE | OPTIONS.keys()


def warmup(settings: RunSettings | PretrainingSettings) -> str:
    """The warm-up in words."""
    return f"warm-up {settings.warmup}" if settings.warmup > 1 else "no warm-up"


def schedule(settings: RunSettings) -> str:
    """What the learning rate does after its warm-up, in a few words."""
    return of(settings).label()


def varying(settings: Iterable[RunSettings | PretrainingSettings]) -> set[str]:
    """The keys in which some of the settings, which are of one kind, differ."""
    values = list(settings)
    return {key for one in values[:1] for key in type(one).model_fields if len({getattr(v, key) for v in values}) > 1}


def label(settings: RunSettings, differing: set[str], *, with_warmup: bool = True) -> str:
    """The name of a curve among curves that differ in the keys `differing`; its warm-up is left out where something
    else tells it."""
    parts = []
    if "placement" in differing:
        parts.append(PLACEMENTS[settings.placement].label)
    if "optimizer" in differing:
        parts.append(OPTIMIZERS[settings.optimizer])
    if "learning_rate" in differing:
        parts.append(f"lr {short(settings.learning_rate)}")
    if with_warmup:
        parts.append(warmup(settings))
    if _TOLD_BY_SCHEDULE & differing:
        parts.append(schedule(settings))
    return ", ".join([*parts, *others(settings, differing)])


def others(settings: RunSettings | PretrainingSettings, differing: set[str]) -> list[str]:
    """Of the keys `differing`, those that nothing else in a name tells, in words: the options of placements first."""
    parts = [name for key in OPTIONS if key in differing and (name := OPTIONS[key][getattr(settings, key)])]
    for key in type(settings).model_fields:
        if key in differing - _TOLD:
            text = short(getattr(settings, key))
            parts.append(f"{text} epochs" if key == "epochs" else f"{key.replace('_', ' ')} {text}")
    return parts
