"""From a study to its runs: the grid, each run's id, and what makes a run the same run."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from preln import schedules
from preln.config import (
    Corpus,
    Entry,
    Execution,
    Grid,
    Origin,
    PretrainingSettings,
    RunSettings,
    Settings,
    Study,
    describe,
    placed,
    refuse,
)
from preln.config.base import listed, meant
from preln.config.translation import RunEntry
from preln.jobs.base import Job
from preln.records import recording
from preln.values import short

TRAINING_VERSION = 2
"""Raised when the numbers of a training can change with the code; a raise retrains every run.

It was not raised when BLEU on GPUs became that of translations in fp32: nothing had been trained on a GPU.
Nor was it when the gradients of LayerNorm and of the tokens' embeddings became exact in bf16 (`preln.fused.norm`,
`preln.fused.embedding`): docs/speed.md says what the committed runs have. Nor was it when processors that are slow in
bf16 came to multiply in fp32 (`preln.fused.products`): their sums are rounded in another way, as between processors."""

PREPARATION_VERSION = 1
"""Raised when the text or the pieces of a prepared corpus can change with the code.

It was not raised when sentences without a visible character became empty: no text of a committed study has one."""

LONGEST_ID = 200
"""Characters; the id of a run is in the names of files, which are no longer than 255 bytes."""


@dataclass(frozen=True)
class Run(Job):
    """One training: its id in the study, its settings, its corpus, the figures that draw it, and on what it is
    computed, which is not part of what it is."""

    kind: ClassVar[str] = "translation"
    records: ClassVar[tuple[str, ...]] = (recording.RUN, "curve.csv", recording.METRICS)
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


def expand(study: Study, origin: Origin = "study") -> list[Run]:
    """The runs of a study's translation grid, in the order of the file.

    Raises:
        StudyError: as `runs_of`.
    """
    return runs_of(study.translation, "translation", study, origin) if study.translation else []


def runs_of(grid: Grid[Any], section: str, study: Study, origin: Origin) -> list[Run]:
    """The translation runs of a grid of a study, in the order of the file.

    Args:
        grid: the grid.
        section: its key in the study.
        study: the study.
        origin: of the study, for messages.

    Raises:
        StudyError: with a line for each entry that is impossible, names a corpus that is not defined, or defines a run
            that another entry defines already.
    """
    common = grid.settings
    usual = usual_values(RunSettings, common, _TOLD)
    runs: dict[str, Run] = {}
    trainings: dict[RunSettings, str] = {}
    wrong: list[str] = []
    for number, entry in enumerate(grid.runs):
        where = f"{section}.runs.{number}"
        execution = execution_of(entry, study, where, wrong)
        for settings in combinations(RunSettings, common, entry.own, where, wrong):
            if settings.corpus not in study.corpora:
                wrong.append(undefined(f"{where}.corpus", settings.corpus, study.corpora))
                continue
            run_id = _run_id(settings, common, usual, several_corpora=len(study.corpora) > 1)
            wrong += misfits(run_id, runs, settings, execution, where)
            twin = trainings.setdefault(in_effect(settings), run_id)
            if twin != run_id:
                differing = differing_keys(runs[twin].settings, settings)
                wrong.append(
                    f"{where}: {run_id} is the same training as {twin}: they differ only in "
                    f"{listed(differing)}, which neither uses; leave one out"
                )
            figures = entry.figures if isinstance(entry, RunEntry) else ()
            runs[run_id] = Run(run_id, settings, study.corpora[settings.corpus], figures, execution)
    refuse(placed(origin, wrong))
    return list(runs.values())


S = TypeVar("S", bound=BaseModel)


def combinations(
    model: type[S], common: Mapping[str, Any], own: Mapping[str, Any], where: str, wrong: list[str]
) -> list[S]:
    """The settings of each run of a grid's entry, in the order of the file: of an entry with lists, every combination.

    Args:
        model: of the settings.
        common: the settings that all entries share, as the file has them.
        own: the entry's own.
        where: the entry stands, for messages.
        wrong: takes a line for each thing that is wrong with a combination, which is then left out.
    """
    axes = [value if isinstance(value, list | tuple) else [value] for value in own.values()]
    found = []
    for values in itertools.product(*axes):
        content = {**common, **dict(zip(own, values, strict=True))}
        try:
            found.append(model.model_validate(content))
        except ValidationError as error:
            wrong += [f"{where}.{line}" for line in describe(error, content, model)]
    return found


def execution_of(entry: Entry, study: Study, where: str, wrong: list[str]) -> Execution:
    """On what the runs of an entry are computed: the study's `execution`, with the entry's own keys. If that is
    impossible, `wrong` takes a line for each reason, and it is the study's."""
    content = {**study.execution.model_dump(), **entry.execution}
    try:
        return Execution.model_validate(content)
    except ValidationError as error:
        wrong += [f"{where}.execution.{line}" for line in describe(error, content, Execution)]
        return study.execution


