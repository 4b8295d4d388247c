"""From a grid of a study to its runs: every combination of settings, with an id each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from preln import schedules
from preln.config import (
    Entry,
    Execution,
    Grid,
    LanguageSettings,
    ModelSettings,
    Origin,
    RunSettings,
    Study,
    describe,
    placed,
    refuse,
)
from preln.config.base import listed, meant
from preln.placements import PLACEMENTS
from preln.values import short

LONGEST_ID = 200
"""Characters; the id of a run is in the names of files, which are no longer than 255 bytes."""

S = TypeVar("S", bound=BaseModel)
T = TypeVar("T", bound=ModelSettings)


class Settled(Protocol):
    """A job with settings of a run."""

    @property
    def settings(self) -> ModelSettings: ...


class GridRun(Settled, Protocol):
    """A run of a grid."""

    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=GridRun)


def unused(settings: RunSettings | LanguageSettings) -> frozenset[str]:
    """The settings that the run's optimizer or schedule does not use."""
    of_adam = {"beta1", "beta2", "epsilon"} if settings.optimizer == "sgd" else set()
    return schedules.unused(settings) & type(settings).model_fields.keys() | of_adam


def id_of_schedule(settings: RunSettings | LanguageSettings) -> tuple[list[str], Set[str]]:
    """The parts of an id for a run's schedule, and the settings that they name."""
    schedule = schedules.of(settings)
    return schedule.parts(), {"schedule"} | schedule.told() | schedules.not_for(settings)


@dataclass(frozen=True)
class GridKind(Generic[T, R]):
    """How a kind of grid makes runs.

    Attributes:
        settings: the class of a run's settings.
        text: the setting that names the run's text.
        texts: the section of the study that defines the texts.
        id_of_schedule: the parts of an id for a run's warm-up and schedule, and the settings that they name.
        leading: settings whose values alone are in every id, behind the placement.
        new_run: makes a run of its id, settings, text, entry and execution.
        problems: further reasons why a run of a study is impossible; each run is asked about once, in order.
        unused: the settings that do not change the numbers of a run with these settings.
    """

    settings: type[T]
    text: str
    texts: str
    id_of_schedule: Callable[[T], tuple[list[str], Set[str]]]
    new_run: Callable[[str, T, Any, Any, Execution], R]
    leading: tuple[str, ...] = ()
    problems: Callable[[R, Study], Iterable[str]] = lambda run, study: ()
    unused: Callable[[T], Set[str]] = lambda settings: frozenset()

    def run_id(self, settings: T, common: Mapping[str, Any], study: Study) -> str:
        """The id of a run whose settings differ from those that are `common` to its grid: what every id has, then the
        settings that are not the study's own, those that every run must give last, the text and the seed."""
        schedule, named = self.id_of_schedule(settings)
        named |= {self.text, "placement", *self.leading, "learning_rate", "warmup", "seed"}
        parts = [PLACEMENTS[settings.placement].name, *(getattr(settings, key) for key in self.leading)]
        parts += [f"lr{short(settings.learning_rate)}", *schedule]
        fields = sorted(self.settings.model_fields.items(), key=lambda field: field[1].is_required())
        usual = {key: common.get(key, None if field.is_required() else field.default) for key, field in fields}
        parts += unusual(settings, {key: value for key, value in usual.items() if key not in named})
        text = getattr(settings, self.text)
        # The first text is the usual one where the grid names none, so that runs keep their ids when another is added.
        if text != common.get(self.text, next(iter(getattr(study, self.texts)))):
            parts.append(text)
        return "-".join([*parts, f"s{settings.seed}"])

    def expand(self, grid: Grid[Any] | None, section: str, study: Study, origin: Origin) -> list[R]:
        """The runs of a grid of a study, which is its `section`, in the order of the file; none where there is none.

        Raises:
            StudyError: with a line for each entry that is impossible, names a text that is not defined, or defines a
                run or a training that another entry defines already.
        """
        if grid is None:
            return []
        runs: dict[str, R] = {}
        trainings: dict[ModelSettings, str] = {}
        wrong: list[str] = []
        texts = getattr(study, self.texts)
        for number, entry in enumerate(grid.runs):
            where = f"{section}.runs.{number}"
            execution = _execution(entry, study, where, wrong)
            for settings in _combinations(self.settings, grid.settings, entry.own, where, wrong):
                text = getattr(settings, self.text)
                if text not in texts:
                    hint = f"{meant(text, texts)}; defined: {listed(texts) or 'none'}"
                    wrong.append(f"{where}.{self.text}: {text!r} is not defined{hint}")
                    continue
                run_id = self.run_id(settings, grid.settings, study)
                run = self.new_run(run_id, settings, texts[text], entry, execution)
                reasons = [*_misfits(run_id, runs, settings, execution), *self.problems(run, study)]
                in_effect = {key: settings.default_of(key) for key in self.unused(settings)}
                twin = trainings.setdefault(settings.model_copy(update=in_effect), run_id)
                if twin != run_id:
                    differing = listed(differing_keys(runs[twin].settings, settings))
                    reasons.append(
                        f": {run_id} is the same training as {twin}: they differ only in {differing}, which neither "
                        "uses; leave one out"
                    )
                wrong += [f"{where}{reason}" for reason in reasons]
                runs[run_id] = run
        refuse(placed(origin, wrong))
        return list(runs.values())


