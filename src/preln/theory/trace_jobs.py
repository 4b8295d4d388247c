"""From a study to the traces of first updates, each one job: which run it makes, and what its numbers depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from preln.config import Corpus, Execution, Origin, RunSettings, Study
from preln.jobs.base import Job
from preln.jobs.runs import PREPARATION_VERSION, Run, runs_of
from preln.records import recording
from preln.theory.measurement_jobs import THEORY_VERSION

NOT_IN_A_TRACE = {
    *("epochs", "drop_epoch", "drop_factor", "precision"),
    *("beam", "length_penalty", "bleu_sentences"),
}
"""The settings of a run that its trace does not depend on: the trace ends in the first epoch, is in fp32, and
translates nothing. It depends on all others, also those to come."""


@dataclass(frozen=True)
class TraceJob(Job):
    """The trace of a run's first updates.

    Attributes:
        run: the run.
        updates: how many are made.
        sharpness_every: updates between two measurements of the sharpness.
    """

    kind: ClassVar[str] = "first-updates"
    records: ClassVar[tuple[str, ...]] = (recording.RUN, "updates.csv")
    run: Run
    updates: int
    sharpness_every: int

    @property
    def id(self) -> str:
        """The run's."""
        return self.run.id

    @property
    def settings(self) -> RunSettings:
        """The run's, in fp32."""
        return self.run.settings.model_copy(update={"precision": "fp32"})

    @property
    def corpus(self) -> Corpus:
        """What its mini-batches are of."""
        return self.run.corpus

    @property
    def execution(self) -> Execution:
        """On what it is computed; several processes do not share it."""
        return self.run.execution.alone

    @property
    def identity(self) -> dict[str, Any]:
        """All that can change the trace's numbers, as plain JSON values."""
        return {
            "theory_version": THEORY_VERSION,
            "preparation_version": PREPARATION_VERSION,
            "corpus_settings": self.corpus.identity,
            # The name of the corpus is not the text.
            "run": self.settings.model_dump(mode="json", exclude=NOT_IN_A_TRACE | {"corpus"}),
            "updates": self.updates,
            "sharpness_every": self.sharpness_every,
        }


def expand(study: Study, origin: Origin = "study") -> list[TraceJob]:
    """The traces of a study; none where it has no such section.

    Raises:
        StudyError: as `preln.jobs.runs.expand`.
    """
    asked = study.first_updates
    if asked is None:
        return []
    # That the GPUs or processes of a training cannot share a run's batch is nothing to a trace.
    alone = study.model_copy(update={"execution": study.execution.alone})
    runs = runs_of(asked, "first_updates", alone, origin)
    return [TraceJob(run, asked.updates, asked.sharpness_every) for run in runs]
