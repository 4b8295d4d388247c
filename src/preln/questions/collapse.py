"""The collapse of the decoder's states in the first updates, beside the last gradient: which tells where training
fails?"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from statistics import StatisticsError, correlation

from preln.config import RunSettings
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.markdown import grid, interval, limit, losses, rate
from preln.questions.core.series import NONE, Compared, Series, gain, grouped
from preln.questions.core.traced import S, Trace, traced
from preln.report.core.failure_map import in_a_map, maps
from preln.report.core.statistics import LEARNED, estimate
from preln.theory.report.traces import FIRST, gradient_at_first, of_layer
from preln.translation.report.failure_map import endings
from preln.translation.report.placements import is_plain

WITHOUT_NORM = {"rezero", "t-fixup"}
RESOLUTION = 5e-6
"""The distance of a cosine that is recorded as 1: half of the fifth digit."""
RATE = 3e-3
"""At which the collapse or the last gradient of Post-LN is changed."""
Model = tuple[int, int, float]
"""Layers of the encoder, layers of the decoder, and the norm to which gradients are clipped (0: not at all)."""
POST_LN, CLIPPED = (6, 6, 0.0), (6, 6, 0.1)
MODELS = {
    POST_LN: "Post-LN",
    CLIPPED: "its gradients clipped to a norm of 0.1",
    (2, 6, 0.0): "its encoder with 2 layers",
    (6, 2, 0.0): "its decoder with 2 layers",
    (2, 2, 0.0): "both with 2 layers",
}
model_of = itemgetter("encoder_layers", "decoder_layers", "clip_norm")
ASKED = {"placement": "post", "norm": "layer", "qk_norm": False, "optimizer": "adam", "schedule": "constant"}
ASKED |= {"learning_rate": RATE, "warmup": NONE}


@dataclass(frozen=True)
class Start:
    """The start of a run.

    Attributes:
        distance: the least 1 - cosine of the decoder's last states of two words, before and after each of the first ten
            updates.
        initial: 1 - cosine before the first update.
        gradient: the norm of the last decoder layer's gradient, before the first update.
        mean_gradient: its mean over the first ten updates.
        first_over_last: the norm of the first decoder layer's gradient over that of the last, before the first update.
        sharpness: before the first update.
    """

    distance: float
    initial: float
    gradient: float
    mean_gradient: float
    first_over_last: float
    sharpness: float


PREDICTED = {
    "collapse-predicts": "collapse predicts the limit of placements with a norm",
    "of-every-placement": "of every placement",
    "more-than-the-gradient": "it tells more than the last gradient",
    "not-the-gradient": "the last gradient does not predict it",
    "not-the-sharpness": "the sharpness does not predict it",
}
"""The parts of a question about what predicts the limit."""
Starts = Mapping[int, Mapping[str, Start]]
"""By seed and placement."""
Number = Callable[[Start], float]
DISTANCE, INITIAL, GRADIENT = map(attrgetter, ("distance", "initial", "gradient"))
MEAN_GRADIENT, FIRST_OVER_LAST, SHARPNESS = map(attrgetter, ("mean_gradient", "first_over_last", "sharpness"))


def start(trace: Trace[S]) -> Start:
    """Read the start of a run from its trace."""
    distances = 1 - trace.table["cosine"].iloc[: FIRST + 1]
    gradients = trace.table[of_layer("gradient_norm", trace.settings, last=True)].iloc[1 : FIRST + 1]
    first, last = (gradient_at_first(trace.table, trace.settings, is_last) for is_last in (False, True))
    return Start(
        max(float(distances.min()), RESOLUTION),
        float(distances.iloc[0]),
        last,
        float(gradients.mean()),
        first / last,
        float(trace.table["sharpness"].iloc[0]),
    )


def limits(evidence: Evidence) -> dict[str, float]:
    """The highest rate of the bench that trains without a warm-up, by placement; 0 where none does."""
    return {
        a_map.settings.placement: a_map.limit(0) or 0.0
        for study in evidence.studies
        if in_a_map(study.study, study.translation.runs) and len(study.translation.summary)
        for a_map in maps(endings(study.translation))
        if is_plain(a_map.settings) and 0 in a_map.warmups
    }


def starts(traces: Iterable[Trace[S]], placements: Collection[str]) -> dict[float, Starts]:
    """The starts of a model's runs by rate, of the seeds that have all of the placements."""
    by_rate: dict[float, dict[int, dict[str, Start]]] = {}
    for trace in traces:
        settings = trace.settings
        if settings.placement in placements:
            by_seed = by_rate.setdefault(settings.learning_rate, {})
            by_seed.setdefault(settings.seed, {})[settings.placement] = start(trace)
    whole = {
        peak: {
            seed: by_placement for seed, by_placement in sorted(seeds.items()) if len(by_placement) == len(placements)
        }
        for peak, seeds in sorted(by_rate.items())
    }
    return {peak: seeds for peak, seeds in whole.items() if seeds}


