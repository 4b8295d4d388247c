"""The first updates: large gradients or large updates of the function before a failure."""

from __future__ import annotations

from preln.config import RunSettings
from preln.questions.base import Answer, Evidence, Findings, Outcome, Question
from preln.questions.core.markdown import grid
from preln.questions.core.traced import Trace, over, traced
from preln.report.core.statistics import LEARNED, mean
from preln.theory.report import traces

BASELINE = 9.995
"""The loss of the unigram baseline on the fixed batch of the traces (16 sentences, 381 target tokens), in bits a token;
traces do not record it. On the whole validation text it is 9.90."""
MODELS = {
    ("post", 0): "Post-LN, no warm-up",
    ("pre", 0): "Pre-LN, no warm-up",
    ("post-init", 0): "Post-LN-init, no warm-up",
    ("post", 1333): "Post-LN, warm-up of 1,333",
}
"""The names of the models, by placement and warm-up."""
LAST = slice(191, 200)
"""The updates whose means are compared with the first."""


def numbers(evidence: Evidence) -> dict[str, dict[str, dict[int, float]]]:
    """The numbers that the rule reads of the traces of 200 updates: by model, number and seed."""
    models: dict[str, dict[str, dict[int, float]]] = {name: {} for name in MODELS.values()}
    for trace in traced(evidence, RunSettings):
        name = MODELS.get((trace.settings.placement, trace.settings.warmup))
        if name and trace.table["update"].max() >= LAST.stop:
            for number, value in numbers_of(trace).items():
                models[name].setdefault(number, {})[trace.settings.seed] = value
    return {name: by_number for name, by_number in models.items() if by_number}


def numbers_of(trace: Trace[RunSettings]) -> dict[str, float]:
    """The numbers of one trace, in the order of the table."""
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


def findings(evidence: Evidence) -> Findings:
    of = numbers(evidence)
    if len(of) < len(MODELS):
        return
    post, pre, control, warmed_up = MODELS.values()
    yield QUESTION.find("stuck", post, of[post]["loss"], low=BASELINE - LEARNED)
    for name in (pre, control):
        yield QUESTION.find("learns", name, of[name]["loss"], high=BASELINE - LEARNED)
    for name in (pre, control):
        ratios = over(of[post]["gradient"], of[name]["gradient"])
        yield QUESTION.find("for-gradients", f"Post-LN over {name}", ratios, low=1.25, ratio=True)
    ratios = over(of[control]["gradient"], of[post]["gradient"])
    yield QUESTION.find("against-gradients", "", ratios, low=0.9, ratio=True)
    for name in (pre, control, warmed_up):
        ratios = over(of[post]["step"], of[name]["step"])
        yield QUESTION.find("for-updates", f"Post-LN over {name}", ratios, low=2.0, ratio=True)
        ratios = over(of[name]["step"], of[post]["step"])
        yield QUESTION.find("against-updates", f"{name} over Post-LN", ratios, low=0.9, ratio=True)
    yield QUESTION.find("mechanism-gradient", post, of[post]["kept"], high=0.1, ratio=True)
    yield QUESTION.find("mechanism-gradient-control", control, of[control]["kept"], low=0.1, ratio=True)
    yield QUESTION.find("mechanism-input", post, of[post]["growth"], low=1.5, ratio=True)
    yield QUESTION.find("mechanism-input-control", control, of[control]["growth"], high=1.5, ratio=True)


def words(answer: Answer) -> list[str]:
    """Which explanation the first updates speak for."""
    if not (answer.holds("stuck") and answer.holds("learns")):
        return ["nothing to explain here, for Post-LN learns or another model does not"]
    cases = {
        "for large gradients": answer.holds("for-gradients"),
        "against large gradients": answer.holds("against-gradients"),
        "for large updates": answer.holds("for-updates"),
        "against large updates": any(ratio.outcome is Outcome.HOLDS for ratio in answer.of("against-updates")),
    }
    sentences = [case for case, holds in cases.items() if holds] or ["the question stays open"]
    mechanism = [part for part in QUESTION.quantities if part.startswith("mechanism")]
    if all(map(answer.holds, mechanism)):
        sentences.append("for Wang et al.'s mechanism")
    elif any(finding.outcome is Outcome.FAILS for part in mechanism for finding in answer.of(part)):
        sentences.append("not for Wang et al.'s mechanism")
    return sentences


def table(evidence: Evidence) -> str:
    """The numbers of each model, means over the seeds."""
    forms = {"loss": ".2f", "gradient": ".2f", "step": "#.2g", "kept": ".2g", "growth": ".2f"}
    rows = [
        (name, *(f"{mean(of[number].values()):{form}}" for number, form in forms.items()), str(len(of["loss"])))
        for name, of in numbers(evidence).items()
    ]
    head = ["", "loss after 200", "last gradient", "largest step", "first gradient kept", "growth of the input"]
    return grid([*head, "seeds"], rows)


QUESTION = Question(
    name="first-updates",
    statement="Does Post-LN fail because its last gradients are large, or because its first updates change the "
    "function too much?",
    source="Wang et al. (2022), DeepNet, section 3, against section 3 of the paper",
    published="a control with a last gradient that is no smaller trains, with 6 to 24 layers",
    how_known="stated",
    rule="Post-LN, Pre-LN and Post-LN-init make 200 updates at 5e-4 without a warm-up, and Post-LN with one. There is "
    "something to explain if Post-LN is stuck, less than 0.3 bits below the unigram baseline of the traces' batch, and "
    "the others learn. "
    "For large gradients: Post-LN's last gradient is at least 1.25 times that of each that learns. Against: "
    "Post-LN-init's is at least 0.9 times Post-LN's. For large updates: Post-LN's largest step of the first ten is at "
    "least twice that of each other. Against: one of the others has at least 0.9 times Post-LN's. For the mechanism of "
    "Wang et al. in addition: the first layer's gradient vanishes (to a tenth) and the last input swells (by half) in "
    "Post-LN, and neither in the control.",
    written="2026-11-23",
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
    answer=words,
    table=table,
    reads=("first-updates",),
)
