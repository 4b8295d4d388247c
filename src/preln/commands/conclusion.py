"""The last words of a study: the runs that show its finding, the answer, and the claims that it can judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from preln.config import Study
from preln.questions.base import Verdict
from preln.questions.core import ledger
from preln.report.catalogue import REPORT, Catalogue
from preln.translation.report import finding


def lines(study: Study, results: Path) -> list[str]:
    """A study's finding, a line each; `results` is the folder of the results of all studies.

    Raises:
        RecordError: if a record cannot be used.
    """
    catalogue = Catalogue(study)
    shown: list[str] = []
    if "finding" in catalogue.figures:
        result = finding.find(catalogue.load(finding.FIGURE, results))
        if result:
            shown += [result.question, *_indented(result.lines), result.answer, ""]
    entries = ledger.judge(catalogue.load(ledger.CLAIMS_TABLE, results))
    shown += _claims(ledger.tested(ledger.counted(entries)))
    if not shown:
        shown.append(ledger.finding(entries))
    page = results / study.study / REPORT
    if page.exists():
        shown.append(f"All of it on one page: {page}")
    return shown


def _claims(entries: Sequence[ledger.Entry]) -> list[str]:
    """The claims in words, those that are undecided with the reason; of those that need larger models, the labels."""
    if not entries:
        return []
    words = [
        f"{entry.verdict}: {entry.statement} ({entry.claim})"
        + (f" Why: {entry.reason}" if entry.verdict is Verdict.UNDECIDED else "")
        for entry in sorted(entries, key=lambda entry: entry.verdict is Verdict.UNDECIDED)
        if entry.verdict is not Verdict.NOT_TESTABLE
    ]
    if beyond := [entry.claim for entry in entries if entry.verdict is Verdict.NOT_TESTABLE]:
        words.append(f"{Verdict.NOT_TESTABLE}: {', '.join(beyond)}")
    return ["The paper's claims that it can judge:", *_indented(words), ""]


def _indented(texts: Iterable[str]) -> list[str]:
    return [f"  {text}" for text in texts]