def of_the_bench(evidence: Evidence, placements: Collection[str]) -> dict[float, Starts]:
    """The starts of the bench's model."""

    def is_on_it(settings: RunSettings) -> bool:
        return model_of(settings.model_dump()) == POST_LN and is_plain(settings)

    return starts((trace for trace in traced(evidence, RunSettings) if is_on_it(trace.settings)), placements)


def correlations(
    seeds: Starts, number: Number, of_limits: Mapping[str, float], every: bool = False
) -> dict[int, float]:
    """Spearman's rank correlation of a number with the limits by seed, over the placements with a norm or over every
    one; NaN where all have the same."""
    names = sorted(of_limits.keys() - (set() if every else WITHOUT_NORM))
    by_limit = pd.Series([of_limits[name] for name in names]).rank().tolist()
    by_seed = {}
    for seed, of_placement in seeds.items():
        ranks = pd.Series([number(of_placement[name]) for name in names]).rank().tolist()
        try:
            by_seed[seed] = correlation(ranks, by_limit)
        except StatisticsError:
            by_seed[seed] = math.nan
    return by_seed


def changed(evidence: Evidence) -> dict[Model, tuple[Series, dict[int, Start]]]:
    """The runs and the starts of Post-LN and of its changes, of the seeds that Post-LN has too."""
    runs = grouped(evidence.runs(), model_of, ASKED)
    of_models: dict[Model, dict[int, Start]] = {}
    for trace in traced(evidence, RunSettings):
        settings = trace.settings
        if settings.placement == "post" and settings.learning_rate == RATE and is_plain(settings):
            of_models.setdefault(model_of(settings.model_dump()), {})[settings.seed] = start(trace)
    models: dict[Model, tuple[Series, dict[int, Start]]] = {}
    for model in MODELS:
        if model in runs and model in of_models:
            run, _ = models.get(POST_LN, (runs[model], {}))
            shared = runs[model].of(of_models[model]).of(run.seeds)
            models[model] = shared, of_models[model]
    return models if POST_LN in models else {}


def is_as_meant(model: Model, altered: Start, post: Start) -> bool:
    """Tell whether a change of Post-LN changes the collapse or the gradient, and leaves the other."""
    gradient, distance = altered.gradient / post.gradient, altered.distance / post.distance
    if model == CLIPPED:
        return gradient <= 0.1 and 0.1 <= distance <= 10
    return 1 / 1.5 <= gradient <= 1.5 and distance >= 10


def predictions(
    question: Question, of_limits: Mapping[str, float], by_rate: Mapping[float, Starts], initial: float
) -> Findings:
    """How well the starts rank the placements by their limits; the numbers before the first update are those of the
    traces at the rate `initial`."""
    for peak, seeds in by_rate.items():
        collapse, gradient = (correlations(seeds, number, of_limits) for number in (DISTANCE, GRADIENT))
        yield question.find("collapse-predicts", rate(peak), collapse, low=0.5)
        every = correlations(seeds, DISTANCE, of_limits, every=True)
        yield question.find("of-every-placement", rate(peak), every, low=0.5)
        lead = {seed: collapse[seed] - abs(gradient[seed]) for seed in seeds}
        yield question.find("more-than-the-gradient", rate(peak), lead, low=0.3)
        if peak == initial:
            yield question.find("not-the-gradient", "", gradient, low=-0.5)
            yield question.find("not-the-sharpness", "", correlations(seeds, SHARPNESS, of_limits), low=-0.5)


def findings(evidence: Evidence) -> Findings:
    of_limits = limits(evidence)
    yield from predictions(QUESTION, of_limits, of_the_bench(evidence, of_limits), RATE)
    models = changed(evidence)
    for model, (run, of_model) in models.items():
        gained = gain(run)
        if model == POST_LN:
            yield QUESTION.find("post-fails", "", gained, high=LEARNED)
            continue
        if not all(is_as_meant(model, of_model[seed], models[POST_LN][1][seed]) for seed in run.seeds):
            gained = Compared(gained.values, "it changes both, or neither")
        part, bound = ("small-gradient-fails", "high") if model == CLIPPED else ("less-collapse-trains", "low")
        yield QUESTION.find(part, MODELS[model], gained, **{bound: LEARNED})


