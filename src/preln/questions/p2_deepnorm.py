"""P2: the change of the function in DeepNorm, by depth."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from preln.config import RunSettings
from preln.questions.base import Finding, Question
from preln.questions.core.changes import ledger
from preln.questions.core.evidence import Evidence
from preln.questions.core.traced import by_settings
from preln.report.core.statistics import exponent
from preln.theory.report import traces

FEWEST_DEPTHS = 3


def findings(evidence: Evidence) -> Iterator[Finding]:
    """The exponent of the depth in the largest change of the function, in DeepNorm and beside it in Post-LN."""
    post_ln = _exponents(evidence, "post")
    for settings, deepnorm in _exponents(evidence, "deepnorm").items():
        beside = "" if settings.initialisation == "xavier" else "the theorem is about Xavier's initialisation"
        yield QUESTION.find("exponent", "DeepNorm", deepnorm.values(), low=-0.25, high=0.25, beside=beside)
        post = post_ln.get(settings, {})
        if both := sorted(deepnorm.keys() & post.keys()):
            differences = [post[seed] - deepnorm[seed] for seed in both]
            yield QUESTION.find("post-minus-deepnorm", "", differences, low=0.25, beside=beside)


def _exponents(evidence: Evidence, placement: str) -> dict[RunSettings, dict[int, float]]:
    """By seed, of traces that differ in the depth alone, by what they share; at enough depths."""
    changes: dict[RunSettings, dict[int, dict[int, float]]] = {}
    for settings, by_seed in by_settings(evidence, placement).items():
        alike = settings.model_copy(update={"encoder_layers": 1, "decoder_layers": 1})
        for seed, traced in by_seed.items():
            largest = traces.largest_step(traced.table, traced.settings)
            changes.setdefault(alike, {}).setdefault(seed, {})[settings.decoder_layers] = largest
    exponents = {
        alike: {
            seed: exponent(list(by_depth), list(by_depth.values()))
            for seed, by_depth in sorted(by_seed.items())
            if len(by_depth) >= FEWEST_DEPTHS
        }
        for alike, by_seed in changes.items()
    }
    return {alike: by_seed for alike, by_seed in exponents.items() if by_seed}


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
    written=datetime.date(2026, 11, 23),
    quantities={
        "exponent": "exponent of the depth in the largest change of the function in 10 updates",
        "post-minus-deepnorm": "that exponent, Post-LN minus DeepNorm",
    },
    findings=findings,
    changes=(
        ledger(
            "placements: no (0 of 2) → not tested yet",
            also="The theorem is about Xavier's initialisation, which our runs do not have: they are listed beside "
            "the verdict.",
            rule="Runs with any initialisation were judged.",
        ),
    ),
)
