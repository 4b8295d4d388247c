"""What the bench of placements says, by the rules of its page, and what is published about the same placements.

Each function of a rule takes numbers and returns an answer. docs/placements-bench.md has the rules in words, and their
dates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from docs.answers.failure_map import Limits, limits
from docs.committed import RESULTS, study_of
from docs.markdown import grid, limit, losses, rate, warm_up
from preln.placements import PAPER, PLACEMENTS
from preln.report.core.statistics import mean
from preln.report.reference.claims import KnownAs
from preln.report.translation.bench import SOURCE, Line, Records, lines, on_a_bench
from preln.report.translation.failure_map import Cell

NEAR = 0.05
"""Placements whose mean losses differ by less, in bits a token, are not told apart."""


@dataclass(frozen=True)
class OnTheBench:
    """A placement on the bench: its better length of warm-up, and what it bears with each.

    Attributes:
        losses: of the seeds at its best rate, with the warm-up that gives the lower mean; infinite if no rate trains.
        rate: that rate.
        warmup: that warm-up, in updates.
        sensitivity: of the learning rate, with that warm-up.
        limits: the largest rates that train.
    """

    losses: Sequence[float]
    rate: float
    warmup: int
    sensitivity: float
    limits: Limits

    @property
    def trains(self) -> bool:
        """Whether it trains at any rate."""
        return math.isfinite(max(self.losses))


def bears_more_with_warmup(one: OnTheBench) -> bool:
    """Whether a placement bears a higher rate with the warm-up: by one step of the bench's grid or more."""
    # The steps are 3.16 and 3.17, and the rates have two digits.
    return one.limits.ratio >= 3.1


def is_ahead(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether a model is better than another, by the losses of their seeds: every seed, and the means by a twentieth
    of a bit at least."""
    return max(one) < min(other) and mean(other) - mean(one) >= NEAR


def best_four(others: Mapping[str, OnTheBench]) -> list[str]:
    """Those of the placements beside the paper's two that go on to real text, the best first.

    The four lowest mean losses at the best rate. Of those that are within a twentieth of a bit of the fourth, the least
    sensitive ones go on.
    """
    by_loss = sorted(others, key=lambda name: mean(others[name].losses))
    fourth = mean(others[by_loss[3]].losses)
    sure = [name for name in by_loss if mean(others[name].losses) < fourth - NEAR]
    near = [name for name in by_loss if abs(mean(others[name].losses) - fourth) <= NEAR]
    chosen = sure + sorted(near, key=lambda name: others[name].sensitivity)[: 4 - len(sure)]
    return sorted(chosen, key=by_loss.index)


def on_the_bench(found: Records) -> dict[str, OnTheBench]:
    """The models of a bench by their names, in the order of its runs. All of its runs are done."""
    by_model: dict[str, list[Line]] = {}
    for line in lines(found):
        by_model.setdefault(line.model.name, []).append(line)
    return {name: _on_the_bench(its) for name, its in by_model.items()}


def _on_the_bench(its: Sequence[Line]) -> OnTheBench:
    """A model, whose lines are those of its lengths of warm-up."""
    model = its[0].model
    trained = [(*best, line) for line in its if (best := model.best(line.warmup))]
    if not trained:
        return OnTheBench((math.inf,), math.nan, its[0].warmup, its[0].sensitivity, limits(model))
    peak, cell, line = min(trained, key=lambda one: one[1].loss)
    return OnTheBench(cell.losses, peak, line.warmup, line.sensitivity, limits(model))


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


def verdict(order: Order, losses: Mapping[str, Sequence[float]]) -> Literal["agrees", "differs", "not told apart"]:
    """Whether the placement that is ahead in a published comparison is ahead here, by the losses of all seeds of each
    model."""
    better, worse = losses[order.better], losses[order.worse]
    if is_ahead(better, worse):
        return "agrees"
    return "differs" if is_ahead(worse, better) else "not told apart"


def of_depth(losses: Mapping[int, Sequence[float]], guess: float) -> Literal["fails", "gains", "loses", "keeps"]:
    """What becomes of a placement with the depth.

    Args:
        losses: of the seeds, by the number of layers of a stack.
        guess: the loss of the constant guess.
    """
    fewest, *more = sorted(losses)
    if any(Cell(tuple(losses[layers]), guess).failed for layers in more):
        return "fails"
    if is_ahead(losses[more[-1]], losses[fewest]):
        return "gains"
    return "loses" if is_ahead(losses[fewest], losses[more[-1]]) else "keeps"


@dataclass(frozen=True)
class Pairs:
    """Of the pairs of some placements, how many the bench tells apart, and which stand how on real text."""

    told_apart: int
    same: list[tuple[str, str]]
    changed: list[tuple[str, str]]

    @property
    def foretells(self) -> bool:
        """Whether the bench foretells real text."""
        return len(self.same) > len(self.changed) and 2 * len(self.same) >= self.told_apart


def on_real_text(bench: Mapping[str, Sequence[float]], real: Mapping[str, Sequence[float]]) -> Pairs:
    """The orders of the placements that were trained on real text, from the losses of their seeds here and there. The
    first of a pair is the one that is ahead on the bench."""
    told = [pair for pair in permutations(real, 2) if is_ahead(*(bench[name] for name in pair))]
    same = [pair for pair in told if is_ahead(*(real[name] for name in pair))]
    changed = [pair for pair in told if is_ahead(*(real[name] for name in reversed(pair)))]
    return Pairs(len(told), same, changed)


def table() -> str:
    """What the bench of placements says, or how many of its runs are made."""
    study = study_of("placements")
    found = SOURCE.load(study, on_a_bench(study, SOURCE.jobs(study)), RESULTS)
    done, of_all = len(found.runs.summary), len(found.runs.runs)
    if done < of_all:
        return f"**{done} of {of_all} runs are made, so there is no answer by the rules yet.**\n"
    return what_the_bench_says(on_the_bench(found))


def what_the_bench_says(found: Mapping[str, OnTheBench]) -> str:
    """The models of a bench whose runs are all done, the one with the lowest loss first, and the best four."""
    rows = [
        (
            name,
            losses(one.losses),
            *((rate(one.rate), warm_up(one.warmup)) if one.trains else ("", "")),
            *(limit(one.limits.without), limit(one.limits.longest)),
            "yes" if bears_more_with_warmup(one) else "no",
            f"{one.sensitivity:.2f}",
        )
        for name, one in sorted(found.items(), key=lambda of: mean(of[1].losses))
    ]
    head = [
        *("", "loss of each seed", "best rate", "its warm-up", "limit, no warm-up", "limit, warm-up"),
        *("bears a higher rate with it", "sensitivity"),
    ]
    others = {record.label: found[record.label] for name, record in PLACEMENTS.items() if name not in PAPER}
    return f"{grid(head, rows)}\n**The best four by the rule: {', '.join(best_four(others))}.**\n"


def published_orders() -> str:
    """The published comparisons of two placements of the bench."""
    rows = [
        (order.better, order.worse, order.published, order.of, f"{order.source} ({order.how_known})")
        for order in PUBLISHED
    ]
    return grid(["ahead", "behind", "published", "of", "paper"], rows)
