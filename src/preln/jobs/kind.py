"""The description of a kind of jobs, for the commands and the workflow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from preln.config import Origin, Study
from preln.jobs.base import Job

if TYPE_CHECKING:
    from pandas import DataFrame

    from preln.commands.cost import Estimate
    from preln.commands.progress import Progress
    from preln.training.training import TrainedModel

J = TypeVar("J", bound=Job)


@dataclass(frozen=True)
class Number:
    """A result of one seed, which `preln compare` compares: the job's name without the seed, the quantity
    (`valid_loss`, `test_bleu`, `test_chrf` or `accuracy`), and the value, None if the run diverged before it had
    one."""

    name: str
    quantity: str
    seed: int
    value: float | None
    diverged: bool = False


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[J]):
    """A kind of jobs.

    Attributes:
        name: the folder of a study's results in which each of them has a folder.
        title: what they are called, in the plural.
        expand: makes the jobs of a study; raises StudyError for jobs that are impossible.
        unit: what their progress is counted in.
        digits: of the progress.
        progress: a job's progress from its folder, at a time in seconds since the epoch.
        estimates: the length and cost of each job, with the texts below the workflow's folder; None if they are not
            planned.
        numbers: what is compared of those jobs that are done, from the folder of all studies' results.
        curves: the curves of those jobs that are done, from there: a row for each moment, with the columns `run`,
            `update` or `updates`, perhaps `epoch`, and one for each quantity. None if they have none.
        trained: the model of a run, from the folder of its prepared text and its own; None if they train none that is
            exported.
    """

    name: str
    title: str
    expand: Callable[[Study, Origin], Sequence[J]]
    unit: str
    progress: Callable[[J, Path, float], Progress]
    digits: int = 0
    estimates: Callable[[Sequence[J], Path], list[Estimate]] | None = None
    numbers: Callable[[Study, Sequence[J], Path], Iterator[Number]] | None = None
    curves: Callable[[Study, Sequence[J], Path], DataFrame] | None = None
    trained: Callable[[J, Path, Path], TrainedModel] | None = None
