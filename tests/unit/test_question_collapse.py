"""The collapse beside the last gradient, with made-up traces, limits and losses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.config import RunSettings
from preln.questions.base import Outcome
from preln.questions.collapse import QUESTION
from preln.questions.core.evidence import Evidence, of_study
from preln.theory import trace_jobs
from tests.made_up import traces
from tests.made_up.maps import LEARNED, STUCK, bench

pytestmark = pytest.mark.slow

SEEDS = [4, 5, 6]
RATES = [3e-4, 9.5e-4, 3e-3, 9.5e-3]
LIMITS = {"post": 9.5e-4, "deepnorm": 3e-3, "pre": 9.5e-3, "rezero": 9.5e-3}
ADAM: dict[str, Any] = {"optimizer": "adam", "schedule": "constant", "warmup": 0, "epochs": 2}
CHANGES: list[dict[str, Any]] = [
    {"placement": "post", "learning_rate": 3e-3, "seed": SEEDS, **ADAM, **change}
    for change in ({}, {"clip_norm": 0.1}, {"encoder_layers": 2}, {"decoder_layers": 2})
]
Number = Callable[[RunSettings], float]


def evidence(results: Path, distance: Number, gradient: Number, loss: Number) -> Evidence:
    """A bench with the limits above, traces of its placements and of the changes of Post-LN, and runs of these."""
    bench_runs = {**ADAM, "placement": list(LIMITS), "learning_rate": RATES, "warmup": [0, 50]}
    traced = {**ADAM, "placement": list(LIMITS), "learning_rate": 3e-3, "seed": SEEDS}
    section = {"updates": 10, "settings": {"corpus": "embedded", "width": 128}, "runs": [traced, *CHANGES[1:]]}

    def ended(run: Any) -> float:
        settings: RunSettings = run.settings
        if settings.seed in SEEDS:
            return loss(settings)
        return LEARNED if settings.learning_rate <= LIMITS[settings.placement] else STUCK

    study, _ = bench(results, ended, bench_runs, *CHANGES, first_updates=section)
    for job in trace_jobs.expand(study):
        settings: Any = job.settings
        last = f"gradient_norm.decoder.{settings.decoder_layers}"
        rows = [{"update": u, "cosine": 1 - distance(settings) * (2 if u < 5 else 1)} for u in range(11)]
        table = pd.DataFrame(rows).assign(loss=9.0, sharpness=5.0, **{last: gradient(settings)})
        traces.done(study, job, results, table)
    return of_study(study, results)


def is_changed(settings: RunSettings) -> bool:
    return (settings.encoder_layers, settings.decoder_layers) != (6, 6)


def small_if_clipped(settings: RunSettings) -> float:
    return 0.05 if settings.clip_norm else 1.5


def apart(settings: RunSettings) -> float:
    """A distance in the order of the limits, but of a placement without a norm, and a large one with fewer layers."""
    by_placement = {"post": 1e-4, "deepnorm": 1e-3, "pre": 1e-2, "rezero": 0.0}
    return 0.02 if is_changed(settings) else by_placement[settings.placement]


def outcomes(records: Evidence) -> dict[str, set[Outcome]]:
    answer = QUESTION.ask(records)
    return {part: {finding.outcome for finding in answer.of(part)} for part in QUESTION.quantities}


def test_each_part_holds_where_the_collapse_follows_the_limit_and_the_gradient_does_not(tmp_path: Path) -> None:
    records = evidence(tmp_path, apart, small_if_clipped, lambda run: LEARNED if is_changed(run) else STUCK)
    of_parts = outcomes(records)
    # The placement without a norm has the highest limit, and collapses most.
    assert of_parts.pop("of-every-placement") == {Outcome.FAILS}
    # All placements have one sharpness, so that it ranks none.
    assert of_parts.pop("not-the-sharpness") == of_parts.pop("more-than-the-gradient") == {Outcome.UNDECIDED}
    # As one gradient does.
    assert of_parts.pop("not-the-gradient") == {Outcome.UNDECIDED}
    assert set.union(*of_parts.values()) == {Outcome.HOLDS}


def test_the_gradient_decides_where_it_follows_the_limit_and_a_small_one_trains(tmp_path: Path) -> None:
    def gradient(settings: RunSettings) -> float:
        if settings.placement != "post":
            return {"deepnorm": 1.2, "pre": 0.5, "rezero": 0.1}[settings.placement]
        return small_if_clipped(settings)

    records = evidence(tmp_path, apart, gradient, lambda run: LEARNED if run.clip_norm else STUCK)
    of_parts = outcomes(records)
    assert of_parts["post-fails"] == {Outcome.HOLDS}
    for part in ("not-the-gradient", "more-than-the-gradient", "less-collapse-trains", "small-gradient-fails"):
        assert of_parts[part] == {Outcome.FAILS}, part


@pytest.mark.parametrize(
    ("distance", "gradient", "part"),
    [
        (lambda run: 1e-4, small_if_clipped, "less-collapse-trains"),
        (apart, lambda run: 0.9 if is_changed(run) else small_if_clipped(run), "less-collapse-trains"),
        (apart, lambda run: 1.5, "small-gradient-fails"),
        (lambda run: 0.1 if run.clip_norm else apart(run), small_if_clipped, "small-gradient-fails"),
    ],
)
def test_a_change_that_changes_neither_or_both_decides_nothing(
    distance: Number, gradient: Number, part: str, tmp_path: Path
) -> None:
    records = evidence(tmp_path, distance, gradient, lambda run: LEARNED if is_changed(run) else STUCK)
    assert outcomes(records)[part] == {Outcome.UNDECIDED}
