"""How the bench stands beside what is published of the same placements."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Literal

from docs.bench import seeds
from docs.bench.models import is_ahead
from docs.markdown import grid
from preln.report.reference.claims import KnownAs


@dataclass(frozen=True)
class Order:
    """A published comparison of two placements.

    Attributes:
        better: the placement that is ahead in it, by its name on the bench.
        worse: the other one.
        published: the numbers of both in that order, or what is said of them.
        of: the model and the text.
        source: the paper.
        how_known: how the numbers are known; see the package `preln.report.reference`.
    """

    better: str
    worse: str
    published: str
    of: str
    source: str
    how_known: KnownAs


@dataclass(frozen=True)
class Scores:
    """What a paper has of several placements of the bench, trained alike.

    Attributes:
        unit: BLEU or perplexity.
        by_placement: the numbers, by the placements' names on the bench; infinite for one that failed.
        of: the model and the text.
        source: the paper.
        how_known: how the numbers are known.
        spread: how far apart two equal models of this text are by their seeds, where that is known.
    """

    unit: Literal["BLEU", "perplexity"]
    by_placement: Mapping[str, float]
    of: str
    source: str
    how_known: KnownAs
    spread: float = 0.0

    @property
    def orders(self) -> list[Order]:
        """Every pair whose numbers differ by more than the spread, the best placements first."""
        is_loss = self.unit == "perplexity"
        ranked = sorted(self.by_placement.items(), key=lambda one: one[1] if is_loss else -one[1])
        return [
            Order(better, worse, f"{self.unit} {_said(high)}, {_said(low)}", self.of, self.source, self.how_known)
            for (better, high), (worse, low) in combinations(ranked, 2)
            if round(abs(high - low), 2) > self.spread
        ]


def _said(score: float) -> str:
    return f"{score:g}" if math.isfinite(score) else "fails"


_FAILS = -math.inf
"""The BLEU of a model that did not train."""
_SPREAD_OF_IWSLT = 0.23
"""The largest standard deviation of BLEU between seeds that Liu et al. (2020, Admin) have on IWSLT14."""
_DEEPNET, _RESIDUAL = "Wang et al. (2022), arXiv:2203.00555", "Xie et al. (2023), arXiv:2304.14802"
_B2T, _LNS = "Takase et al. (2023), arXiv:2206.00330", "Sun et al. (2025), arXiv:2502.05795"
_NARANG, _ADMIN = "Narang et al. (2021), arXiv:2102.11972", "Liu et al. (2020), arXiv:2004.08249"
_WITHOUT_TEARS = "Nguyen and Salazar (2019), arXiv:1910.05895"
_WMT14, _WMT17 = "WMT14 English-German", "WMT17 English-German"
PUBLISHED = [
    Order("Post-LN", "Pre-LN", "in words", _WMT14, _WITHOUT_TEARS, "stated"),
    Order("Post-LN", "Pre-LN", "BLEU, 0.5 to 1.0 ahead", _WMT17, _DEEPNET, "stated"),
    *Scores(
        "BLEU", {"Post-LN": 28.1, "DeepNorm": 27.8, "Pre-LN": 27.0}, f"{_WMT17}, 6-6 layers", _DEEPNET, "unknown"
    ).orders,
    *Scores(
        "BLEU", {"Admin": 27.9, "Post-LN": 27.8, "Pre-LN": 27.27}, f"{_WMT14}, 6-6 layers", _ADMIN, "unknown"
    ).orders,
    *Scores(
        "BLEU",
        {"ResiDual": 35.63, "Admin": 35.5, "Post-LN": 35.37, "DeepNorm": 35.34, "Pre-LN": 35.12},
        *("IWSLT14, 6-6 layers", _RESIDUAL, "unknown", _SPREAD_OF_IWSLT),
    ).orders,
    *Scores(
        "BLEU", {"B2T": 27.52, "Pre-LN": 26.57, "Post-LN": _FAILS}, f"{_WMT14}, 18-18 layers", _B2T, "printed"
    ).orders,
    *Scores(
        "BLEU",
        {"Pre-LN, RMSNorm": 27.14, "Pre-LN": 26.62, "ReZero": 26.37},
        *("T5 base, WMT English-German", _NARANG, "read-off"),
    ).orders,
    *Scores(
        "perplexity",
        {"LayerNorm scaling": 25.76, "Mix-LN": 26.07, "Pre-LN": 26.73, "Post-LN": 26.95, "DeepNorm": 27.17},
        *("a language model of 130 million parameters", _LNS, "printed"),
    ).orders,
]
"""Comparisons of two placements of the bench in other papers: of each paper and text that of its smallest models, as
far as we know them."""


def answer(order: Order, losses: Mapping[str, Sequence[float]]) -> list[str]:
    """Whether the placement that is ahead in a published comparison is ahead here, by the losses of all seeds of each
    model. Nothing is said of a model that is left out."""
    better, worse = (losses.get(name, ()) for name in (order.better, order.worse))
    if not (better and worse):
        return []
    if is_ahead(better, worse):
        return ["agrees"]
    return ["differs" if is_ahead(worse, better) else "not told apart"]


def table(results: Path) -> str:
    """The published comparisons of two placements of the bench, and how the bench stands beside those whose seeds are
    all done."""
    losses = seeds.read(results)
    rows = [
        (
            *(order.better, order.worse, order.published, order.of, f"{order.source} ({order.how_known})"),
            "; ".join(answer(order, losses)),
        )
        for order in PUBLISHED
    ]
    head = ["ahead", "behind", "published", "of", "paper", "the bench"]
    return f"{grid(head, rows)}\n**Of the {len(PUBLISHED)}: {counted(losses)}.**\n"


def counted(losses: Mapping[str, Sequence[float]]) -> str:
    """How many of the published comparisons the bench agrees with, differs from and does not tell apart."""
    said = Counter(chain(*(answer(order, losses) for order in PUBLISHED)))
    return f"{said['agrees']} agree, {said['differs']} differ, {said['not told apart']} not told apart"
