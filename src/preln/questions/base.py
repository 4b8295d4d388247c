"""A question, the findings of its rule in the records, and the verdict that follows from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from preln.questions.core import changes
from preln.questions.core.evidence import Evidence as Evidence
from preln.questions.core.series import Compared, Series, telling, where
from preln.report.core.statistics import SEEDS, Estimate, estimate, log_estimate, plus_minus

KnownAs = Literal["printed", "stated", "digitised", "read-off", "unknown"]
"""How a published number is known; `preln.report.reference` says what each word means."""
IN_A_LINE = 5
"""The parts of an answer that a reader takes in at once; more of them are a list."""


class Outcome(StrEnum):
    """The outcome of one comparison: a quantity lies within its bounds or not."""

    HOLDS = "holds"
    POINTS = "points that way"
    UNDECIDED = "undecided"
    OPPOSES = "points the other way"
    FAILS = "fails"


class Verdict(StrEnum):
    """The verdict of a study on a question."""

    HOLDS = "holds"
    POINTS = "points that way"
    IN_PART = "holds in part"
    UNDECIDED = "undecided"
    OPPOSES = "points the other way"
    FAILS = "fails"
    NOT_TESTABLE = "not testable at this size"
    NOT_TESTED = "not tested yet"


FOR, AGAINST = {Outcome.HOLDS, Outcome.POINTS}, {Outcome.FAILS, Outcome.OPPOSES}


@dataclass(frozen=True)
class Finding:
    """A quantity that a question asks to lie from `low` to `high`.

    Attributes:
        quantity: its id, such as `c09.loss-without-warmup`.
        what: the quantity in words.
        of: which runs or model, by the settings that tell them apart.
        values: of each seed, in the order of the seeds.
        low, high: the bounds; infinite where there is none.
        ratio: whether it is a ratio, whose mean and interval are those of its logarithm.
        undecided: why it decides nothing, whatever its values; empty where it does.
        beside: why it is listed, but is no part of the verdict; empty where it is.
    """

    quantity: str
    what: str
    of: str
    values: tuple[float, ...]
    low: float = -math.inf
    high: float = math.inf
    ratio: bool = False
    undecided: str = ""
    beside: str = ""

    @property
    def estimate(self) -> Estimate:
        """The mean over the seeds with its 95% interval; the mean alone where a value is not finite."""
        if all(map(math.isfinite, self.values)):
            return log_estimate(self.values) if self.ratio else estimate(self.values)
        alike = set(self.values)
        mean = self.values[0] if len(alike) == 1 else math.nan
        return Estimate(mean, math.nan, math.nan, len(self.values))

    @property
    def outcome(self) -> Outcome:
        """Where every seed meets the bounds, or every seed is beyond the same one, that decides. Where seeds disagree,
        the 95% interval of the mean does, of three seeds or more. A value that is not known leaves it undecided."""
        if self.undecided or not self.bound or not self.values or any(map(math.isnan, self.values)):
            return Outcome.UNDECIDED
        met = [self.low <= value <= self.high for value in self.values]
        enough = len(met) >= SEEDS
        if all(met):
            return Outcome.HOLDS if enough else Outcome.POINTS
        if all(value < self.low for value in self.values) or all(value > self.high for value in self.values):
            return Outcome.FAILS if enough else Outcome.OPPOSES
        mean = self.estimate
        if not enough or math.isnan(mean.low):
            return Outcome.UNDECIDED
        if self.low <= mean.low and mean.high <= self.high:
            return Outcome.HOLDS
        return Outcome.FAILS if mean.high < self.low or mean.low > self.high else Outcome.UNDECIDED

    @property
    def bound(self) -> str:
        """The bounds in words."""
        if self.low == -math.inf:
            return f"at most {self.high:.4g}" if self.high < math.inf else ""
        return f"at least {self.low:.4g}" if self.high == math.inf else f"{self.low:.4g} to {self.high:.4g}"

    @property
    def name(self) -> str:
        """The quantity and what it is of, in words."""
        return f"{self.what} ({self.of})" if self.of else self.what

    def __str__(self) -> str:
        mean = self.estimate
        number = "not known" if math.isnan(mean.mean) else plus_minus(mean.mean, mean.half, ".3g")
        seeds = f", n = {mean.n}" if mean.n > 1 else ""
        asked = f"asked: {self.bound}" if self.bound else "nothing is asked"
        met = self.bound and self.values and all(self.low <= value <= self.high for value in self.values)
        undecided = f"met, but {self.undecided}" if met and self.undecided else self.undecided
        notes = "; ".join(filter(None, (asked + seeds, undecided, self.beside)))
        return f"{self.name}: {number} ({notes})"


Findings = Iterator[Finding | None]
"""The findings of a rule; None in place of one whose runs are not there."""
Rule = Callable[[Evidence], Findings]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with the rule that answers it from records.

    Attributes:
        name: its id: `c01` to `c19` for the paper's claims, `p1`, ... for other papers', words for our own.
        statement: the claim, or what is asked.
        source: by whom, and where it is printed.
        published: the published number; none of a question of ours that has no counterpart.
        how_known: how that is known.
        rule: the rule in words.
        written: the date on which the rule was first written, as in ISO 8601.
        quantities: what the rule reads, in words, by the last part of the id. A claim holds if each has a finding that
            holds.
        findings: the rule as a function; nothing where there are no records for it.
        reads: the committed studies whose records are read together; by default each study alone.
        conditions: under which settings it was found to hold.
        values: asks for the paper's own numbers, of a study at the paper's settings.
        counts: whether it is counted among the claims; a check of code is not.
        paper_size: whether it says something at the paper's size alone.
        answer: what the findings say in words; by default the verdict does.
        table: what a page shows, in Markdown; by default the findings.
    """

    name: str
    statement: str
    source: str
    published: str = "none"
    how_known: KnownAs = "unknown"
    rule: str
    written: str
    quantities: Mapping[str, str]
    findings: Rule
    reads: tuple[str, ...] = ()
    conditions: str = ""
    values: Rule | None = None
    counts: bool = True
    paper_size: bool = False
    answer: Callable[[Answer], list[str]] | None = None
    table: Callable[[Evidence], str] | None = None

    @property
    def kind(self) -> Literal["paper", "others", "own"]:
        """Who asks it."""
        number = self.name[1:].isdigit()
        return "paper" if number and self.name[0] == "c" else "others" if number else "own"

    @property
    def changes(self) -> tuple[changes.Change, ...]:
        """The changes of the rule, in the order of time."""
        return changes.load().get(self.name, ())

    @property
    def label(self) -> str:
        """The name for readers, such as C9."""
        return self.name if self.kind == "own" else f"{self.name[0].upper()}{int(self.name[1:])}"

    def find(
        self, part: str, of: str, values: Compared | Mapping[int, float] | Iterable[float] | None, **fields: Any
    ) -> Finding | None:
        """A finding of one of the quantities, by the last part of its id, or of one that only the paper's values ask
        for; `of` says which runs or model.

        The values are those of each seed. None, or no seed, of runs that are not there gives no finding.
        """
        if values is None or values == {}:
            return None
        if isinstance(values, Compared):
            fields = {"undecided": values.undecided, **fields}
            values = values.values
        elif isinstance(values, Mapping):
            values = [values[seed] for seed in sorted(values)]
        return Finding(f"{self.name}.{part}", self.quantities.get(part, part), of, tuple(values), **fields)

    def measured(
        self, part: str, rows: Iterable[Mapping[str, Any]], margin: float | None = None, **fields: Any
    ) -> Findings:
        """A finding of each row of the theory's table, which is to be within a margin of what the theory predicts."""
        for row in rows:
            if margin is not None:
                fields |= {"low": row["predicted_low"] - margin, "high": row["predicted_high"] + margin}
            yield self.find(part, row["model"], row["values"], **fields)

    def ends(self, part: str, runs: Sequence[Series], wanted: Mapping[str, Any], **fields: Any) -> Findings:
        """A finding of the last values of each series that has the wanted settings."""
        for run in where(runs, **wanted):
            yield self.find(part, telling(run, runs), run.values, **fields)

    @staticmethod
    def nearest(findings: Findings) -> list[Finding]:
        """Choose the one that is nearest to what is asked, of findings of which any is enough."""

        def distance(finding: Finding) -> tuple[int, bool, float]:
            mean = finding.estimate.mean
            outside = max(finding.low - mean, mean - finding.high)
            return list(Outcome).index(finding.outcome), math.isnan(mean), outside

        return sorted(filter(None, findings), key=distance)[:1]

    def ask(self, evidence: Evidence) -> Answer:
        """Answer the question from the records."""
        return Answer(self, tuple(filter(None, self.findings(evidence))), evidence.paper_settings)


