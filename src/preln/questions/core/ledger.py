"""The ledger of a study: the verdict on each claim, and every finding as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from preln.config import Study
from preln.libraries import pd
from preln.questions import CLAIMS, QUESTIONS
from preln.questions.base import Answer, Finding, Question, Verdict, verdict
from preln.questions.core.evidence import SOURCE, Evidence
from preln.report.core.entries import Source, Table
from preln.report.core.forms import Content
from preln.theory.report import traces
from preln.translation.report import placements as bench

NOT_COMPARED = "not compared"
NOTE = (
    "The verdict is on a claim's direction. A comparison points that way where every seed meets the bound, and holds "
    "with three seeds or more; where seeds disagree, the 95% interval of the mean decides. Two runs at the unigram "
    "baseline decide nothing. C1 to C3 check our code, and are not counted; C17 and C18 are judged at the paper's "
    "size alone. A value is compared where the study is at the paper's settings. The rules are in "
    "src/preln/questions in preln's repository."
)
_AGREEMENT = {
    Verdict.HOLDS: "agrees",
    Verdict.POINTS: "agrees",
    Verdict.FAILS: "differs",
    Verdict.OPPOSES: "differs",
    Verdict.IN_PART: "agrees in part",
    Verdict.UNDECIDED: "unclear",
    Verdict.NOT_TESTED: NOT_COMPARED,
}


class Entry(NamedTuple):
    """One claim in the ledger, by its label: the published value and how that is known, the verdict on its direction
    and, where the study is at the paper's settings, on its value, all that was found, and the reason for the verdict.
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


def judge(evidence: Evidence) -> list[Entry]:
    """The verdict on each claim, from what a study has recorded."""
    return [entry(question, evidence) for question in CLAIMS]


def entry(question: Question, evidence: Evidence) -> Entry:
    """The verdict on one claim."""
    answer = question.ask(evidence)
    values = [*filter(None, question.values(evidence))] if question.values and evidence.paper_settings else []
    return Entry(
        question.label,
        question.statement,
        question.source,
        question.published,
        question.how_known,
        answer.verdict,
        _AGREEMENT[verdict(finding.outcome for finding in values)],
        "; ".join(map(str, [*answer.findings, *values])),
        answer.reason,
    )


def counted(entries: Iterable[Entry]) -> list[Entry]:
    """The claims that are counted: those that are no checks of code."""
    checks = {question.label for question in CLAIMS if not question.counts}
    return [entry for entry in entries if entry.claim not in checks]


def tested(entries: Sequence[Entry]) -> list[Entry]:
    """The claims that the study tests. Readers are shown those alone. A report without any has no ledger."""
    return [entry for entry in entries if entry.verdict != Verdict.NOT_TESTED]


def untested(entries: Sequence[Entry]) -> str:
    """The claims that the study does not test, in a sentence; nothing where there are none."""
    names = [entry.claim for entry in entries if entry.verdict == Verdict.NOT_TESTED]
    return f"Nothing here tests {', '.join(names)}." if names else ""


def summary(entries: Sequence[Entry]) -> str:
    """How many of the counted claims have which verdict, in a sentence."""
    shown = counted(entries)
    return f"{'; '.join(_of_each(shown, Verdict))}, of {len(shown)} claims."


def finding(entries: Sequence[Entry]) -> str:
    """Say in a sentence what the study found; where it tests no claim, what would."""
    every = counted(entries)
    shown = tested(every)
    if not shown:
        return (
            f"This study tests none of the paper's {len(every)} claims. To test one, it needs the runs that the "
            "claim compares, such as Post-LN with a warm-up and without one, or measurements of the theory "
            "(docs/claims.md in preln's repository)."
        )
    of_each = _of_each(shown, (verdict for verdict in Verdict if verdict is not Verdict.NOT_TESTED))
    return f"This study tests {len(shown)} of the paper's {len(every)} claims: {', '.join(of_each)}."


def _of_each(entries: Sequence[Entry], verdicts: Iterable[Verdict]) -> list[str]:
    counts = Counter(entry.verdict for entry in entries)
    return [f"{counts[verdict]} {verdict}" for verdict in verdicts]


