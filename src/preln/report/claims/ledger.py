"""The ledger: each claim of the paper, its value there, ours, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

import pandas as pd

from preln.config import Study
from preln.report.claims import evidence
from preln.report.claims.rules import Verdict, reason, verdict
from preln.report.reference import claims as paper
from preln.report.translation.tables import require_forms, write_forms

NOT_COMPARED = "not compared"
NOTE = (
    "The verdict is on a claim's direction; its value is compared where the study is at the paper's settings and the "
    "paper has a number. Of several seeds the 95% interval of the mean decides, of one its value; the rules with their "
    "tolerances are in src/preln/report/reference/claims.yaml."
)


@dataclass(frozen=True)
class Entry:
    """One claim in the ledger.

    Attributes:
        claim: its id.
        statement: in our words.
        source: where it stands in the paper.
        paper: the paper's value.
        how_known: how that is known.
        verdict: on its direction.
        value: on the paper's numbers, where the study is at the paper's settings.
        ours: what was found, all of it.
        reason: for the verdict, in a sentence.
    """

    claim: str
    statement: str
    source: str
    paper: str
    how_known: str
    verdict: str
    value: str
    ours: str
    reason: str


def write(study: Study, results: Path, out: Sequence[Path]) -> None:
    """Write the ledger to each file of `out`, in the form of its suffix (csv, md, tex).

    Args:
        study: the study.
        results: folder of the results of all studies.
        out: the files to write.

    Raises:
        RecordError: if a record cannot be used.
        PrelnError: if a suffix is of no such form.
    """
    require_forms(out)
    entries = judge(study, results)
    table = pd.DataFrame([asdict(entry) for entry in entries], columns=[*Entry.__dataclass_fields__])
    text = readable(table)
    notes = f"Study {study.study}: {summary(entries)} {NOTE}"
    write_forms(table, text, notes, f"tab:claims-{study.study}", out)


def plain(study: Study, results: Path) -> str:
    """The verdicts as text for a terminal, a line each.

    Raises:
        RecordError: if a record cannot be used.
    """
    entries = judge(study, results)
    width = max(len(verdict) for verdict in Verdict)
    lines = [f"{entry.claim:>4}  {entry.verdict:<{width}}  {entry.statement}" for entry in entries]
    return "\n".join(["The paper's claims: " + summary(entries), "", *lines]) + "\n"


def judge(study: Study, results: Path) -> list[Entry]:
    """The verdict on each claim, from what the study has recorded.

    Raises:
        RecordError: if a record cannot be used.
    """
    records = evidence.gather(study, results)
    return [entry(study, claim, records) for claim in paper.load().claims]


def summary(entries: Sequence[Entry]) -> str:
    """How many claims have which verdict, in a sentence."""
    counts = Counter(entry.verdict for entry in entries)
    return "; ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict) + f", of {len(entries)} claims."


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """The ledger for readers: what was found stands in the reason as far as it decides."""
    text = table.drop(columns=["how_known", "ours"])
    text["paper"] = [f"{value} ({known})" for value, known in zip(table["paper"], table["how_known"], strict=True)]
    return text.rename(columns={name: name.capitalize() for name in text.columns})


def entry(study: Study, claim: paper.Claim, records: evidence.Evidence) -> Entry:
    """The verdict on one claim."""
    by_test = [records.findings(test) for test in claim.tests]
    found = list(chain(*by_test))
    values = list(chain(*(records.findings(test) for test in claim.values))) if study.paper_settings else []
    decided, why = verdict(found), reason(found)
    if found and (left := by_test.count([])):
        why += f" {left} of {len(by_test)} parts of the claim have no runs here."
        if decided is Verdict.REPRODUCED:
            decided = Verdict.INCONCLUSIVE
    agreement = {
        Verdict.REPRODUCED: "agrees",
        Verdict.NOT_REPRODUCED: "differs",
        Verdict.IN_PART: "agrees in part",
        Verdict.INCONCLUSIVE: "unclear",
        Verdict.NOT_TESTED: NOT_COMPARED,
    }
    return Entry(
        claim.id,
        claim.statement,
        claim.source,
        claim.paper,
        claim.how_known,
        decided,
        agreement[verdict(values)],
        "; ".join(map(str, [*found, *values])),
        why,
    )
