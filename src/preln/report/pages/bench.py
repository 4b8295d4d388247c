"""The blocks of placements: their equations, the bench, and what other papers have of them."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from preln.commands.plan import GPUS
from preln.config import ModelSettings
from preln.placements import COME_ALONG, PLACEMENTS
from preln.placements.base import Residual
from preln.questions import language_bench
from preln.questions.core.markdown import grid, limit, losses, rate, warm_up
from preln.report.core.failure_map import MapSettings
from preln.report.core.labels import OPTIONS, label
from preln.report.core.statistics import mean, plus_minus
from preln.report.pages.committed import Committed
from preln.report.reference import placements as published
from preln.translation.report.failure_map import endings
from preln.translation.report.placements import SOURCE, Line, lines, on_a_bench
from preln.translation.runs import expand

DEPTHS = (6, 12, 18)
"""The layers of a stack: those of the bench, and more."""


def placements(committed: Committed) -> str:
    """Every placement: its name in a study, its equation and what else belongs to it, as its file has them."""

    def equation(part: object) -> str:
        return " ".join((part.__doc__ or "").split()).rstrip(".").replace("<-", "←").replace(" * ", " ⊙ ")

    rows = []
    for name in COME_ALONG:
        placement = PLACEMENTS[name]
        beside = {
            "LayerNorm on the embeddings": placement.embedding_norm,
            "LayerNorm behind the last layer": placement.final_norm,
            f"the output is {equation(placement.output)}": placement.output,
            "scaled matrices of F at first": placement.residual.initial_scale is not Residual.initial_scale,
            "scaled embeddings at first": placement.embedding_scale,
            "factors from a first pass": placement.profiled,
        }
        details = "; ".join(filter(beside.get, beside))
        rows.append((f"`{name}`", placement.label, equation(placement.residual), details, placement.source))
    return grid(["`placement`", "name", "residual connection", "beside it", "source"], rows)


def cards(committed: Committed) -> str:
    """The GPUs that `preln plan` knows."""
    rows = [
        (gpu.name, f"{gpu.half:,g}", "yes" if gpu.has_bf16 else "no", f"{gpu.single:g}", f"{gpu.memory:g}", gpu.source)
        for gpu in GPUS.values()
    ]
    return grid(["", "peak, half precision", "bf16", "peak, fp32", "GB", "peaks from"], rows)


def name_of(settings: ModelSettings) -> str:
    """A model's name on the bench: its placement and its options."""
    return label(settings, {"placement", *OPTIONS}, with_warmup=False)


def models(committed: Committed) -> dict[str, list[Line]]:
    """The models of the bench by name, each with its lines over the rates."""
    by_name: dict[str, list[Line]] = {}
    for study in committed.evidence("placements").studies:
        shown = on_a_bench(study.study, SOURCE.jobs(study.study))
        for line in lines(SOURCE.load(study.study, shown, study.results)):
            by_name.setdefault(name_of(line.model.settings), []).append(line)
    return by_name


class Best(NamedTuple):
    """A model at its best rate: the losses of its seeds, the rate, and the line of its better warm-up."""

    losses: tuple[float, ...]
    rate: float
    line: Line


def best(lines: list[Line]) -> Best:
    """A model at the rate and the warm-up with the lowest mean loss; an infinite loss where no rate trains."""
    trained = [(*rate_and_cell, line) for line in lines if (rate_and_cell := line.model.best(line.warmup))]
    if not trained:
        return Best((math.inf,), math.nan, lines[0])
    peak, cell, line = min(trained, key=lambda candidate: candidate[1].loss)
    return Best(cell.losses, peak, line)


def table(committed: Committed) -> str:
    """Each model at its best rate, and the highest rate that trains with and without a warm-up."""
    at_best = {name: best(lines) for name, lines in models(committed).items()}
    rows = []
    for name, (seeds, peak, line) in sorted(at_best.items(), key=lambda item: mean(item[1].losses)):
        chosen = (rate(peak), warm_up(line.warmup)) if math.isfinite(max(seeds)) else ("", "")
        limits = (limit(line.model.limit(line.model.warmups[place])) for place in (0, -1))
        rows.append((name, losses(seeds), *chosen, *limits, f"{line.sensitivity:.2f}"))
    head = ["", "loss of each seed", "best rate", "its warm-up", "limit, no warm-up", "limit, warm-up", "sensitivity"]
    return grid(head, rows)


_ORDER = ["ahead", "behind", "published", "of", "paper"]


def published_orders(committed: Committed) -> str:
    """The published comparisons of two placements in translation, beside their losses on the bench."""
    recorded = {name: losses(best(lines).losses) for name, lines in models(committed).items()}
    orders = published.load(of_language_models=False)
    rows = [(*order, recorded.get(order.better, ""), recorded.get(order.worse, "")) for order in orders]
    return grid([*_ORDER, "loss of the first on the bench", "of the second"], rows)


def published_language_orders(committed: Committed) -> str:
    """The published comparisons of two placements in language models, with the verdict of the bench of language
    models."""
    judged = {finding.of: finding for finding in committed.answer(language_bench.QUESTION).of("published")}
    rows = []
    for order in published.load(of_language_models=True):
        finding = judged.get(language_bench.name_of(order))
        apart, outcome = "", "not judged yet"
        if finding:
            mean_apart = finding.estimate
            apart, outcome = plus_minus(mean_apart.mean, mean_apart.half, "+.3f", ".3f"), str(finding.outcome)
        rows.append((*order, apart, outcome))
    return grid([*_ORDER, "loss of the first minus that of the second", ""], rows)


def depth(committed: Committed) -> str:
    """Each placement at its depths, at its best rate on the bench."""
    rows = []
    for name, runs in _ends(committed, "placements-depth").items():
        by_depth = [[loss for settings, loss in runs if settings.decoder_layers == layers] for layers in DEPTHS]
        rows.append((name, *_schedule(runs), *map(losses, by_depth)))
    return grid(["", "rate", "warm-up", *(f"{layers}-{layers}" for layers in DEPTHS)], rows)


def real_text(committed: Committed) -> str:
    """The placements that were trained on IWSLT14 at half the paper's width, the one with the lowest loss first."""
    seeds = {name: (runs, [loss for _, loss in runs]) for name, runs in _ends(committed, "placements-real").items()}
    ranked = sorted(seeds.items(), key=lambda item: mean(item[1][1]))
    rows = [(name, *_schedule(runs), losses(ends)) for name, (runs, ends) in ranked]
    return grid(["", "rate", "warm-up", "loss of each seed"], rows)


def _schedule(runs: list[tuple[MapSettings, float]]) -> tuple[str, str]:
    """The rate and the warm-up that some runs have in common."""
    return rate(runs[0][0].learning_rate), warm_up(runs[0][0].warmup)


def _ends(committed: Committed, study: str) -> dict[str, list[tuple[MapSettings, float]]]:
    """The settings and the last losses of the runs of a study that are done, by the model's name; infinite of one that
    diverged."""
    ends: dict[str, list[tuple[MapSettings, float]]] = {}
    for ending in endings(committed.evidence(study).studies[0].translation).done:
        ends.setdefault(name_of(ending.settings), []).append((ending.settings, ending.loss))
    return ends


def cost(committed: Committed) -> str:
    """The time of an update of each model of the bench beside one of Post-LN, on each processor on which it was timed:
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
            rows.append((name, *(beside(entries.get(key)) for entries in timed.values())))
    return grid(["", *timed], rows)
