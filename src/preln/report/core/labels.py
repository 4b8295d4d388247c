"""Settings as figures and tables print them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeVar

from preln import schedules
from preln.config import ModelSettings, PretrainingSettings
from preln.placements import PLACEMENTS
from preln.values import short

OPTIMIZERS = {"adam": "Adam", "adamw": "AdamW", "muon": "Muon", "radam": "RAdam", "sgd": "SGD"}
TASKS = {"mrpc": "MRPC", "rte": "RTE"}

OPTIONS: dict[str, dict[object, str]] = {
    "norm": {"layer": "", "rms": "RMSNorm"},
    "qk_norm": {False: "", True: "QK-norm"},
}
"""The words of a label for the options of every placement; none where a model is without one."""

_OF_LANGUAGE_MODELS = {"own": "", "common": "common initialisation"}
"""The words of a label for the initialisation of a language model; a translation model has others."""

_TOLD_BY_SCHEDULE = {"schedule", *schedules.SETTINGS}
_TOLD = {"placement", "optimizer", "learning_rate", "warmup", "seed"} | _TOLD_BY_SCHEDULE | OPTIONS.keys()

S = TypeVar("S", bound=ModelSettings)


def text_name(name: str) -> str:
    """The name of a study's text for readers."""
    return "generated text" if name == "embedded" else name


def setting(key: str, value: Any) -> str:
    """One setting of a run in words."""
    match key, value:
        case "learning_rate", _:
            return f"peak rate {short(value)}"
        case "placement", _:
            return PLACEMENTS[value].label
        case "optimizer", _:
            return OPTIMIZERS[value]
        case "warmup", _:
            return f"warm-up {value}" if value > 1 else "no warm-up"
        case "norm", _:
            return OPTIONS[key][value] or "LayerNorm"
        case "qk_norm", _:
            return "QK-norm" if value else "no QK-norm"
        case (("corpus" | "text" | "task"), _):
            return text_name(value)
        case _, None | False:
            return f"no {key.replace('_', ' ')}"
        case _:
            return f"{key.replace('_', ' ')} {short(value)}"


def varying(settings: Iterable[ModelSettings]) -> set[str]:
    """The keys in which some of the settings, which are of one kind, differ."""
    values = list(settings)
    fields = type(values[0]).model_fields if values else ()
    return {key for key in fields if len({getattr(value, key) for value in values}) > 1}


def label(settings: ModelSettings, differing: set[str], *, with_warmup: bool = True) -> str:
    """The name of a curve among curves that differ in the keys `differing`; its warm-up is left out where something
    else tells it."""
    parts = []
    if "placement" in differing:
        parts.append(PLACEMENTS[settings.placement].label)
    if not isinstance(settings, PretrainingSettings) and "optimizer" in differing:
        parts.append(OPTIMIZERS[settings.optimizer])
    if "learning_rate" in differing:
        parts.append(f"lr {short(settings.learning_rate)}")
    if with_warmup:
        parts.append(setting("warmup", settings.warmup))
    if not isinstance(settings, PretrainingSettings) and _TOLD_BY_SCHEDULE & differing:
        parts.append(schedules.of(settings).label())
    return ", ".join([*parts, *others(settings, differing)])


def names(settings: Iterable[S], always: Iterable[str] = (), without: Iterable[str] = ()) -> tuple[dict[S, str], str]:
    """The name of each curve of a figure, and in words what most of them share.

    A name has the keys `always`, and those in which the curves differ, but never those in `without`. It leaves out a
    value that more than half of the curves have; the number of epochs, which the axis shows, where the names differ
    without it; and the width of the feed-forward layers where the model's tells it.
    """
    curves = list(dict.fromkeys(settings))
    if not curves:
        return {}, ""
    differing = (varying(curves) | set(always)) - set(without)
    if len({_name(curve, differing - {"epochs"}, {}) for curve in curves}) == len(curves):
        differing -= {"epochs"}
    if len({(curve.width, curve.ffn_width) for curve in curves}) == len({curve.width for curve in curves}):
        differing -= {"ffn_width"}
    usual = {}
    for key in type(curves[0]).model_fields if len(curves) > 2 else ():
        value, count = Counter(getattr(curve, key) for curve in curves).most_common(1)[0]
        if key in differing - _TOLD and count > len(curves) / 2:
            usual[key] = value
    shared = others(curves[0].model_copy(update=usual), set(usual))
    if "warmup" not in differing:
        shared.insert(0, setting("warmup", curves[0].warmup))
    return {curve: _name(curve, differing, usual) for curve in curves}, ", ".join(shared)


def _name(settings: ModelSettings, differing: set[str], usual: dict[str, object]) -> str:
    named = {key for key in differing if key not in usual or getattr(settings, key) != usual[key]}
    return label(settings, named, with_warmup="warmup" in differing) or PLACEMENTS[settings.placement].label


def counted(number: str, noun: str) -> str:
    """A number with its noun, in the plural where it is not one."""
    return f"{number} {noun}" if number == "1" else f"{number} {noun}s"


def others(settings: ModelSettings, differing: set[str]) -> list[str]:
    """The settings of the keys `differing` that nothing else in a name tells, in words: the options of placements
    first."""
    parts = [name for key in OPTIONS if key in differing and (name := OPTIONS[key][getattr(settings, key)])]
    for key in type(settings).model_fields:
        if key in differing - _TOLD:
            text = short(getattr(settings, key))
            if key == "initialisation" and text in _OF_LANGUAGE_MODELS:
                parts.append(_OF_LANGUAGE_MODELS[text])
            elif key in {"corpus", "text"}:
                parts.append(f"on {text_name(text)}")
            else:
                parts.append(counted(text, "epoch") if key == "epochs" else f"{key.replace('_', ' ')} {text}")
    return list(filter(None, parts))
