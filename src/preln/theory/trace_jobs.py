"""From a study to its traces of first updates, a job for each run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from preln.config import Execution, LanguageSettings, Origin, RunSettings, Study
from preln.config.first_updates import LanguageFirstUpdates
from preln.jobs.base import Job, Prepared
from preln.jobs.grid import GridKind
from preln.language import runs as language
from preln.language.runs import LanguageRun
from preln.records import recording
from preln.theory.measurement_jobs import THEORY_VERSION
from preln.translation import runs as translation
from preln.translation.runs import Run

NOT_IN_A_TRACE = {
    *("epochs", "drop_epoch", "drop_factor", "precision", "beam", "length_penalty", "bleu_sentences"),
    *("updates", "validate_every", "valid_tokens"),
}
"""A run's settings that do not affect its trace, which ends in the first epoch, is in fp32, and neither validates nor
translates. All other settings, also future ones, are part of its identity."""

TracedSettings = RunSettings | LanguageSettings


@dataclass(frozen=True)
class TraceJob(Job):
    """A trace of the first `updates` of a run in fp32, with a measurement of the sharpness every `sharpness_every` of
    them."""

    kind: ClassVar[str] = "first-updates"
    records: ClassVar[tuple[str, ...]] = (recording.RUN, "updates.csv")
    run: Run | LanguageRun
    updates: int
    sharpness_every: int

    @property
    def id(self) -> str:
        return self.run.id

    @property
    def settings(self) -> TracedSettings:
        return self.run.settings

    @property
    def execution(self) -> Execution:
        return self.run.execution.alone

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        return self.run.prepared

    @property
    def identity(self) -> dict[str, Any]:
        return {
            "theory_version": THEORY_VERSION,
            **self.run.text_identity,
            # The text counts by its settings, not by its name.
            "run": self.settings.model_dump(mode="json", exclude=NOT_IN_A_TRACE | {"corpus", "text"}),
            "updates": self.updates,
            "sharpness_every": self.sharpness_every,
        }


def expand(study: Study, origin: Origin = "study") -> list[TraceJob]:
    """The traces of a study's first updates, as `GridKind.expand`; empty if it has no such section."""
    section = study.first_updates
    if section is None:
        return []
    # A trace runs in one process, so skip the check that processes can share a batch.
    alone = study.model_copy(update={"execution": study.execution.alone})
    grid: GridKind[Any, Any] = language.GRID if isinstance(section, LanguageFirstUpdates) else translation.GRID
    runs = grid.expand(section, "first_updates", alone, origin)
    in_fp32 = [replace(run, settings=run.settings.model_copy(update={"precision": "fp32"})) for run in runs]
    return [TraceJob(run, section.updates, section.sharpness_every) for run in in_fp32]
