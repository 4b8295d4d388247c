"""P2: the change of the function in DeepNorm, by depth."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.traced import depth_exponents, less
from preln.theory.report.traces import largest_step

FEWEST_DEPTHS = 3


def findings(evidence: Evidence) -> Findings:
    post_ln = depth_exponents(evidence, "post", largest_step, FEWEST_DEPTHS)
    for settings, deepnorm in depth_exponents(evidence, "deepnorm", largest_step, FEWEST_DEPTHS).items():
        beside = "" if settings.initialisation == "xavier" else "the theorem is about Xavier's initialisation"
        yield QUESTION.find("exponent", "DeepNorm", deepnorm, low=-0.25, high=0.25, beside=beside)
        apart = less(post_ln.get(settings, {}), deepnorm)
        yield QUESTION.find("post-minus-deepnorm", "", apart, low=0.25, beside=beside)


QUESTION = Question(
    name="p2",
    statement="DeepNorm: an update changes the model's function by an amount that does not depend on the depth.",
    source="Wang et al. (2022), arXiv:2203.00555",
    published="10 to 100 layers train on IWSLT14, to more than 30 BLEU after 8,000 updates",
    how_known="read-off",
    rule="The largest change of the decoder's last states in the first 10 updates has an exponent of the depth from "
    "-0.25 to 0.25 in DeepNorm. That of Post-LN is at least 0.25 larger.",
    conditions="The theorem is about Xavier's initialisation, scaled. Runs with another one are listed beside the "
    "verdict.",
    written="2026-11-23",
    quantities={
        "exponent": "exponent of the depth in the largest change of the function in 10 updates",
        "post-minus-deepnorm": "that exponent, Post-LN minus DeepNorm",
    },
    findings=findings,
)
