"""Whether large gradients or large updates of the function come before a failure."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from preln.questions.base import Answer, Change, Finding, Question
from preln.questions.core.evidence import Evidence
from preln.questions.core.groups import MARGIN
from preln.questions.core.markdown import grid
from preln.questions.core.traced import Trace, over, traced
from preln.report.core.statistics import mean
from preln.theory.report import traces

BASELINE = 9.90
"""The loss of the unigram baseline on the third of IWSLT14, in bits a token; traces do not record it."""
MODELS = {
    "Post-LN, no warm-up": ("post", 0),
    "Pre-LN, no warm-up": ("pre", 0),
    "Post-LN-init, no warm-up": ("post-init", 0),
    "Post-LN, warm-up of 1,333": ("post", 1333),
}
LAST = slice(191, 200)
"""The updates whose means are compared with the first."""


def models(evidence: Evidence) -> dict[str, dict[int, Trace]]:
    """The traces of 200 updates of each model, by seed."""
    found: dict[str, dict[int, Trace]] = {name: {} for name in MODELS}
    for trace in traced(evidence):
        for name, model in MODELS.items():
            if (trace.settings.placement, trace.settings.warmup) == model and trace.table["update"].max() >= LAST.stop:
                found[name][trace.settings.seed] = trace
    return {name: seeds for name, seeds in found.items() if seeds}


def numbers(trace: Trace) -> dict[str, float]:
    """What the rule reads of a trace."""
    table, settings = trace.table, trace.settings

    def late(column: str) -> float:
        return float(table.set_index("update")[column].loc[LAST].mean())

    first = traces.of_layer("gradient_norm", settings, last=False)
    sums = traces.of_layer("input_norm", settings, last=True)
    return {
        "loss": float(table["loss"].iloc[-1]),
        "gradient": traces.gradient_at_first(table, settings),
        "step": traces.largest_step(table, settings),
        "kept": late(first) / traces.gradient_at_first(table, settings, last=False),
        "growth": late(sums) / float(table[sums].iloc[0]),
    }


def findings(evidence: Evidence) -> Iterator[Finding]:
    """Losses, gradients and steps of the models, seed by seed."""
    by_name = {
        name: {seed: numbers(trace) for seed, trace in sorted(seeds.items())}
        for name, seeds in models(evidence).items()
    }
    if len(by_name) < len(MODELS):
        return

    def of(name: str, number: str) -> dict[int, float]:
        return {seed: found[number] for seed, found in by_name[name].items()}

    post, pre, control, warmed_up = MODELS
    yield QUESTION.find("stuck", post, of(post, "loss").values(), low=BASELINE - MARGIN)
    for name in (pre, control):
        yield QUESTION.find("learns", name, of(name, "loss").values(), high=BASELINE - MARGIN)
    for name in (pre, control):
        ratios = over(of(post, "gradient"), of(name, "gradient"))
        yield QUESTION.find("for-gradients", f"Post-LN over {name}", ratios, low=1.25, ratio=True)
    ratios = over(of(control, "gradient"), of(post, "gradient"))
    yield QUESTION.find("against-gradients", "", ratios, low=0.9, ratio=True)
    for name in (pre, control, warmed_up):
        ratios = over(of(post, "step"), of(name, "step"))
        yield QUESTION.find("for-updates", f"Post-LN over {name}", ratios, low=2.0, ratio=True)
        yield QUESTION.find("against-updates", f"{name} over Post-LN", [1 / one for one in ratios], low=0.9, ratio=True)
    yield QUESTION.find("mechanism-gradient", post, of(post, "kept").values(), high=0.1, ratio=True)
    yield QUESTION.find("mechanism-gradient-control", control, of(control, "kept").values(), low=0.1, ratio=True)
    yield QUESTION.find("mechanism-input", post, of(post, "growth").values(), low=1.5, ratio=True)
    yield QUESTION.find("mechanism-input-control", control, of(control, "growth").values(), high=1.5, ratio=True)


def answer(found: Answer) -> list[str]:
    """Which explanation the first updates speak for."""
    if not (found.holds("stuck") and found.holds("learns")):
        return ["nothing to explain here, for Post-LN learns or another model does not"]
    against_updates = [one for one in found.of("against-updates") if str(one.outcome) == "holds"]
    cases = {
        "for large gradients": found.holds("for-gradients"),
        "against large gradients": found.holds("against-gradients"),
        "for large updates": found.holds("for-updates"),
        "against large updates": bool(against_updates),
    }
    said = [case for case, holds in cases.items() if holds] or ["the question stays open"]
    parts = ("gradient", "gradient-control", "input", "input-control")
    if all(found.holds(f"mechanism-{part}") for part in parts):
        said.append("for the mechanism of Wang et al.")
    return said


def table(evidence: Evidence) -> str:
    """The numbers of each model, means over the seeds."""
    rows = []
    for name, seeds in models(evidence).items():
        every = [numbers(trace) for trace in seeds.values()]
        means = {key: mean([one[key] for one in every]) for key in every[0]}
        cells = [f"{means['loss']:.2f}", f"{means['gradient']:.2f}", f"{means['step']:#.2g}"]
        rows.append([name, *cells, f"{means['kept']:.2g}", f"{means['growth']:.2f}", str(len(every))])
    head = ["", "loss after 200", "last gradient", "largest step", "first gradient kept", "growth of the input"]
    return grid([*head, "seeds"], rows)


QUESTION = Question(
    name="first-updates",
    statement="Does Post-LN fail because its last gradients are large, or because its first updates change the "
    "function too much?",
    source="Wang et al. (2022), DeepNet, section 3, against section 3 of the paper",
    published="a control with a last gradient that is no smaller trains, with 6 to 24 layers",
    how_known="stated",
    rule="Post-LN, Pre-LN and Post-LN-init make 200 updates at 5e-4 without a warm-up, and Post-LN with one. There "
    "is something to explain if Post-LN is stuck, less than 0.3 bits below the unigram baseline, and the others "
    "learn. For large gradients: Post-LN's last gradient is at least 1.25 times that of each that learns. Against: "
    "Post-LN-init's is at least 0.9 times Post-LN's. For large updates: Post-LN's largest step of the first ten is "
    "at least twice that of each other. Against: one of the others has at least 0.9 times Post-LN's. For the "
    "mechanism of Wang et al. in addition: the first layer's gradient vanishes (to a tenth) and the last input "
    "swells (by half) in Post-LN, and neither in the control.",
    written=datetime.date(2026, 11, 23),
    quantities={
        "stuck": "loss after 200 updates",
        "learns": "loss after 200 updates",
        "for-gradients": "last gradient before the first update",
        "against-gradients": "last gradient of Post-LN-init over Post-LN's",
        "for-updates": "largest step of the function in ten updates",
        "against-updates": "largest step of the function in ten updates",
        "mechanism-gradient": "first layer's gradient over updates 191 to 200, over that before the first",
        "mechanism-gradient-control": "first layer's gradient over updates 191 to 200, over that before the first",
        "mechanism-input": "input of the last LayerNorm over updates 191 to 200, over that at initialisation",
        "mechanism-input-control": "input of the last LayerNorm over updates 191 to 200, over that at initialisation",
    },
    findings=findings,
    answer=answer,
    table=table,
    reads=("first-updates",),
    changes=(
        Change(
            datetime.date(2026, 11, 28),
            "The means over the seeds decided.",
            "Each seed is asked now, and pairs of the same seed are compared, as in the ledger.",
            "committed: against large gradients → against large gradients",
        ),
    ),
)
