"""The committed results as the pages read them: tables, ledgers, findings and records."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from preln.config import Study
from preln.config import load as load_study
from preln.libraries import pd
from preln.questions.base import Answer, Question
from preln.questions.core.evidence import Evidence, of_folders


class Committed:
    """The results that come with a clone, whose folder is `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.results = root / "results"

    @property
    def studies(self) -> list[str]:
        """The studies that have results, by name."""
        return sorted(path.parent.name for path in self.results.glob("*/claims.csv"))

    def table(self, study: str, name: str) -> pd.DataFrame:
        """A table of a study, such as `runs`."""
        return _table(self.results / study / "tables" / f"{name}.csv")

    def claims(self, study: str) -> pd.DataFrame:
        """The ledger of a study, by the claims' labels."""
        return _table(self.results / study / "claims.csv").set_index("claim")

    def findings(self, study: str) -> pd.DataFrame:
        """The findings of a study, in the columns of findings.csv."""
        return _table(self.results / study / "findings.csv")

    def seeds(self, study: str, series: str, column: str = "final_valid_loss") -> list[float]:
        """A number of the last epoch of each seed of a run, by the run's id without its seed, which must be there."""
        recorded = self.table(study, "runs")
        chosen = recorded[recorded["run"].str.fullmatch(rf"{series}-s\d+")].sort_values("seed")
        if chosen.empty:
            raise KeyError(f"{study} has no run {series}")
        return list(chosen[column])

    def evidence(self, *studies: str) -> Evidence:
        """The records of some studies together, of which those that are not committed have none."""
        return _evidence(tuple(self.results / study for study in studies))

    def answer(self, question: Question) -> Answer:
        """The answer of the committed records to a question of our own."""
        return question.ask(self.evidence(*question.reads))

    def study(self, name: str) -> Study:
        """A study of config/."""
        return load_study(self.root / "config" / f"{name}.yaml")


_table: Callable[[Path], pd.DataFrame] = cache(lambda path: pd.read_csv(path))
_evidence = cache(of_folders)
