"""From a study to its pre-training runs and the fine-tunings of their checkpoints, with ids and identities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from preln.config import EnglishText, Execution, GridPoint, Origin, PretrainingSettings, Study, Task, placed, refuse
from preln.config.grid import MOST_RUNS
from preln.jobs.base import Job, Prepared, of_text, text_id
from preln.jobs.grid import GridKind
from preln.records import recording

ENGLISH_VERSION = 2
"""Raised when the code may prepare an English text or a task of pairs differently; a raise prepares them again, and
trains every run on them again. Not raised when the copies of held-out documents were left out of train, and when a
wrapped text was allowed a long title: the committed texts stay the same."""

PRETRAINING_VERSION = 1
"""Raised when the code may change a pre-training's numbers; a raise trains every run again."""

FINETUNING_VERSION = 1
"""Raised when the code may change a fine-tuning's scores."""

LONGEST_FINETUNING_ID = 240
"""A file name has 255 bytes at most, and a log is named after its fine-tuning."""


@dataclass(frozen=True)
class PretrainingRun(Job):
    """A pre-training: its id in the study, its settings, its text, whether its checkpoints are fine-tuned, and its
    execution, which is not part of its identity."""

    kind: ClassVar[str] = "pretraining"
    records: ClassVar[tuple[str, ...]] = (recording.RUN, "curve.csv", recording.METRICS)
    id: str
    settings: PretrainingSettings
    text: EnglishText
    finetune: bool
    execution: Execution

    @property
    def identity(self) -> dict[str, Any]:
        return {
            "pretraining_version": PRETRAINING_VERSION,
            "english_version": ENGLISH_VERSION,
            "text_settings": self.text.identity,
            **self.settings.model_dump(mode="json"),
        }

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        return (of_text(self.settings.text, self.text),)


@dataclass(frozen=True)
class FinetuningJob(Job):
    """The fine-tuning of a run's checkpoint of the `update` on one task: the whole grid, and all seeds."""

    kind: ClassVar[str] = "finetuning"
    records: ClassVar[tuple[str, ...]] = (recording.RUN, "scores.csv")
    run: PretrainingRun
    update: int
    task_name: str
    task: Task
    points: tuple[GridPoint, ...]
    fixed: GridPoint
    seeds: int

    @property
    def id(self) -> str:
        """For example `pre-lr3e-4-wu0-s1-u500000-mrpc`."""
        return f"{self.run.id}-u{self.update}-{self.task_name}"

    @property
    def identity(self) -> dict[str, Any]:
        return {**self.origin, "points": [point.model_dump() for point in self.points], "seeds": self.seeds}

    @property
    def execution(self) -> Execution:
        """The run's execution in a single process: a fine-tuning is too small for several."""
        return self.run.execution.alone

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        """The prepared text of the run, and the task as the run's model reads it. A record has no checksums of them."""
        (text,) = self.run.prepared
        model = f"{text_id(self.run.settings.text, self.run.text)}-{self.run.settings.sequence_length}"
        folder = f"resources/tasks/{text_id(self.task_name, self.task)}/{model}"
        task = Prepared(folder, self.task, ("pieces", "binary"), "pieces", option="--task")
        return replace(text, stages=("binary",), record=""), task

    @property
    def weights_of(self) -> tuple[Job, ...]:
        return (self.run,)

    @property
    def origin(self) -> dict[str, Any]:
        """Everything that can change the score of one point and seed."""
        return {
            "finetuning_version": FINETUNING_VERSION,
            "run": self.run.identity,
            "update": self.update,
            "task": self.task.identity,
        }


def _too_short(run: PretrainingRun, study: Study) -> Iterable[str]:
    """Say of a run that it ends before a checkpoint that is fine-tuned."""
    last = max(study.pretraining.checkpoints, default=0) if study.pretraining else 0
    if run.finetune and last > run.settings.updates:
        yield f".updates: {run.settings.updates} are fewer than the last of pretraining.checkpoints, {last}"


GRID = GridKind(
    PretrainingSettings,
    text="text",
    texts="texts",
    id_of_schedule=lambda settings: ([f"wu{settings.warmup}"], frozenset()),
    new_run=lambda run_id, settings, text, entry, execution: PretrainingRun(
        run_id, settings, text, entry.finetune, execution.padded
    ),
    problems=_too_short,
)


def expand(study: Study, origin: Origin = "study") -> list[PretrainingRun]:
    """The runs of a study's pre-training grid, as `GridKind.expand`."""
    return GRID.expand(study.pretraining, "pretraining", study, origin)


def finetunings(study: Study, origin: Origin = "study") -> list[FinetuningJob]:
    """The fine-tunings of a study: each task, run and checkpoint.

    Raises:
        StudyError: if there are too many, a name is too long for a file, or a run is impossible.
    """
    if study.pretraining is None or study.finetuning is None:
        return []
    grid = study.finetuning
    points = tuple(grid.points)
    runs = [run for run in expand(study, origin) if run.finetune]
    count = len(grid.tasks) * len(runs) * len(study.pretraining.checkpoints)
    if count > MOST_RUNS:
        line = f"finetuning: {count:,} tasks, runs and checkpoints; allowed: {MOST_RUNS:,} or fewer"
        refuse(placed(origin, [line]))
    jobs = [
        FinetuningJob(run, update, task, study.tasks[task], points, grid.fixed, grid.seeds)
        for task in grid.tasks
        for run in runs
        for update in study.pretraining.checkpoints
    ]
    longest = max((job.id for job in jobs), key=len, default="")
    if len(longest) > LONGEST_FINETUNING_ID:
        line = (
            f"finetuning: the fine-tuning {longest} has a name of {len(longest)} characters, too long for a file's; "
            f"allowed: {LONGEST_FINETUNING_ID} or fewer. Give its task or its run a shorter one: a run's names what "
            "differs from pretraining.settings"
        )
        refuse(placed(origin, [line]))
    return jobs