@dataclass(frozen=True)
class Answer:
    """The answer of some records to a question: all findings, with those beside the verdict, and whether the records
    are of a study at the paper's settings."""

    question: Question
    findings: tuple[Finding, ...]
    paper_settings: bool = False

    @property
    def counted(self) -> list[Finding]:
        """The findings that decide."""
        return [finding for finding in self.findings if not finding.beside]

    @property
    def missing(self) -> list[str]:
        """The quantities that have no finding."""
        return [part for part in self.question.quantities if not any(not finding.beside for finding in self.of(part))]

    @property
    def verdict(self) -> Verdict:
        """On the question as a whole."""
        if not self.counted:
            return Verdict.NOT_TESTED
        if self.question.paper_size and not self.paper_settings:
            return Verdict.NOT_TESTABLE
        decided = verdict(finding.outcome for finding in self.counted)
        return Verdict.UNDECIDED if decided in (Verdict.HOLDS, Verdict.POINTS) and self.missing else decided

    @property
    def reason(self) -> str:
        """For the verdict, in a sentence."""
        if not self.counted and self.findings:
            return f"Nothing here decides: {self.findings[0]}."
        sentence = reason(self.counted)
        if self.counted and self.missing:
            sentence += f" {len(self.missing)} of {len(self.question.quantities)} parts of the claim have no runs here."
        return sentence

    @property
    def words(self) -> list[str]:
        """The answer in words; nothing before its runs are made."""
        if not self.counted:
            return []
        if self.question.answer:
            return self.question.answer(self)
        if self.question.kind != "own":
            return [str(self.verdict)]
        outcomes: dict[str, list[Outcome]] = {}
        for finding in self.counted:
            outcomes.setdefault(finding.what, []).append(finding.outcome)
        return [f"{what}: {verdict(of_quantity)}" for what, of_quantity in outcomes.items()]

    def of(self, part: str) -> list[Finding]:
        """The findings of one quantity."""
        return [finding for finding in self.findings if finding.quantity == f"{self.question.name}.{part}"]

    def holds(self, part: str) -> bool:
        """Tell whether there are findings of a quantity, and all of them hold."""
        return {finding.outcome for finding in self.of(part)} == {Outcome.HOLDS}

    def points(self, part: str) -> bool:
        """Tell whether every finding of a quantity holds or points that way."""
        return all(finding.outcome in FOR for finding in self.of(part))


