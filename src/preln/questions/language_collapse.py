"""The collapse of a language model's states in the first updates, beside the last gradient: which tells where training
fails?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from preln.config import LanguageSettings
from preln.language.bench import Cell, Row
from preln.questions.base import Evidence, Findings, Question
from preln.questions.collapse import PREDICTED, Starts, predictions, starts, tables
from preln.questions.core.traced import traced

RATE = 4e-3
"""The rate of the traces whose gradient and sharpness, both before the first update, are asked for."""


def alike(settings: LanguageSettings) -> LanguageSettings:
    """The settings of a model that is trained at several rates, with every placement and several seeds."""
    return settings.model_copy(update={"placement": "post", "learning_rate": 1.0, "seed": 0})


def limits(evidence: Evidence) -> dict[LanguageSettings, dict[str, float]]:
    """The highest rate at which each placement trains without a warm-up, while a lower one trains too, or 0: of each
    model of which all runs are done."""
    losses: dict[LanguageSettings, dict[str, dict[Cell, dict[int, float]]]] = {}
    baselines: dict[LanguageSettings, float] = {}
    unfinished = set()
    for study in evidence.studies:
        for run in study.language.runs:
            settings, metrics = run.settings, study.language.metrics.get(run.id)
            model = alike(settings)
            if settings.warmup:
                continue
            if metrics is None:
                unfinished.add(model)
                continue
            baselines[model] = metrics["unigram_baseline"]
            cells = losses.setdefault(model, {}).setdefault(settings.placement, {})
            loss = math.inf if metrics["diverged"] else metrics["final"]["valid_loss"]
            cells.setdefault((settings.learning_rate, 0), {})[settings.seed] = loss
    return {
        model: {placement: Row(cells, baselines[model]).limit(0) or 0.0 for placement, cells in of_model.items()}
        for model, of_model in losses.items()
        if model not in unfinished
    }


def models(evidence: Evidence) -> Iterator[tuple[dict[str, float], dict[float, Starts]]]:
    """The limits of each model, and its starts by rate, of the seeds that have all of its placements."""
    every = traced(evidence, LanguageSettings)
    for model, of_limits in limits(evidence).items():
        if by_rate := starts((trace for trace in every if alike(trace.settings) == model), of_limits):
            yield of_limits, by_rate


def findings(evidence: Evidence) -> Findings:
    for of_limits, by_rate in models(evidence):
        yield from predictions(QUESTION, of_limits, by_rate, RATE)


def table(evidence: Evidence) -> str:
    """The starts of the placements, and their rank correlations with the limits."""
    return "\n".join(tables(of_limits, by_rate, RATE) for of_limits, by_rate in models(evidence))


QUESTION = Question(
    name="language-collapse",
    statement="Does the collapse of a language model's last states in the first updates tell where training fails "
    "without a warm-up, and the last gradient not?",
    source="our own; the question `collapse`, of decoder-only models",
    rule="As in `collapse`: the collapse is the least 1 - cosine of the last states of two tokens, before and after "
    "each of the first ten updates, on the first 1,024 tokens of the validation text; a cosine recorded as 1, in five "
    "digits, counts as a distance of 5e-6. The model is that of the bench of language models, each placement with the "
    "initialisation that its paper gives, at a constant rate without a warm-up. A run trains if it ends, after 300 "
    "updates, at least 0.3 bits a token below the unigram baseline. The limit of a placement is the highest rate of "
    "1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2 and 6.4e-2 that trains with seed 1, where a lower one trains too; 0 where "
    "there is none. Traces are at 1e-3, 4e-3 and 1.6e-2, with the seeds 4 to 6, which no limit has seen. By seed, the "
    "rank correlation (Spearman) with the limit. The collapse predicts the limit if it is at least 0.5 at each rate "
    "among the fourteen placements with a norm, and of every placement if among all sixteen. It tells more than the "
    "last gradient if its correlation is at least 0.3 above the size of the gradient's. The last gradient and the "
    "sharpness, both before the first update, do not predict the limit if theirs among the fourteen is above -0.5. "
    "Intervals are over seeds, not over placements; of random rankings of the fourteen, 3.5% have 0.5. Nothing is "
    "asked before all runs of the limits are done. Known before: a review's runs of a model of this shape with another "
    "vocabulary, 150 updates at 3e-3, one seed: without a warm-up Post-LN, Admin and DeepNorm stay at the unigram "
    "baseline, KEEL ends 0.37 bits below it, and the other twelve 0.7 to 0.9 bits; the exponent of the depth in the "
    "last gradient of each; and the demonstration, in which Post-LN stays there on every seed and Pre-LN does not. Of "
    "language models no cosine, no sharpness and no limit was known, and of `collapse` no answer.",
    written="2026-11-29",
    quantities=PREDICTED,
    findings=findings,
    table=table,
    reads=("language-collapse",),
)
