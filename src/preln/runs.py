"""From a study to its runs: the grid, each run's id, and what makes a run the same run."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from preln.config import (
    Corpus,
    Entry,
    Execution,
    Grid,
    PretrainingSettings,
    RunSettings,
    Settings,
    Study,
    StudyError,
    describe,
)

TRAINING_VERSION = 2
"""Raised when the numbers of a training can change with the code; a raise retrains every run."""

PREPARATION_VERSION = 1
"""Raised when the text or the pieces of a prepared corpus can change with the code."""


@dataclass(frozen=True)
class Run:
    """One training: its id in the study, its settings, its corpus, the figures that draw it, and on what it is
    computed, which is not part of what it is."""

    id: str
    settings: RunSettings
    corpus: Corpus
    figures: tuple[int, ...]
    execution: Execution

    @property
    def identity(self) -> dict[str, Any]:
        """All that can change the run's numbers, as plain JSON values."""
        return {
            "training_version": TRAINING_VERSION,
            "preparation_version": PREPARATION_VERSION,
            "corpus_settings": self.corpus.identity,
            **self.settings.model_dump(mode="json"),
        }


def corpus_id(name: str, corpus: Settings) -> str:
    """The folder of a prepared corpus, text or task: its name and what it was prepared with, for example
    `embedded-3f2a9c1b`. Studies with the same settings share it."""
    return f"{name}-{digest(corpus.identity)[:8]}"


def digest(value: dict[str, Any]) -> str:
    """SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def expand(study: Study, origin: str = "study") -> list[Run]:
    """The runs of a study's translation grid, in the order of the file.

    Raises:
        StudyError: if an entry is impossible, names a corpus that is not defined, or defines a run that
            another entry defines already.
    """
    if study.translation is None:
        return []
    common = study.translation.settings
    runs: dict[str, Run] = {}
    for where, entry, settings in grid(study.translation, RunSettings, f"{origin}: translation"):
        if settings.corpus not in study.corpora:
            defined = ", ".join(study.corpora)
            raise StudyError(f"{where}.corpus: {settings.corpus!r} is not defined; defined: {defined}")
        how = execution(entry, settings, study, where)
        run_id = _run_id(settings, common, several_corpora=len(study.corpora) > 1)
        run = Run(run_id, settings, study.corpora[settings.corpus], entry.figures, how)
        if run.id in runs:
            raise StudyError(f"{where}: the run {run.id} is defined twice")
        runs[run.id] = run
    return list(runs.values())


S = TypeVar("S", bound=BaseModel)
E = TypeVar("E", bound=Entry)


def grid(section: Grid[E], model: type[S], where: str) -> Iterator[tuple[str, E, S]]:
    """The settings of each run of a grid, in the order of the file, with the entry that asks for it and where that
    stands; of an entry with lists, every combination.

    Raises:
        StudyError: if a combination is impossible.
    """
    for number, entry in enumerate(section.runs):
        place = f"{where}.runs.{number}"
        own = entry.model_extra or {}
        axes = [value if isinstance(value, list | tuple) else [value] for value in own.values()]
        for values in itertools.product(*axes):
            content = {**section.settings, **dict(zip(own, values, strict=True))}
            try:
                settings = model.model_validate(content)
            except ValidationError as error:
                raise StudyError("\n".join(f"{place}.{line}" for line in describe(error, content))) from None
            yield place, entry, settings


def execution(entry: Entry, settings: RunSettings | PretrainingSettings, study: Study, where: str) -> Execution:
    """On what the runs of an entry are computed: the study's `execution`, with the entry's own keys.

    Raises:
        StudyError: if that is impossible, its processes do not divide the batches of an update, or it is a CPU and the
            precision fp16.
    """
    content = {**study.execution.model_dump(), **entry.execution}
    try:
        how = Execution.model_validate(content)
    except ValidationError as error:
        raise StudyError("\n".join(f"{where}.execution.{line}" for line in describe(error, content))) from None
    if settings.precision == "fp16" and not how.gpus:
        raise StudyError(f"{where}.precision: fp16 needs a GPU (execution.gpus); allowed on a CPU: fp32, bf16")
    if settings.accumulate % how.workers:
        kind = f"{how.gpus} GPUs (execution.gpus)" if how.gpus else f"{how.processes} processes (execution.processes)"
        raise StudyError(
            f"{where}.accumulate: {settings.accumulate} cannot be shared by {kind}: a run's batch stays what it says, "
            "and each takes as many of the batches of an update as every other"
        )
    return how


def series(settings: S) -> S:
    """What runs that differ in the seed alone share: the settings, with the seed put to zero."""
    return settings.model_copy(update={"seed": 0})


def _run_id(settings: RunSettings, common: dict[str, Any], several_corpora: bool) -> str:
    """Placement, optimizer, rate, schedule, whatever differs from the study's settings, and the seed."""
    parts = [settings.placement, settings.optimizer, f"lr{short(settings.learning_rate)}"]
    match settings.schedule:
        case "inverse-sqrt":
            parts.append(f"wu{settings.warmup}")
            if settings.anchor != "warmup":
                parts.append(f"{settings.anchor}{settings.decay_period}")
        case "constant":
            parts.append("const")
        case "drop-inverse-sqrt":
            parts.append("isqrt")
        case "linear":
            parts.append(f"linear{settings.decay_updates}")
    if settings.schedule != "inverse-sqrt" and settings.warmup:
        parts.append(f"wu{settings.warmup}")
    if settings.drop_epoch is not None:
        parts.append(f"drop{settings.drop_epoch}")
    told = {
        *("placement", "optimizer", "learning_rate", "schedule", "warmup", "anchor", "decay_period"),
        *("drop_epoch", "decay_updates", "seed"),
    }
    parts += unusual(settings, common, told)
    if several_corpora and settings.corpus != common.get("corpus"):
        parts.append(settings.corpus)
    return "-".join([*parts, f"s{settings.seed}"])


def unusual(settings: BaseModel, common: dict[str, Any], told: Collection[str]) -> list[str]:
    """The settings that are not the study's own, as parts of an id; those that are `told` already are left out."""
    fields = type(settings).model_fields
    parts = []
    for key, value in settings:
        usual = common.get(key, fields[key].default)
        if key not in told and not fields[key].is_required() and value != _as(value, usual):
            parts.append(f"{key.replace('_', '')}{short(value)}")
    return parts


def _as(value: Any, usual: Any) -> Any:
    """`usual`, which may still be YAML's text for a number, in the type of `value`."""
    return type(value)(usual) if usual is not None and value is not None else usual


def short(value: Any) -> str:
    """A value as run ids, figures and tables have it: 0.3 as it is, 0.001 as 1e-3, a limit that is not set as all."""
    if not isinstance(value, float):
        return "all" if value is None else str(value).lower()
    if value >= 0.01 or value == 0:
        return f"{value:g}"
    mantissa, exponent = f"{value:e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
