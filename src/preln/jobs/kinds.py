"""The kinds of jobs that a study may have. A new kind of training is one more folder, imported and named here."""

from __future__ import annotations

from typing import Any

from preln.config import Origin, Study
from preln.jobs.base import Job
from preln.jobs.kind import Kind
from preln.language.kind import LANGUAGE
from preln.pretraining.kind import FINETUNING, PRETRAINING
from preln.theory.kind import FIRST_UPDATES, THEORY
from preln.translation.kind import TRANSLATION

KINDS: dict[str, Kind[Any]] = {
    kind.name: kind for kind in (TRANSLATION, PRETRAINING, FINETUNING, LANGUAGE, THEORY, FIRST_UPDATES)
}
"""By name, in the order of a study's records."""

REPORTS = ("translation.report", "pretraining.report", "language.report", "theory.report")
"""The packages of `preln` whose modules declare figures and tables of these kinds."""


def jobs_of(study: Study, origin: Origin = "study") -> list[Job]:
    """All jobs of a study.

    Raises:
        StudyError: if one is impossible.
    """
    return [job for kind in KINDS.values() for job in kind.expand(study, origin)]
