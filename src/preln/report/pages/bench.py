"""The blocks of placements: their equations, the bench, and what other papers have of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from preln.commands.plan import GPUS
from preln.config import RunSettings
from preln.placements import PLACEMENTS
from preln.placements.base import Residual
from preln.questions.base import KnownAs
from preln.questions.core.markdown import grid, limit, losses, rate, warm_up
from preln.report.core.labels import OPTIONS, label
from preln.report.core.statistics import mean
from preln.report.pages.committed import Committed
from preln.translation.report import bench
from preln.translation.report.bench import Line
from preln.translation.report.failure_map import Map
from preln.translation.runs import expand

DEPTHS = (6, 12, 18)
"""The layers of a stack: those of the bench, and more."""


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


def placements(committed: Committed) -> str:
    """Every placement: its name in a study, its equation and what else belongs to it, as its file has them."""

    def said(text: str | None) -> str:
        return " ".join((text or "").split()).rstrip(".").replace("<-", "←").replace(" * ", " ⊙ ")

    rows = []
    for name, one in PLACEMENTS.items():
        beside = {
            "LayerNorm on the embeddings": one.embedding_norm,
            "LayerNorm behind the last layer": one.final_norm,
            f"the output is {said(one.output.__doc__ if one.output else None)}": one.output,
            "scaled matrices of F at first": one.residual.initial_scale is not Residual.initial_scale,
            "scaled embeddings at first": one.embedding_scale,
            "factors from a first pass": one.profiled,
        }
        rows.append(
            (f"`{name}`", one.label, said(one.residual.__doc__), "; ".join(filter(beside.get, beside)), one.source)
        )
    return grid(["`placement`", "name", "residual connection", "beside it", "source"], rows)


def cards(committed: Committed) -> str:
    """The GPUs that `preln plan` knows."""
    rows = [
        (gpu.name, f"{gpu.half:,g}", "yes" if gpu.has_bf16 else "no", f"{gpu.single:g}", f"{gpu.memory:g}", gpu.source)
        for gpu in GPUS.values()
    ]
    return grid(["", "peak, half precision", "bf16", "peak, fp32", "GB", "peaks from"], rows)


def name_of(settings: RunSettings) -> str:
    """A model's name on the bench: its placement and its options."""
    return label(settings, {"placement", *OPTIONS}, with_warmup=False)


def models(committed: Committed) -> dict[str, list[Line]]:
    """The models of the bench by name, each with its lines over the rates."""
    found: dict[str, list[Line]] = {}
    for study in committed.evidence("placements").studies:
        shown = bench.on_a_bench(study.study, bench.SOURCE.jobs(study.study))
        for line in bench.lines(bench.SOURCE.load(study.study, shown, study.results)):
            found.setdefault(name_of(line.model.settings), []).append(line)
    return found


@dataclass(frozen=True)
class Best:
    """A model at its best rate: the losses of its seeds, the rate, and the line of its better warm-up."""

    losses: tuple[float, ...]
    rate: float
    line: Line

    @property
    def model(self) -> Map:
        """The model over all rates and warm-ups."""
        return self.line.model


def best(lines: list[Line]) -> Best:
    """A model at the rate and the warm-up with the lowest mean loss; an infinite loss where no rate trains."""
    trained = [(*found, line) for line in lines if (found := line.model.best(line.warmup))]
    if not trained:
        return Best((math.inf,), math.nan, lines[0])
    peak, cell, line = min(trained, key=lambda one: one[1].loss)
    return Best(cell.losses, peak, line)


def table(committed: Committed) -> str:
    """Each model at its best rate, and the highest rate that trains with and without a warm-up."""
    found = {name: best(lines) for name, lines in models(committed).items()}
    rows = [
        (
            *(name, losses(one.losses)),
            *((rate(one.rate), warm_up(one.line.warmup)) if math.isfinite(max(one.losses)) else ("", "")),
            *(limit(one.model.limit(one.model.warmups[place])) for place in (0, -1)),
            f"{one.line.sensitivity:.2f}",
        )
        for name, one in sorted(found.items(), key=lambda item: mean(item[1].losses))
    ]
    head = ["", "loss of each seed", "best rate", "its warm-up", "limit, no warm-up", "limit, warm-up", "sensitivity"]
    return grid(head, rows)


