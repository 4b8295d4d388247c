"""Checks of a study before any job: its keys, its grids, its theory, and the files that it names.

`preln plan` and the workflow share these checks. One message has all mistakes in keys and values. If there are none,
one has all mistakes in jobs and files.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preln.config import Mistake, Origin, Study, StudyError, placed, read, refuse, validate
from preln.corpora import local
from preln.discovery import located
from preln.errors import PrelnError
from preln.jobs.base import Job
from preln.jobs.kinds import KINDS
from preln.placements import COME_ALONG, PLACEMENTS
from preln.placements.base import Placement, Shape, as_it_is, places, profiling

_SHAPE = Shape(width=8, inner=16)
_LAYERS = 2
"""The small model in which a placement that does not come along is tried."""


@dataclass(frozen=True)
class Checked:
    """A study that passed all checks, and its jobs by kind."""

    study: Study
    jobs: dict[str, list[Any]]

    @property
    def every(self) -> list[Job]:
        return [job for jobs in self.jobs.values() for job in jobs]


def check_file(path: Path) -> Checked:
    """Read and `check` a study."""
    return check(read(path), path)


def check(content: Any, origin: Origin) -> Checked:
    """Check the study in `content`, which was read from `origin`.

    Raises:
        StudyError: with a line for each mistake, which names the file, its line and the key.
    """
    study = validate(content, origin)
    wrong: list[Mistake] = []
    jobs: dict[str, list[Any]] = {}
    for kind in KINDS.values():
        try:
            jobs[kind.name] = list(kind.expand(study, origin))
        except StudyError as error:
            wrong.extend(error.mistakes)
    refuse([*wrong, *placed(origin, [*_shared_ids(jobs), *local.mistakes(study, origin)])])
    models = (getattr(job, "settings", None) for of_kind in jobs.values() for job in of_kind)
    for key in dict.fromkeys(model.placement for model in models if model is not None):
        if key not in COME_ALONG:
            _try(PLACEMENTS[key])
    return Checked(study, jobs)


def _shared_ids(jobs: Mapping[str, Sequence[Job]]) -> Iterator[str]:
    """A line for each training whose id a training of another kind has: commands find a training by its id."""
    kinds: dict[str, str] = {}
    for name, of_kind in jobs.items():
        for job in of_kind if KINDS[name].numbers and KINDS[name].curves else ():
            if (other := kinds.setdefault(job.id, name)) != name:
                yield f"{name}: the run {job.id} has the id of a run of `{other}`; move one of them to another study"


def _try(placement: Placement) -> None:
    """Try a placement that does not come along: the error for a connection that cannot be built, fails, or changes the
    shape of the stream names the line."""
    import torch

    file, (_, line) = Path(inspect.getfile(placement.residual)), inspect.getsourcelines(placement.residual)
    try:
        for depths in ((_LAYERS, 0), (0, _LAYERS)):
            stack: list[Any] = [placement.connection(_SHAPE, place) for place in places(*depths)]
            stream = embeddings = torch.randn(3, 2, _SHAPE.width)
            with profiling(stack) if placement.profiled else torch.enable_grad():
                for residual in stack:
                    stream = residual(stream, lambda h, inside=as_it_is: inside(h.tanh()))
                if placement.output is not None:
                    stream = placement.stack_norm(_SHAPE)(stream)  # type: ignore[misc]
            if stream.shape != embeddings.shape:
                was, now = tuple(embeddings.shape), tuple(stream.shape)
                name = placement.residual.__name__
                raise PrelnError(f"{file}:{line}: {name}: returns a stream of shape {now} for one of shape {was}")
    except PrelnError:
        raise
    except Exception as error:
        raise PrelnError(located(error, file)) from error