class Settled(Protocol):
    """A run of translation or of pre-training."""

    @property
    def settings(self) -> RunSettings | PretrainingSettings: ...


def misfits(
    run_id: str,
    others: Mapping[str, Settled],
    settings: RunSettings | PretrainingSettings,
    execution: Execution,
    where: str,
) -> list[str]:
    """What is wrong with a run beside the others, by their ids, and on what it is computed, a line each."""
    wrong = []
    if run_id in others and others[run_id].settings == settings:
        wrong.append(f"{where}: the run {run_id} is defined twice")
    elif run_id in others:
        differing = differing_keys(others[run_id].settings, settings)
        wrong.append(
            f"{where}: the run has the id {run_id} of another, which differs in {listed(differing)}: the name of a "
            "corpus or a text must not read like a setting; give it another"
        )
    if len(run_id) > LONGEST_ID:
        wrong.append(
            f"{where}: the run's id has {len(run_id)} characters, too long for a file's name; say what most runs share "
            f"in `settings`, for an id names what differs from them: {run_id}"
        )
    if settings.precision == "fp16" and not execution.gpus:
        wrong.append(f"{where}.precision: fp16 needs a GPU (execution.gpus); allowed on a CPU: fp32, bf16")
    if settings.accumulate % execution.workers:
        kind = (
            f"{execution.gpus} GPUs (execution.gpus)"
            if execution.gpus
            else f"{execution.processes} processes (execution.processes)"
        )
        wrong.append(
            f"{where}.accumulate: {settings.accumulate} cannot be shared by {kind}: a run's batch stays what it says, "
            "and each takes as many of the batches of an update as every other"
        )
    return wrong


def differing_keys(one: BaseModel, other: BaseModel) -> list[str]:
    """The settings in which two runs of a kind differ."""
    return [key for key in type(one).model_fields if getattr(one, key) != getattr(other, key)]


def in_effect(settings: RunSettings) -> RunSettings:
    """The settings, with those at their defaults that the run's optimizer or schedule does not use."""
    unread = schedules.unused(settings)
    if settings.optimizer == "sgd":
        unread |= {"beta1", "beta2", "epsilon"}
    return settings.model_copy(update={key: settings.default_of(key) for key in unread})


def undefined(where: str, name: str, defined: Collection[str]) -> str:
    """That a section does not define what a run names."""
    return f"{where}: {name!r} is not defined{meant(name, defined)}; defined: {listed(defined) or 'none'}"


def series(settings: S) -> S:
    """What runs that differ in the seed alone share: the settings, with the seed put to zero."""
    return settings.model_copy(update={"seed": 0})


_TOLD = {"placement", "optimizer", "learning_rate", "schedule", "warmup", "seed"}
"""The settings that have a part of an id each."""


def _run_id(settings: RunSettings, common: dict[str, Any], usual: dict[str, Any], several_corpora: bool) -> str:
    """Placement, optimizer, rate, schedule, whatever differs from the study's settings, and the seed."""
    schedule = schedules.of(settings)
    parts = [settings.placement, settings.optimizer, f"lr{short(settings.learning_rate)}", *schedule.parts()]
    said = schedule.told() | schedules.not_for(settings)
    parts += unusual(settings, {key: value for key, value in usual.items() if key not in said})
    if several_corpora and settings.corpus != common.get("corpus"):
        parts.append(settings.corpus)
    return "-".join([*parts, f"s{settings.seed}"])


def usual_values(model: type[BaseModel], common: dict[str, Any], told: Collection[str]) -> dict[str, Any]:
    """The study's own value of each setting that an id names where a run has another; those that an id has told already
    are left out."""
    fields = model.model_fields.items()
    return {key: common.get(key, field.default) for key, field in fields if key not in told and not field.is_required()}


def unusual(settings: BaseModel, usual: Mapping[str, Any]) -> list[str]:
    """The settings that are not the study's own, as parts of an id."""
    values = ((key, getattr(settings, key), common) for key, common in usual.items())
    return [
        f"{key.replace('_', '')}{short(value)}"
        for key, value, common in values
        if value != common and value != _as(value, common)
    ]


def _as(value: Any, usual: Any) -> Any:
    """`usual`, which may still be YAML's text for a number, in the type of `value`; as it is where it cannot be one:
    what no run takes over may be anything."""
    try:
        return type(value)(usual) if usual is not None and value is not None else usual
    except (TypeError, ValueError, OverflowError):
        return usual
