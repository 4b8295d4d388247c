"""From a study to its pre-training runs and the fine-tunings of their checkpoints, with ids and identities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from preln.config import EnglishText, Execution, GridPoint, Origin, PretrainingSettings, Study, Task, placed, refuse
from preln.config.grid import MOST_RUNS
from preln.jobs.base import Job
from preln.jobs.runs import combinations, execution_of, misfits, undefined, unusual, usual_values
from preln.records import recording
from preln.values import short

ENGLISH_VERSION = 2
"""Raised when the code may prepare an English text or a task of pairs differently; a raise prepares them again, and
trains every run on them again."""

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
        """Everything that can change the run's numbers, as plain JSON values."""
        return {
            "pretraining_version": PRETRAINING_VERSION,
            "english_version": ENGLISH_VERSION,
            "text_settings": self.text.identity,
            **self.settings.model_dump(mode="json"),
        }


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
        """Everything that can change the scores, and the points and seeds."""
        return {
            **self.origin,
            "points": [point.model_dump() for point in self.points],
            "seeds": self.seeds,
        }

    @property
    def execution(self) -> Execution:
        """The run's execution in a single process: a fine-tuning is too small for several."""
        return self.run.execution.alone

    @property
    def origin(self) -> dict[str, Any]:
        """Everything that can change the score of one point and seed."""
        return {
            "finetuning_version": FINETUNING_VERSION,
            "run": self.run.identity,
            "update": self.update,
            "task": self.task.identity,
        }


def expand(study: Study, origin: Origin = "study") -> list[PretrainingRun]:
    """The runs of a study's pre-training grid, in the order of the file.

    Raises:
        StudyError: with a line for each entry that is impossible, names a text that is not defined, ends before a
            checkpoint that is fine-tuned, or defines a run that another entry defines already.
    """
    if study.pretraining is None:
        return []
    common = study.pretraining.settings
    usual = usual_values(PretrainingSettings, common, _ID_SETTINGS)
    last = max(study.pretraining.checkpoints, default=0)
    runs: dict[str, PretrainingRun] = {}
    wrong: list[str] = []
    for number, entry in enumerate(study.pretraining.runs):
        where = f"pretraining.runs.{number}"
        execution = execution_of(entry, study, where, wrong)
        for settings in combinations(PretrainingSettings, common, entry.own, where, wrong):
            if settings.text not in study.texts:
                wrong.append(undefined(f"{where}.text", settings.text, study.texts))
                continue
            if entry.finetune and last > settings.updates:
                wrong.append(
                    f"{where}.updates: {settings.updates} are fewer than the last of pretraining.checkpoints, {last}"
                )
            run_id = _run_id(settings, common, usual, several_texts=len(study.texts) > 1)
            wrong += misfits(run_id, runs, settings, execution, where)
            runs[run_id] = PretrainingRun(run_id, settings, study.texts[settings.text], entry.finetune, execution)
    refuse(placed(origin, wrong))
    return list(runs.values())


def finetunings(study: Study, origin: Origin = "study") -> list[FinetuningJob]:
    """The fine-tunings of a study: each task, run and checkpoint.

    Raises:
        StudyError: as in `expand`.
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


_ID_SETTINGS = {"placement", "learning_rate", "warmup", "seed"}
"""The settings that always appear in an id."""


def _run_id(settings: PretrainingSettings, common: dict[str, Any], usual: dict[str, Any], several_texts: bool) -> str:
    """A run's id: placement, rate, warm-up, settings that differ from the study's, and the seed."""
    parts = [settings.placement, f"lr{short(settings.learning_rate)}", f"wu{settings.warmup}"]
    parts += unusual(settings, usual)
    parts += unusual(settings, {key: common.get(key) for key in ("updates", "validate_every")})
    if several_texts and settings.text != common.get("text"):
        parts.append(settings.text)
    return "-".join([*parts, f"s{settings.seed}"])
