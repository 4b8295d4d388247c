"""Shell completion for the folder of results on the command line.

It runs while the user types, so it must not import training code or print errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from preln.config import Study, of_results
from preln.jobs.results import of_folder

Completion = Callable[[typer.Context], list[str]]


def _of_study(names: Callable[[Study], Iterable[str]]) -> Completion:
    def complete(context: typer.Context) -> list[str]:
        try:
            return list(names(of_results(of_folder(Path(context.params["results"])))))
        except Exception:
            # The command itself will report the error.
            return []

    return complete


def _translations(study: Study) -> Iterable[str]:
    from preln.translation.runs import expand

    return [run.id for run in expand(study)]


def _all_runs(study: Study) -> Iterable[str]:
    from preln.jobs.kinds import KINDS

    # A trace has the id of its run.
    return dict.fromkeys(job.id for kind in KINDS.values() if kind.curves for job in kind.expand(study, "study"))


def _figures(study: Study) -> Iterable[str]:
    from preln.report.catalogue import Catalogue

    return Catalogue(study).figures


def _tables(study: Study) -> Iterable[str]:
    from preln.report.catalogue import Catalogue

    return Catalogue(study).tables


translations, all_runs = _of_study(_translations), _of_study(_all_runs)
"""The ids of the translation runs, and of all trained and traced runs."""

figures, tables = _of_study(_figures), _of_study(_tables)
"""The names of the figures and of the tables."""


def questions() -> list[str]:
    """The labels of the questions."""
    from preln.questions import QUESTIONS

    return [question.label for question in QUESTIONS.values()]


def gpus() -> list[str]:
    """The names of the GPUs that `preln plan` knows."""
    from preln.commands.plan import GPUS

    return list(GPUS)
