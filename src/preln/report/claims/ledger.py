"""The ledger: each claim of the paper, its value there, ours, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain

from preln.config import Study
from preln.libraries import pd
from preln.report.claims import evidence
from preln.report.claims.rules import Finding, Verdict, reason, verdict
from preln.report.core.forms import Content
from preln.report.core.table import Table
from preln.report.reference import claims as paper

NOT_COMPARED = "not compared"
NOTE = (
    "The verdict is on a claim's direction. Its value is compared where the study is at the paper's settings and the "
    "paper has a number. With several seeds, the 95% interval of the mean decides; with one seed, its value does. "
    "Two runs decide nothing if neither is better than a constant guess, where that is known. The rules and their "
    "tolerances are in src/preln/report/reference/claims.yaml in preln's repository."
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


def make(study: Study, records: evidence.Evidence) -> Content:
    """The ledger as a table: for programs every claim, for readers those that are tested, of which a terminal shows the
    verdicts, a line each. Of a study that tests none, a sentence says so in place of the list."""
    entries = judge(study, records)
    shown = tested(entries)
    if not shown:
        return Content(_table(entries), readable(_table([])), finding(entries), [])
    brief = _table(shown)[["claim", "verdict", "statement"]].rename(columns=str.capitalize)
    title = " ".join(filter(None, (f"Study {study.study}: {summary(entries)}", untested(entries))))
    return Content(_table(entries), readable(_table(shown)), title, [NOTE], brief)


def _table(entries: Sequence[Entry]) -> pd.DataFrame:
    """A row for each entry."""
    return pd.DataFrame([asdict(entry) for entry in entries], columns=[*Entry.__dataclass_fields__])


def judge(study: Study, records: evidence.Evidence) -> list[Entry]:
    """The verdict on each claim, from what the study has recorded."""
    return [entry(study, claim, records) for claim in paper.load().claims]


def summary(entries: Sequence[Entry]) -> str:
    """How many claims have which verdict, in a sentence."""
    return f"{'; '.join(_of_each(entries, Verdict))}, of {len(entries)} claims."


def _of_each(entries: Sequence[Entry], verdicts: Iterable[Verdict]) -> list[str]:
    """How many claims have each of these verdicts."""
    counts = Counter(entry.verdict for entry in entries)
    return [f"{counts[verdict]} {verdict}" for verdict in verdicts]


def tested(entries: Sequence[Entry]) -> list[Entry]:
    """The claims that the study tests. Readers are shown those alone. A report without any has no ledger."""
    return [entry for entry in entries if entry.verdict is not Verdict.NOT_TESTED]


def untested(entries: Sequence[Entry]) -> str:
    """The claims that the study does not test, in a sentence; nothing where there are none."""
    names = [entry.claim for entry in entries if entry.verdict is Verdict.NOT_TESTED]
    return f"Nothing here tests {', '.join(names)}." if names else ""


def finding(entries: Sequence[Entry]) -> str:
    """What the study found, in a sentence; where it tests no claim, what would."""
    shown = tested(entries)
    if not shown:
        return (
            f"This study tests none of the paper's {len(entries)} claims. To test one, it needs the runs that the "
            "claim compares, such as Post-LN with a warm-up and without one, or measurements of the theory "
            "(docs/claims.md in preln's repository)."
        )
    of_each = _of_each(shown, (verdict for verdict in Verdict if verdict is not Verdict.NOT_TESTED))
    return f"This study tests {len(shown)} of the paper's {len(entries)} claims: {', '.join(of_each)}."


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """The ledger for readers: what was found stands in the reason as far as it decides."""
    known = [f"{value} ({how})" for value, how in zip(table["paper"], table["how_known"], strict=True)]
    text = table.drop(columns=["how_known", "ours"]).assign(paper=known)
    return text.rename(columns={name: name.capitalize() for name in text.columns})


def entry(study: Study, claim: paper.Claim, records: evidence.Evidence) -> Entry:
    """The verdict on one claim."""
    by_test = [records.findings(test) for test in claim.tests]
    found = list(chain(*by_test))
    by_value = [records.findings(test) for test in claim.values] if study.paper_settings else []
    values = list(chain(*by_value))
    decided, why = _unless_incomplete(verdict(found), by_test), reason(found)
    if found and (left := by_test.count([])):
        why += f" {left} of {len(by_test)} parts of the claim have no runs here."
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
        agreement[_unless_incomplete(verdict(values), by_value)],
        "; ".join(map(str, [*found, *values])),
        why,
    )


def _unless_incomplete(decided: Verdict, by_test: Sequence[Sequence[Finding]]) -> Verdict:
    """The verdict of what was found by each test: a claim is not reproduced as long as a part of it has no runs."""
    return Verdict.INCONCLUSIVE if decided is Verdict.REPRODUCED and [] in by_test else decided


CLAIMS = Table(
    name="claims",
    title="The paper's claims",
    caption="What each claim says, where it stands, the paper's value and how that is known, the verdict on its "
    "direction, and the reason. A study that is smaller than the paper's can reproduce a direction, but never a value.",
    source=evidence.SOURCE,
    make=make,
    folder="",
    forms=(".csv", ".md"),
)
