"""Does Post-LN's last gradient fall with the depth at width 64? (C8)"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from docs.committed import study_of
from docs.markdown import answered
from preln.placements import PLACEMENTS
from preln.report.core.statistics import Estimate, estimate, plus_minus
from preln.report.theory import records as of_theory
from preln.runs import expand
from preln.theory.measurement_jobs import expand as expand_measurements
from preln.theory.measurements import INITIAL

DEPTHS = {"6, 12 and 18": (6, 12, 18), "6 to 14": (6, 8, 10, 12, 14)}
"""The layers of `placements`, and those of the paper, as the table has them."""
NEAR_ENOUGH = 0.1
"""How far from zero C8 lets the exponent be."""


def answer(ours: Estimate, papers: Estimate) -> list[str]:
    """What Post-LN's exponents over both sets of depths say."""

    def within(one: Estimate) -> bool:
        return -NEAR_ENOUGH <= one.low and one.high <= NEAR_ENOUGH

    if within(ours):
        return ["chance is the cause"]
    return ["the depths are the cause" if within(papers) else "neither is shown"]


def read(results: Path) -> dict[str, dict[str, Estimate]]:
    """By placement and set of depths, the exponent of the depth in the last gradient of W², over the seeds of
    `small-causes`; nothing while a part is not measured."""
    study = study_of("small-causes")
    parts = expand_measurements(study, expand(study))
    measured = of_theory.load(study, parts, results).table
    if measured["part"].nunique() < len(parts):
        return {}
    norms = of_theory.expected_gradients(measured)
    last = norms[(norms["state"] == INITIAL) & (norms["stack"] == "decoder") & (norms["matrix"] == "W2")]
    last = last[last["layer"] == last["depth"]]
    return {
        str(placement): {
            name: estimate(of_theory.exponents(its[its["depth"].isin(depths)], "depth"))
            for name, depths in DEPTHS.items()
        }
        for placement, its in last.groupby("placement")
    }


def answer_of(found: Mapping[str, Mapping[str, Estimate]]) -> list[str]:
    """The answer of `small-causes`; nothing while a part is not measured."""
    return answer(*(found["post"][name] for name in DEPTHS)) if found else []


def table(results: Path) -> str:
    """Both placements' exponents over both sets of depths, and the answer."""
    found = read(results)
    rows = [
        (
            PLACEMENTS[placement].label,
            *(plus_minus(one.mean, one.half, ".3f", ".3f").replace("-", "−") for one in found[placement].values()),
            str(next(iter(found[placement].values())).n),
        )
        for placement in ("post", "pre")
        if placement in found
    ]
    head = ["", *(f"exponent over {name} layers" for name in DEPTHS), "seeds"]
    return answered(head, rows, answer_of(found))