def verdict(outcomes: Iterable[Outcome]) -> Verdict:
    """On a claim of several comparisons: it holds if each holds, and points that way if each does at least. It holds in
    part if some of it does while some fails for sure, and fails if some fails for sure and nothing holds."""
    distinct = set(outcomes)
    if len(distinct) <= 1:
        return Verdict(str(*distinct)) if distinct else Verdict.NOT_TESTED
    if distinct <= FOR:
        return Verdict.POINTS
    if Outcome.FAILS in distinct:
        return Verdict.IN_PART if distinct & FOR else Verdict.FAILS
    return Verdict.UNDECIDED


def over_studies(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of several studies together: it holds if it does in one and nothing speaks against it in another."""
    distinct = set(verdicts) - {Verdict.NOT_TESTED}
    if len(distinct) <= 1:
        return next(iter(distinct), Verdict.NOT_TESTED)
    against = distinct & {Verdict.FAILS, Verdict.OPPOSES}
    if Verdict.IN_PART in distinct or (Verdict.HOLDS in distinct and against):
        return Verdict.IN_PART
    if Verdict.FAILS in distinct:
        return Verdict.IN_PART if Verdict.POINTS in distinct else Verdict.FAILS
    if against and Verdict.POINTS in distinct:
        return Verdict.UNDECIDED
    order = (Verdict.HOLDS, Verdict.POINTS, Verdict.OPPOSES)
    return next((verdict for verdict in order if verdict in distinct), Verdict.UNDECIDED)


def reason(findings: Sequence[Finding]) -> str:
    """Why, in a sentence: how much holds, and what speaks most against it."""
    if not findings:
        return "The study has no runs that test it."
    against = [finding for finding in findings if finding.outcome not in FOR]
    if not against:
        weak = [finding for finding in findings if finding.outcome is Outcome.POINTS]
        shown = weak[0] if weak else findings[0]
        word = f"have fewer than {SEEDS} seeds" if weak else "hold"
        count = len(weak) if weak else len(findings)
        return f"{count} of {len(findings)} comparisons {word}, such as {shown}." if len(findings) > 1 else f"{shown}."
    held = len(findings) - len(against)
    worst = max(against, key=lambda finding: list(Outcome).index(finding.outcome))
    if len(findings) == 1:
        return f"{worst}."
    return f"{held} of {len(findings)} comparisons hold or point that way; {worst.outcome}: {worst}."
