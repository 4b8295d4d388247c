"""The records of a study's language models as tidy frames. A run counts as done when its folder holds metrics.json."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from preln.config import Study
from preln.language.runs import LanguageRun, expand
from preln.report.core.entries import Source
from preln.report.core.records import origin_lines
from preln.report.core.validated import Validated, read

Records = Validated[LanguageRun]


def load(study: Study, runs: Sequence[LanguageRun], results: Path) -> Records:
    """The records of what is done of some runs, as `read` has them; `results` is the folder of the results of all
    studies."""
    curves, metrics, origins = read(study, runs, results)
    progress = f"Study {study.study}: {len(metrics)} of {len(runs)} language models are done."
    return Records(tuple(runs), curves, metrics, progress, origin_lines(origins))


SOURCE = Source(expand, load)
