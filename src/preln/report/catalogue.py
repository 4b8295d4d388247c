"""The catalogue of figures and tables: found in the modules of the report, each of which declares its own.

The command line, the rules, Snakemake's report and the page take from here which figures and tables a study has, what
each is made from, and the code that makes it.
"""

from __future__ import annotations

import hashlib
import pkgutil
from collections.abc import Collection, Iterable
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from preln.config import Study
from preln.config.base import meant
from preln.errors import PrelnError
from preln.jobs.base import Job, digest
from preln.jobs.kinds import REPORTS, jobs_of
from preln.records import packed
from preln.report.core.entries import Entry, Figure, Source, Table

REPORT = "report.html"
LEADING = ("finding", "4", "placements", "failure-map", "runs", "pretraining", "theory", "first-updates")
"""The figures of which the first that a study has is the picture of what it found."""

_CODE_AND_DATA = (".py", ".csv", ".yaml", ".j2", ".css", ".js")
_SOURCE = Path(__file__).parents[1]
_SUBJECTS = (*REPORTS, "questions.core")
"""The packages of `preln` whose modules declare figures and tables."""
_LOOKING_ALIKE = ("translation", "first-updates")
"""The kinds of jobs whose runs have one look in all figures."""

E = TypeVar("E", bound=Entry[Any])


def _declared(kind: type[E]) -> dict[str, E]:
    """All entries of a kind by name; two of one name are refused, for each would write the other's files."""
    by_name: dict[str, E] = {}
    for subject in _SUBJECTS:
        for module in pkgutil.iter_modules([str(_SOURCE / subject.replace(".", "/"))]):
            name = f"preln.{subject}.{module.name}"
            for entry in vars(import_module(name)).values():
                if isinstance(entry, kind) and by_name.setdefault(entry.name, entry) is not entry:
                    noun = kind.__name__.lower()
                    raise PrelnError(f"{name}: another module has a {noun} of the name {entry.name!r} already")
    return by_name


# The paper's figures come first, by their numbers, and a heuristic last.
FIGURES: dict[str, Figure[Any]] = dict(
    sorted(_declared(Figure).items(), key=lambda entry: (entry[0] == "rate-budgets", entry[0]))
)
# The runs come first, and a heuristic last.
TABLES: dict[str, Table[Any]] = dict(
    sorted(_declared(Table).items(), key=lambda entry: {"runs": -1, "rate-budgets": 1}.get(entry[0], 0))
)


class Catalogue:
    """The figures and tables that a study has, by name; the ledger of the claims is among the tables."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._jobs: dict[Source[Any, Any], list[Any]] = {}
        self._records: dict[tuple[Source[Any, Any], Path, tuple[str, ...]], Any] = {}
        self.figures = {name: figure for name, figure in FIGURES.items() if self.jobs(figure)}
        self.tables = {name: table for name, table in TABLES.items() if self.jobs(table)}

    def figure(self, name: str) -> Figure[Any]:
        """The figure of a name, or an error that names those that the study has."""
        return self._of_name("figure", name, FIGURES, self.figures)

    def table(self, name: str) -> Table[Any]:
        """The table of a name, likewise."""
        return self._of_name("table", name, TABLES, self.tables)

    def _of_name(self, kind: str, name: str, declared: dict[str, E], shown: dict[str, E]) -> E:
        if name in shown:
            return shown[name]
        if name in declared:
            why = f"study {self.study.study} has nothing that it shows"
        else:
            why = f"not known{meant(name.removeprefix(f'{kind}-'), shown)}"
        raise PrelnError(f"{kind} {name}: {why}; allowed: {', '.join(shown)}")

    def jobs(self, entry: Entry[Any]) -> list[Any]:
        """The jobs that a figure or a table shows."""
        source = entry.source
        if source not in self._jobs:
            self._jobs[source] = list(source.jobs(self.study))
        return list(entry.of(self.study, self._jobs[source]))

    @cached_property
    def everything(self) -> list[Any]:
        """All jobs of the study."""
        return jobs_of(self.study)

    def load(self, entry: Entry[Any], results: Path) -> Any:
        """The records of what a figure or a table shows, read once, as its source reads them; `results` is the folder
        of the results of all studies."""
        jobs = self.jobs(entry)
        shown = entry.source, results, tuple(job.folder for job in jobs)
        if shown not in self._records:
            self._records[shown] = entry.source.load(self.study, jobs, results)
        return self._records[shown]

    def records(self, entry: Entry[Any]) -> list[str]:
        """The files of these records, in the folder of the study's results."""
        return [file for job in self.jobs(entry) for file in job.files]

    def progress(self, jobs: Collection[Job], results: Path) -> str:
        """A sentence that counts those of the jobs that have all of their records; empty where all have."""
        folder = results / self.study.study
        done = sum(all(packed.exists(folder / file) for file in job.files) for job in jobs)
        return "" if done == len(jobs) else f"{done} of {len(jobs)} jobs are done; the others may change what is shown."

    def files(self) -> list[str]:
        """Every record of the study, and every file of its figures and tables, in the folder of its results."""
        records = [file for job in self.everything for file in job.files]
        return [*records, *self.pictures(), *(file for table in self.tables.values() for file in table.files)]

    def pictures(self) -> list[str]:
        """The files of its figures."""
        return [file for figure in self.figures.values() for file in figure.files]

    def content(self, jobs: Iterable[Job]) -> str:
        """A checksum of what a figure or a table says of these jobs beside their records: of what they are, in their
        order, and what the study says of them."""
        described = self.study.model_dump(mode="json", include={"description", "paper_settings", "paper_curves"})
        if self.study.pretraining:
            described["loss"] = self.study.pretraining.loss
        if self.study.finetuning:
            described["fixed"] = self.study.finetuning.fixed.model_dump()
        jobs = list(jobs)
        if any(job.kind in _LOOKING_ALIKE for job in jobs):
            # The look of a curve is its place in the whole grid.
            described["grid"] = [job.folder for job in self.everything if job.kind in _LOOKING_ALIKE]
        # The first pre-training is what the others are compared with.
        return digest({**described, "shown": [[job.folder, job.identity] for job in jobs]})


@cache
def code_version() -> str:
    """A checksum of the code and the data that figures, tables and the report are made by."""
    folders = [
        _SOURCE / name.replace(".", "/")
        for name in (*_SUBJECTS, "report", "theory", "placements", "schedules", "questions")
    ]
    files = {path for folder in folders for path in folder.rglob("*") if path.suffix in _CODE_AND_DATA}
    # The rule of the bench of language models, which `preln bench` has too.
    files.add(_SOURCE / "language" / "bench.py")
    checksum = hashlib.sha256()
    for path in sorted(files):
        checksum.update(path.relative_to(_SOURCE).as_posix().encode() + path.read_bytes())
    return checksum.hexdigest()[:12]