def _combinations(
    model: type[S], common: Mapping[str, Any], own: Mapping[str, Any], where: str, wrong: list[str]
) -> list[S]:
    """The settings of each run of an entry, in the order of the file: of lists, every combination. `wrong` takes a line
    for each mistake in a combination, which is then left out; `where` is the entry's place for such lines."""
    axes = [value if isinstance(value, list | tuple) else [value] for value in own.values()]
    runs = []
    for values in itertools.product(*axes):
        content = {**common, **dict(zip(own, values, strict=True))}
        try:
            runs.append(model.model_validate(content))
        except ValidationError as error:
            wrong += [f"{where}.{line}" for line in describe(error, content, model)]
    return runs


def _execution(entry: Entry, study: Study, where: str, wrong: list[str]) -> Execution:
    """The execution of an entry's runs: the study's, with the entry's own keys. If that is impossible, `wrong` takes a
    line for each reason, and it is the study's."""
    content = {**study.execution.model_dump(), **entry.execution}
    try:
        return Execution.model_validate(content)
    except ValidationError as error:
        wrong += [f"{where}.execution.{line}" for line in describe(error, content, Execution)]
        return study.execution


def _misfits(run_id: str, runs: Mapping[str, Settled], settings: ModelSettings, execution: Execution) -> list[str]:
    """The reasons why a run does not fit the earlier ones, its execution, or a file's name, each behind its key."""
    wrong = []
    if run_id in runs and runs[run_id].settings == settings:
        wrong.append(f": the run {run_id} is defined twice")
    elif run_id in runs:
        wrong.append(
            f": the run has the id {run_id} of another, which differs in "
            f"{listed(differing_keys(runs[run_id].settings, settings))}: give the "
            "placement, corpus or text another name, which does not read like a setting"
        )
    if len(run_id) > LONGEST_ID:
        wrong.append(
            f": the run's id has {len(run_id)} characters, too long for a file's name; say what most runs share "
            f"in `settings`, for an id names what differs from them: {run_id}"
        )
    if settings.precision == "fp16" and not execution.gpus:
        wrong.append(".precision: fp16 needs a GPU (execution.gpus); allowed on a CPU: fp32, bf16")
    if settings.accumulate % execution.workers:
        kind = (
            f"{execution.gpus} GPUs (execution.gpus)"
            if execution.gpus
            else f"{execution.processes} processes (execution.processes)"
        )
        wrong.append(
            f".accumulate: {settings.accumulate} cannot be shared by {kind}: a run's batch stays what it says, "
            "and each takes as many of the batches of an update as every other"
        )
    return wrong


def differing_keys(first: BaseModel, second: BaseModel) -> list[str]:
    """The settings in which two runs of a kind differ."""
    return [key for key in type(first).model_fields if getattr(first, key) != getattr(second, key)]


def series(settings: S) -> S:
    """The settings that runs share which differ in the seed alone: with the seed put to zero."""
    return settings.model_copy(update={"seed": 0})


def series_name(run: GridRun) -> str:
    """The id of a run without its seed."""
    return run.id.removesuffix(f"-s{run.settings.seed}")


def unusual(settings: BaseModel, usual: Mapping[str, Any]) -> list[str]:
    """The settings that are not the study's own, as parts of an id."""
    values = ((key, getattr(settings, key), common) for key, common in usual.items())
    return [
        f"{key.replace('_', '')}{short(value)}"
        for key, value, common in values
        if value != common and value != _as(value, common)
    ]


_of_type: Callable[[type], TypeAdapter[Any]] = cache(TypeAdapter)


def _as(value: Any, usual: Any) -> Any:
    """`usual`, which may still be YAML's text for a number, in the type of `value`; unchanged if it cannot be one,
    because a setting that no run takes over may be anything."""
    try:
        return _of_type(type(value)).validate_python(usual) if usual is not None and value is not None else usual
    except ValidationError:
        return usual
