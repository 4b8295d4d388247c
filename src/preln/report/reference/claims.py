"""The paper's claims and its known errors, as data: `claims.yaml`, read and checked.

A claim is tested by comparisons. Each asks a quantity to lie between two bounds, which say the direction of the claim
at any size of model; the `values` ask for the paper's numbers, and only of studies at the paper's settings.
"""

from __future__ import annotations

import datetime
import math
from importlib.resources import files
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

KnownAs = Literal["printed", "stated", "digitised", "read-off", "unknown"]


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Bounded(_Frozen):
    """A quantity that is to lie from `low` to `high`; a bound that is not given is none."""

    low: float | None = None
    high: float | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        """Both bounds, infinite where there is none."""
        return (-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)


class OfRuns(_Bounded):
    """A quantity of runs, or by how much it differs from that of others. Two runs decide nothing unless one of them is
    better than a constant guess, where that is known.

    Attributes:
        of: which runs.
        quantity: `valid_loss` in bits a token, `test_bleu` in percent, `updates_to_loss`, or `accuracy` as a fraction.
        at: where in the run, as a share of its length; for fine-tunings, the first checkpoint that is as far.
        runs: settings of the runs: a value, or a word: of `warmup`, `none` (0 or 1), `some`, `longest` or `short` (some
            that is not the longest); of `learning_rate`, `highest`, `lowest`, `lower` (one that is not the highest) or
            `higher` (the highest, where there are several). Superlatives are among all runs with the rest on the same
            text.
        minus: settings of the runs whose quantity is taken off, where they differ from `runs`.
        over: the same, but the quantity is divided by theirs.
        differ: further settings in which the two may differ.
        minus_at: where in those, if elsewhere.
        gap_to: settings of further runs; the quantity is how much of the way from those of `minus` to these is gone.
        gain: whether the quantity is how far it is better than a constant guess: than always giving each piece its
            frequency, or the more frequent answer.
        equal_rates: whether the others are read where they have spent the same sum of learning rates, if they spend
            more in all (`preln.translation.report.budgets`). Nothing is decided where that is in their first epoch.
        settled: by how much each of the two may still change in the last fifth of its epochs; where one changes by
            more, they have not come to their end, and nothing is decided.
        any: whether it is enough that one of the runs is so, for the paper does not say which it was.
    """

    of: Literal["translation", "pretraining", "finetuning"]
    quantity: Literal["valid_loss", "test_bleu", "updates_to_loss", "accuracy"]
    at: float = 1.0
    runs: dict[str, Any]
    minus: dict[str, Any] | None = None
    over: dict[str, Any] | None = None
    differ: tuple[str, ...] = ()
    minus_at: float | None = None
    gap_to: dict[str, Any] | None = None
    gain: bool = False
    equal_rates: bool = False
    settled: float | None = None
    any: bool = False


class OfTheory(_Bounded):
    """Rows of the table of the theory, of the paper's placements.

    They are those whose statement is `statement`, and whose quantity and model contain the words, which commas
    separate. Each is to lie within what is predicted of it, widened by `margin`, or where there is none between bounds.
    Where a study has such rows whose quantity contains `rather` too, these alone count."""

    of: Literal["theory"]
    statement: str
    quantity: str = ""
    model: str = ""
    rather: str = ""
    margin: float | None = None

    @model_validator(mode="after")
    def _asks_for_something(self) -> OfTheory:
        if (self.margin is None) == (self.low is None and self.high is None):
            raise ValueError("give a margin around what is predicted, or bounds")
        return self


Test = Annotated[OfRuns | OfTheory, Field(discriminator="of")]


class Change(_Frozen):
    """A change of a claim's rule.

    Attributes:
        date: when it was changed.
        rule: the rule before it, in words.
        why: the reason.
        before, after: the verdicts of the committed studies that test the claim, by study.
    """

    date: datetime.date
    rule: str
    why: str
    before: dict[str, str]
    after: dict[str, str]


class Claim(_Frozen):
    """A claim of the paper.

    Attributes:
        id: C1 to C18.
        statement: the claim, in our words.
        source: where it stands.
        paper: the paper's value.
        how_known: how that is known; see the package `preln.report.reference`.
        tests: what decides on the claim's direction; none where no study can test it yet.
        values: what decides on its value.
        changed: how the tests were changed after results were known, in the order of time; and why some were kept.
    """

    id: str
    statement: str
    source: str
    paper: str
    how_known: KnownAs
    tests: tuple[Test, ...]
    values: tuple[Test, ...] = ()
    changed: tuple[Change, ...] = ()


class Erratum(_Frozen):
    """Something that the paper has wrong or leaves ambiguous, the correction, and why."""

    statement: str
    source: str
    correction: str
    evidence: str


class Paper(_Frozen):
    """What the paper says, and where it errs."""

    claims: tuple[Claim, ...]
    errata: tuple[Erratum, ...]


def load() -> Paper:
    """The claims and errata, in the order of the file."""
    text = files(__package__).joinpath("claims.yaml").read_text(encoding="utf-8")
    return Paper.model_validate(yaml.safe_load(text))
