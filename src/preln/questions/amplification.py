"""Whether the depth amplifies the first update."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator

from preln.config import RunSettings
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.questions.base import Change, Finding, Question
from preln.questions.core.evidence import Evidence
from preln.questions.core.markdown import grid, interval, rate
from preln.questions.core.traced import traced
from preln.report.core.statistics import estimate, exponent
from preln.theory.report import traces

RATES = (5e-7, 5e-4)
"""The one that decides, and the one of the other studies."""
MODELS = ("post", "pre", "post-init")
FEWEST_DEPTHS = 5


def exponents(
    evidence: Evidence, number: Callable[[pd.DataFrame, RunSettings], float], peak: float
) -> dict[str, dict[int, float]]:
    """The exponent of the depth in a number of each trace, by placement and seed; nothing while a depth is missing."""
    by_depth: dict[str, dict[int, dict[int, float]]] = {}
    for one in traced(evidence):
        if one.settings.placement in MODELS and one.settings.learning_rate == peak:
            of_placement = by_depth.setdefault(one.settings.placement, {})
            of_placement.setdefault(one.settings.seed, {})[one.settings.decoder_layers] = number(
                one.table, one.settings
            )
    found = {
        name: {
            seed: exponent(sorted(depths), [depths[depth] for depth in sorted(depths)])
            for seed, depths in sorted(seeds.items())
            if len(depths) >= FEWEST_DEPTHS
        }
        for name, seeds in by_depth.items()
    }
    return {name: found[name] for name in MODELS if found.get(name)}


def findings(evidence: Evidence) -> Iterator[Finding]:
    """Post-LN's exponent, beside those of Pre-LN and of the control."""
    steps = exponents(evidence, traces.first_step, RATES[0])
    if "post" not in steps:
        return
    post = steps["post"]
    yield QUESTION.find("post-amplifies", "", post.values(), low=0.25)
    for part, name in (("more-than-pre", "pre"), ("control-less", "post-init")):
        if name in steps:
            differences = [post[seed] - steps[name][seed] for seed in post.keys() & steps[name].keys()]
            yield QUESTION.find(part, "", differences, low=0.2)
    gradients = exponents(evidence, traces.gradient_at_first, RATES[0])
    yield QUESTION.find("gradient-does-not-tell", "", gradients["post"].values(), low=-0.15, high=0.15)


def table(evidence: Evidence) -> str:
    """The exponents of the depth at each rate, with 95% intervals."""
    rows = []
    for peak in RATES:
        steps, gradients = (exponents(evidence, one, peak) for one in (traces.first_step, traces.gradient_at_first))
        for name, found in steps.items():
            cells = [interval(estimate(list(of[name].values()))) for of in (steps, gradients)]
            rows.append([rate(peak), PLACEMENTS[name].label, *cells, str(len(found))])
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
    written=datetime.date(2026, 11, 23),
    quantities={
        "post-amplifies": "Post-LN amplifies",
        "more-than-pre": "more than Pre-LN",
        "control-less": "the control amplifies less",
        "gradient-does-not-tell": "the last gradient does not tell it",
    },
    findings=findings,
    table=table,
    reads=("amplification",),
    changes=(
        Change(
            datetime.date(2026, 11, 28),
            "The means over the seeds decided.",
            "Each seed is asked now, and pairs of the same seed are compared, as in the ledger.",
            "committed: Post-LN amplifies; not shown to be more than Pre-LN; the gradient does not tell it; the "
            "control amplifies less → Post-LN amplifies: holds; more than Pre-LN: undecided; the control amplifies "
            "less: holds; the last gradient does not tell it: holds",
        ),
    ),
)
