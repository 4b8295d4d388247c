"""The last words of a study: the runs that show its finding, the answer, and the claims that it can judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from preln.config import Study
from preln.questions.base import Verdict
from preln.questions.core import ledger
from preln.report.catalogue import REPORT, Catalogue
from preln.translation.report import finding

_SILENT = (Verdict.UNDECIDED, Verdict.NOT_TESTABLE)


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
    """The claims on which something is said, in words; of the others, the labels."""
    spoken = [entry for entry in entries if entry.verdict not in _SILENT]
    labels = {verdict: [entry.claim for entry in entries if entry.verdict == verdict] for verdict in _SILENT}
    silent = [f"{verdict}: {', '.join(claims)}" for verdict, claims in labels.items() if claims]
    if not entries:
        return []
    words = [f"{entry.verdict}: {entry.statement} ({entry.claim})" for entry in spoken]
    return ["The paper's claims that it can judge:", *_indented([*words, *silent]), ""]


def _indented(texts: Iterable[str]) -> list[str]:
    return [f"  {text}" for text in texts]
