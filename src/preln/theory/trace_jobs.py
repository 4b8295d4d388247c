"""From a study to its traces of first updates, a job for each run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from preln.config import Corpus, Execution, Origin, RunSettings, Study
from preln.jobs.base import Job
from preln.jobs.prepared import Prepared
from preln.records import recording
from preln.theory.measurement_jobs import THEORY_VERSION
from preln.translation.runs import PREPARATION_VERSION, Run, runs_of

NOT_IN_A_TRACE = {"epochs", "drop_epoch", "drop_factor", "precision", "beam", "length_penalty", "bleu_sentences"}
"""A run's settings that do not affect its trace, which ends in the first epoch, is in fp32, and translates nothing. All
other settings, also future ones, are part of its identity."""


@dataclass(frozen=True)
class TraceJob(Job):
    """A trace of a run's first updates.

    Attributes:
        run: the run.
        updates: the number of updates.
        sharpness_every: updates between two measurements of the sharpness.
    """

    kind: ClassVar[str] = "first-updates"
    records: ClassVar[tuple[str, ...]] = (recording.RUN, "updates.csv")
    run: Run
    updates: int
    sharpness_every: int

    @property
    def id(self) -> str:
        """The run's id."""
        return self.run.id

    @property
    def settings(self) -> RunSettings:
        """The run's settings, in fp32."""
        return self.run.settings.model_copy(update={"precision": "fp32"})

    @property
    def corpus(self) -> Corpus:
        """The corpus of the mini-batches."""
        return self.run.corpus

    @property
    def execution(self) -> Execution:
        """The run's execution in a single process."""
        return self.run.execution.alone

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        """The prepared corpus."""
        return self.run.prepared

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change the trace's numbers, as plain JSON values."""
        return {
            "theory_version": THEORY_VERSION,
            "preparation_version": PREPARATION_VERSION,
            "corpus_settings": self.corpus.identity,
            # The corpus counts by its settings, not by its name.
            "run": self.settings.model_dump(mode="json", exclude=NOT_IN_A_TRACE | {"corpus"}),
            "updates": self.updates,
            "sharpness_every": self.sharpness_every,
        }


def expand(study: Study, origin: Origin = "study") -> list[TraceJob]:
    """The traces of a study; empty if it has no such section.

    Raises:
        StudyError: as in `preln.translation.runs.expand`.
    """
    section = study.first_updates
    if section is None:
        return []
    # A trace runs in one process, so skip the check that processes can share a batch.
    alone = study.model_copy(update={"execution": study.execution.alone})
    runs = runs_of(section, "first_updates", alone, origin)
    return [TraceJob(run, section.updates, section.sharpness_every) for run in runs]