def make(study: Study, evidence: Evidence) -> Content:
    """The ledger as a table: for programs every claim, for readers those that are tested, of which a terminal shows the
    verdicts, a line each. Of a study that tests none, a sentence says so in place of the list."""
    entries = judge(evidence)
    shown = tested(entries)
    if not shown:
        return Content(_table(entries), readable(_table([])), finding(entries), [])
    brief = _table(shown)[["claim", "verdict", "statement"]].rename(columns=str.capitalize)
    title = " ".join(filter(None, (f"Study {study.study}: {summary(entries)}", untested(entries))))
    return Content(_table(entries), readable(_table(shown)), title, [NOTE], brief)


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """The ledger for readers: what was found stands in the reason as far as it decides. A study that compares no value
    has no column of them."""
    known = [f"{value} ({how})" for value, how in zip(table["paper"], table["how_known"], strict=True)]
    left_out = ["how_known", "ours"] + ["value"] * bool((table["value"] == NOT_COMPARED).all())
    text = table.drop(columns=left_out).assign(paper=known)
    return text.rename(columns={name: name.capitalize() for name in text.columns})


def _table(entries: Sequence[Entry]) -> pd.DataFrame:
    return pd.DataFrame(entries, columns=Entry._fields)


COLUMNS = ["question", "quantity", "what", "of", "mean", "low", "high", "n", "at_least", "at_most", "holds", "counts"]
COLUMNS += ["note", "values"]


def findings(evidence: Evidence) -> pd.DataFrame:
    """Every finding of every question in a study's own records, a row each, in the columns `COLUMNS`: the quantity's id
    and what it is of, the mean over the seeds with its 95% interval, the bounds, the outcome, whether it counts, why it
    does not or decides nothing, and the value of each seed."""
    answers = [question.ask(evidence) for question in QUESTIONS.values()]
    rows = [row_of(answer, finding) for answer in answers for finding in answer.findings]
    return pd.DataFrame(rows, columns=COLUMNS)


def row_of(answer: Answer, finding: Finding) -> dict[str, object]:
    """A finding as a row of findings.csv."""
    mean = finding.estimate
    return {
        "question": answer.question.label,
        "quantity": finding.quantity,
        "what": finding.what,
        "of": finding.of,
        "mean": mean.mean,
        "low": mean.low,
        "high": mean.high,
        "n": mean.n,
        "at_least": finding.low,
        "at_most": finding.high,
        "holds": str(finding.outcome),
        "counts": "no" if finding.beside else "yes",
        "note": finding.undecided or finding.beside,
        "values": " ".join(f"{value:.6g}" for value in finding.values),
    }


def make_findings(study: Study, evidence: Evidence) -> Content:
    """The findings as a table, of which a terminal shows how many there are."""
    table = findings(evidence)
    title = f"Study {study.study}: {len(table)} comparisons, each with its seeds, are in findings.csv."
    return Content(table, table.iloc[:0], title, [])


def make_others(study: Study, evidence: Evidence) -> Content:
    """The ledger of other papers' claims."""
    asked = [question for question in QUESTIONS.values() if question.kind == "others"]
    full = _table([entry(question, evidence) for question in asked]).assign(
        published=[f"{question.published} ({question.how_known})" for question in asked],
        rule=[question.rule for question in asked],
        written=[question.written for question in asked],
    )[_OTHERS]
    text = full.drop(columns="ours").rename(columns=str.capitalize)
    note = "These are claims of the papers behind the placements, and are counted apart from those of Xiong et al."
    return Content(full, text, f"Study {study.study}: claims of other papers.", [note], text[["Claim", "Verdict"]])


_OTHERS = ["claim", "statement", "source", "published", "rule", "written", "verdict", "ours", "reason"]
CLAIMS_TABLE = Table(
    name="claims",
    title="The paper's claims",
    caption="What each claim says, where it stands, the paper's value and how that is known, the verdict on its "
    "direction, and the reason. A study that is smaller than the paper's can confirm a direction, but never a value.",
    source=SOURCE,
    make=make,
    folder="",
    forms=(".csv", ".md"),
)
FINDINGS_TABLE = Table(
    name="findings",
    title="Every finding",
    caption="What each question found in this study, as data: a row for each comparison, with its bounds and seeds.",
    source=SOURCE,
    make=make_findings,
    computed=("mean", "low", "high"),
    folder="",
    forms=(".csv",),
)
OTHERS_TABLE = Table(
    name="claims-of-others",
    title="Claims of the papers behind the placements",
    caption="What the papers behind the placements claim, the rule for it with its date, and the verdict. They are no "
    "claims of Xiong et al., and are counted apart.",
    source=Source(lambda study: [*bench.SOURCE.jobs(study), *traces.SOURCE.jobs(study)], SOURCE.load),
    of=bench.on_a_bench,
    make=make_others,
)
