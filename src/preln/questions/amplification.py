"""The first update, amplified by the depth."""

from __future__ import annotations

from preln.placements import PLACEMENTS
from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.markdown import grid, interval, rate
from preln.questions.core.traced import depth_exponents, less
from preln.report.core.statistics import estimate
from preln.theory.report.traces import Number, first_step, gradient_at_first

RATES = (5e-7, 5e-4)
"""The one that decides, and the one of the other studies."""
FEWEST_DEPTHS = 5


def exponents(evidence: Evidence, number: Number, peak: float) -> dict[str, dict[int, float]]:
    """The exponent of the depth in a number of each trace, by placement and seed; nothing while a depth is missing."""
    return {
        name: seeds
        for name in ("post", "pre", "post-init")
        for settings, seeds in depth_exponents(evidence, name, number, FEWEST_DEPTHS).items()
        if settings.learning_rate == peak
    }


def findings(evidence: Evidence) -> Findings:
    steps, gradients = (exponents(evidence, number, RATES[0]) for number in (first_step, gradient_at_first))
    post = steps.get("post", {})
    yield QUESTION.find("post-amplifies", "", post, low=0.25)
    yield QUESTION.find("more-than-pre", "", less(post, steps.get("pre", {})), low=0.2)
    yield QUESTION.find("control-less", "", less(post, steps.get("post-init", {})), low=0.2)
    yield QUESTION.find("gradient-does-not-tell", "", gradients.get("post"), low=-0.15, high=0.15)


def table(evidence: Evidence) -> str:
    """The exponents of the depth at each rate, with 95% intervals."""
    rows = []
    for peak in RATES:
        steps, gradients = (exponents(evidence, number, peak) for number in (first_step, gradient_at_first))
        for name, seeds in steps.items():
            cells = [interval(estimate(list(of[name].values()))) for of in (steps, gradients)]
            rows.append([rate(peak), PLACEMENTS[name].label, *cells, str(len(seeds))])
    return grid(["rate", "", "exponent of the step", "exponent of the last gradient", "seeds"], rows)


QUESTION = Question(
    name="amplification",
    statement="Does the depth amplify the first update in Post-LN, more than in Pre-LN and in the control?",
    source="Liu et al. (2020), Admin",
    published="the variance of the change grows as N in Post-LN, and as log N in Pre-LN",
    how_known="printed",
    rule="The exponent of the depth in the first step of the function at a peak rate of 5e-7, over 2 to 18 layers. "
    "Post-LN amplifies if it is at least 0.25; more than Pre-LN, and than the control, if it is at least 0.2 above "
    "theirs. The gradient does not tell it if the exponent of Post-LN's last gradient is from -0.15 to 0.15.",
    written="2026-11-23",
    quantities={
        "post-amplifies": "Post-LN amplifies",
        "more-than-pre": "more than Pre-LN",
        "control-less": "the control amplifies less",
        "gradient-does-not-tell": "the last gradient does not tell it",
    },
    findings=findings,
    table=table,
    reads=("amplification",),
)
