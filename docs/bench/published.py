"""How the bench stands beside what is published of the same placements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

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
        published: the numbers of both in that order, or by how much the first is ahead.
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


_WMT17, _IWSLT = "WMT17 English-German, 6-6 layers", "IWSLT14, 6-6 layers"
_LANGUAGE_MODEL, _T5 = "a language model of 130 million parameters", "T5 base, WMT English-German"
_DEEPNET, _RESIDUAL = "Wang et al. (2022), arXiv:2203.00555", "Xie et al. (2023), arXiv:2304.14802"
_B2T, _LNS = "Takase et al. (2023), arXiv:2206.00330", "Sun et al. (2025), arXiv:2502.05795"
_NARANG = "Narang et al. (2021), arXiv:2102.11972"
PUBLISHED = [
    Order("Post-LN", "Pre-LN", "BLEU, 0.5 to 1.0 ahead", "WMT17 English-German", _DEEPNET, "stated"),
    Order("Post-LN", "Pre-LN", "BLEU 28.1, 27.0", _WMT17, _DEEPNET, "unknown"),
    Order("Post-LN", "Pre-LN", "BLEU 35.37, 35.12", _IWSLT, _RESIDUAL, "unknown"),
    Order("Pre-LN", "Post-LN", "perplexity 26.73, 26.95", _LANGUAGE_MODEL, _LNS, "printed"),
    Order("DeepNorm", "Pre-LN", "BLEU 35.34, 35.12", _IWSLT, _RESIDUAL, "unknown"),
    Order("Post-LN", "DeepNorm", "perplexity 26.95, 27.17", _LANGUAGE_MODEL, _LNS, "printed"),
    Order("ResiDual", "Post-LN", "BLEU 35.63, 35.37", _IWSLT, _RESIDUAL, "unknown"),
    Order("B2T", "Pre-LN", "BLEU 27.52, 26.57", "WMT14 English-German, 18-18 layers", _B2T, "printed"),
    Order("LayerNorm scaling", "Pre-LN", "perplexity 25.76, 26.73", _LANGUAGE_MODEL, _LNS, "printed"),
    Order("LayerNorm scaling", "Mix-LN", "perplexity 25.76, 26.07", _LANGUAGE_MODEL, _LNS, "printed"),
    Order("Mix-LN", "Pre-LN", "perplexity 26.07, 26.73", _LANGUAGE_MODEL, _LNS, "printed"),
    Order("Pre-LN, RMSNorm", "Pre-LN", "BLEU 27.14, 26.62", _T5, _NARANG, "read-off"),
    Order("Pre-LN", "ReZero", "BLEU 26.62, 26.37", _T5, _NARANG, "read-off"),
]
"""Comparisons of two placements of the bench in other papers, whose numbers differ by more than their spread where that
is known."""


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