def published_orders(committed: Committed) -> str:
    """The published comparisons of two placements, beside their losses on the bench."""
    ours = {name: losses(best(lines).losses) for name, lines in models(committed).items()}
    rows = [
        (
            *(one.better, one.worse, one.published, one.of, f"{one.source} ({one.how_known})"),
            *(ours.get(name, "") for name in (one.better, one.worse)),
        )
        for one in PUBLISHED
    ]
    head = ["ahead", "behind", "published", "of", "paper", "loss of the first on the bench", "of the second"]
    return grid(head, rows)


def depth(committed: Committed) -> str:
    """Each placement at its depths, at its best rate on the bench."""
    found: dict[str, dict[int, list[float]]] = {}
    settings: dict[str, RunSettings] = {}
    for run, loss in _ends(committed, "placements-depth"):
        settings.setdefault(name_of(run), run)
        found.setdefault(name_of(run), {}).setdefault(run.encoder_layers, []).append(loss)
    rows = [
        (
            *(name, rate(settings[name].learning_rate), warm_up(settings[name].warmup)),
            *(losses(by_depth.get(layers, ())) for layers in DEPTHS),
        )
        for name, by_depth in found.items()
    ]
    return grid(["", "rate", "warm-up", *(f"{layers}-{layers}" for layers in DEPTHS)], rows)


def real_text(committed: Committed) -> str:
    """The placements that were trained on IWSLT14 at half the paper's width, the one with the lowest loss first."""
    found: dict[str, list[float]] = {}
    settings: dict[str, RunSettings] = {}
    for run, loss in _ends(committed, "placements-real"):
        settings.setdefault(name_of(run), run)
        found.setdefault(name_of(run), []).append(loss)
    rows = [
        (name, rate(settings[name].learning_rate), warm_up(settings[name].warmup), losses(found[name]))
        for name in sorted(found, key=lambda name: mean(found[name]))
    ]
    return grid(["", "rate", "warm-up", "loss of each seed"], rows)


def _ends(committed: Committed, name: str) -> list[tuple[RunSettings, float]]:
    """The settings and the last losses of the runs of a study that are done; infinite of one that diverged."""
    study = committed.study(name)
    records = committed.evidence(name).studies[0].translation
    last = records.summary.set_index("run")
    return [
        (run.settings, float(str(row["final_valid_loss"])) if row["status"] == "finished" else math.inf)
        for run in expand(study)
        if run.id in last.index
        for row in [last.loc[run.id]]
    ]


def cost(committed: Committed) -> str:
    """What an update of each model of the bench takes beside one of Post-LN, on each processor on which it was timed:
    the median of the rounds, the shortest and the longest."""
    record: list[dict[str, Any]] = json.loads((committed.root / "benchmarks" / "record.json").read_text("utf-8"))
    timed: dict[str, dict[str, dict[str, Any]]] = {}
    for entry in record:
        if entry["name"].startswith("placement-"):
            processor = str(entry.get("processor") or entry["hardware"].split(",")[0])
            timed.setdefault(processor, {})[entry["name"]] = entry

    def beside(entry: dict[str, Any] | None) -> str:
        # A ratio of the record is of speeds.
        return f"{1 / entry['ratio']:.2f} ({1 / entry['high']:.2f} to {1 / entry['low']:.2f})" if entry else ""

    rows = []
    shown = {name_of(run.settings): run.settings for run in expand(committed.study("placements-depth"))}
    for name, settings in shown.items():
        options = ["rms"] * (settings.norm == "rms") + ["qk"] * settings.qk_norm
        key = "-".join(["placement", settings.placement, *options])
        if name != "Post-LN":
            rows.append((name, *(beside(its.get(key)) for its in timed.values())))
    return grid(["", *timed], rows)
