"""From what was found to a verdict: the rules, apart from where the numbers come from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from preln.report.core.statistics import Estimate, plus_minus


class Outcome(StrEnum):
    """Whether a quantity lies where it is asked to."""

    HOLDS = "holds"
    FAILS = "fails"
    UNCLEAR = "unclear"


class Verdict(StrEnum):
    """What a study says of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    IN_PART = "reproduced in part"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTED = "not tested in this study"


@dataclass(frozen=True)
class Finding:
    """A quantity that a claim asks to lie from `low` to `high`.

    Attributes:
        what: the quantity, and of which runs or model.
        found: ours, with its 95% interval where there are several seeds.
        low, high: the bounds; infinite where there is none.
        undecided: why it decides nothing, whatever its value; empty where it does.
    """

    what: str
    found: Estimate
    low: float
    high: float
    undecided: str = ""

    @property
    def outcome(self) -> Outcome:
        """Of several seeds, the whole interval of the mean must lie within the bounds to hold, and the whole beside
        them to fail; one seed has no interval, and its value decides."""
        if self.undecided or math.isnan(self.found.mean):
            return Outcome.UNCLEAR
        least, most = self.found.mean, self.found.mean
        if self.found.n > 1 and not math.isnan(self.found.low):
            least, most = self.found.low, self.found.high
        if self.low <= least and most <= self.high:
            return Outcome.HOLDS
        if most < self.low or least > self.high:
            return Outcome.FAILS
        return Outcome.UNCLEAR

    def __str__(self) -> str:
        if self.low == -math.inf:
            asked = f"at most {self.high:.4g}"
        elif self.high == math.inf:
            asked = f"at least {self.low:.4g}"
        else:
            asked = f"{self.low:.4g} to {self.high:.4g}"
        mean = "not known" if math.isnan(self.found.mean) else plus_minus(self.found.mean, self.found.half, ".3g")
        seeds = "one seed" if self.found.n == 1 else f"{self.found.n} seeds"
        undecided = f", but {self.undecided}" if self.undecided else ""
        return f"{self.what}: {mean} ({seeds}), asked: {asked}{undecided}"


def verdict(findings: Sequence[Finding]) -> Verdict:
    """Reproduced if everything asked for holds, not reproduced if nothing does, in part if some of it fails for sure,
    and inconclusive if what does not hold is unclear."""
    outcomes = {finding.outcome for finding in findings}
    if not outcomes:
        return Verdict.NOT_TESTED
    if outcomes == {Outcome.HOLDS}:
        return Verdict.REPRODUCED
    if Outcome.FAILS in outcomes:
        return Verdict.IN_PART if Outcome.HOLDS in outcomes else Verdict.NOT_REPRODUCED
    return Verdict.INCONCLUSIVE


def reason(findings: Sequence[Finding]) -> str:
    """Why, in a sentence: how much holds, and what speaks most against it."""
    if not findings:
        return "The study has no runs that test it."
    against = [finding for finding in findings if finding.outcome is not Outcome.HOLDS]
    if not against:
        return (
            f"All {len(findings)} comparisons hold, such as {findings[0]}." if len(findings) > 1 else f"{findings[0]}."
        )
    worst = next((finding for finding in against if finding.outcome is Outcome.FAILS), against[0])
    return f"{len(findings) - len(against)} of {len(findings)} comparisons hold; {worst.outcome}: {worst}."