def tables(of_limits: Mapping[str, float], by_rate: Mapping[float, Starts], initial: float) -> str:
    """The starts of the placements, and their rank correlations with the limits; nothing without starts."""
    columns = [(f"least distance at {rate(peak)}", DISTANCE, seeds) for peak, seeds in by_rate.items()]
    afterwards = [
        (f"last gradient at {rate(peak)}, mean of ten updates (without a rule)", MEAN_GRADIENT, seeds)
        for peak, seeds in by_rate.items()
    ]
    if initial in by_rate:
        afterwards.append(("first over last gradient (without a rule)", FIRST_OVER_LAST, by_rate[initial]))
        named = {"distance at initialisation": INITIAL, "last gradient": GRADIENT, "sharpness": SHARPNESS}
        columns += [(name, number, by_rate[initial]) for name, number in named.items()]
    placements = [
        (
            PLACEMENTS[name].label,
            limit(of_limits[name] or None),
            *(", ".join(f"{number(of[name]):.2g}" for of in seeds.values()) for _, number, seeds in columns),
        )
        for name in sorted(of_limits, key=lambda name: (of_limits[name], name))
    ]
    ranks = [
        (
            name,
            *(
                interval(estimate(list(correlations(seeds, number, of_limits, every).values())))
                for every in (False, True)
            ),
        )
        for name, number, seeds in [*columns, *afterwards]
    ]
    if not columns:
        return ""
    of_placements = grid(["", "limit", *(name for name, *_ in columns)], placements)
    return (
        of_placements
        + "\n"
        + grid(["rank correlation with the limit", "placements with a norm", "every placement"], ranks)
    )


def table(evidence: Evidence) -> str:
    """The starts of the placements; Post-LN and its changes."""
    of_limits = limits(evidence)
    changes = [
        (
            MODELS[model],
            ", ".join(f"{of_model[seed].gradient:.2g}" for seed in run.seeds),
            ", ".join(f"{of_model[seed].distance:.2g}" for seed in run.seeds),
            losses(run.recorded),
        )
        for model, (run, of_model) in changed(evidence).items()
    ]
    parts = [tables(of_limits, of_the_bench(evidence, of_limits), RATE)]
    if changes:
        parts.append(grid(["", "last gradient", "least distance", "loss of each seed"], changes))
    return "\n".join(filter(None, parts))


QUESTION = Question(
    name="collapse",
    statement="Does the collapse of the decoder's states in the first updates tell where training fails without a "
    "warm-up, and the last gradient not?",
    source="our own; Noci et al. (2022), arXiv:2206.03126, on the collapse, against section 3 of the paper",
    published="the cosine of Post-LN on IWSLT14 by depth, in a figure without numbers",
    how_known="stated",
    rule="The collapse is the least 1 - cosine of the decoder's last states of two words, before and after each of "
    "the first ten updates; a cosine recorded as 1, in five digits, counts as a distance of 5e-6. First: every "
    "placement of the bench, without a warm-up, at 9.5e-4, 3e-3 and 9.5e-3, seeds 4 to 6. By seed, the rank "
    "correlation (Spearman) with the bench's limit without a warm-up. The collapse predicts the limit if it is at "
    "least 0.5 at each rate among the fourteen placements with a norm, and of every placement if among all sixteen. "
    "(Of random rankings of the fourteen, 3.5% have 0.5. Intervals are over seeds, not over placements.) It tells "
    "more than the last gradient if its correlation is at least 0.3 above the size of the gradient's. The last "
    "gradient and the sharpness, both before the first update, do not predict the limit if theirs among the fourteen "
    "is above -0.5. Second: Post-LN at 3e-3, 564 updates, seeds 4 to 6; a run learns if it ends at least 0.3 bits "
    "below the unigram baseline. If Post-LN learns, there is nothing to explain. Less collapse: 2 layers in the "
    "encoder, the decoder or both; this counts if in each seed the last gradient stays within a factor of 1.5 and the "
    "least distance is at least ten times Post-LN's. A smaller gradient: clipped to a norm of 0.1; this counts if in "
    "each seed the last gradient is at most a tenth, and the distance within a factor of ten. It speaks for the "
    "collapse and against the gradient if the former learn and the latter does not, for the gradient and against the "
    "collapse if the reverse, and otherwise for neither. Fewer layers change more than the collapse, and Adam hardly "
    "feels a gradient's scale: this tells the two apart, and does not show that the collapse is the only cause. Known "
    "before (post hoc): the limits; a review's traces at 3e-3 with the seeds 1 and 2, by which the measure and the "
    "fourteen were chosen (of the fourteen 0.76 and 0.76, gradient -0.08 and -0.23, sharpness 0.52 and 0.44; of all "
    "0.46 and 0.46, 0.07 and -0.05, 0.55 and 0.50); that Post-LN fails at 3e-3 with the seeds 1 to 3; a trace of each "
    "change with seed 1, by which the changes were chosen. New: the seeds 4 to 6, the other two rates, and where "
    "every changed model ends. To come, with dated rules of their own: decoder-only language models; and Post-LN "
    "whose last layer alone begins smaller, which needs a placement.",
    written="2026-11-28",
    quantities={
        **PREDICTED,
        "post-fails": "Post-LN fails at 3e-3",
        "less-collapse-trains": "it learns with less collapse at the same last gradient",
        "small-gradient-fails": "it fails with a small last gradient at the same collapse",
    },
    findings=findings,
    table=table,
    reads=("placements", "collapse"),
)
