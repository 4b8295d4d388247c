"""The collapse of language models beside the last gradient, with made-up traces and trainings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.config import LanguageSettings, validate
from preln.language.runs import expand
from preln.questions.base import Outcome, Verdict
from preln.questions.core.evidence import Evidence, of_study
from preln.questions.language_collapse import QUESTION, limits
from preln.theory import trace_jobs
from tests.conftest import LANGUAGE, language_content
from tests.made_up import traces
from tests.made_up.language import BASELINE, records_of

RATES = [1e-3, 2e-3, 4e-3, 8e-3]
HIGHEST = {"post": 1e-3, "deepnorm": 2e-3, "pre": 4e-3, "peri": 8e-3, "rezero": 8e-3}
"""The highest rates at which runs end below the baseline; Post-LN does at no lower one, so that its limit is 0."""
Number = Callable[[LanguageSettings], float]


def evidence(results: Path, distance: Number, gradient: Number, unfinished: str = "") -> Evidence:
    """Trainings of each placement at each rate, without and with a warm-up, and traces of three seeds."""
    grid: dict[str, Any] = {"placement": list(HIGHEST), "learning_rate": RATES, "warmup": [0, 4]}
    runs = [{**grid, "warmup": 0, "learning_rate": peak, "seed": [4, 5, 6]} for peak in (1e-3, 4e-3)]
    section = {"updates": 10, "settings": LANGUAGE, "runs": runs}
    study = validate(language_content(grid, first_updates=section), "my.yaml")
    for run in expand(study):
        settings = run.settings
        trains = settings.warmup or settings.learning_rate <= HIGHEST[settings.placement]
        diverged = 7 if settings.placement == "peri" and not trains else None
        if run.id != unfinished:
            records_of(study, run, results, [BASELINE - (0.31 if trains else 0.29)], diverged)
    for job in trace_jobs.expand(study):
        assert isinstance(job.settings, LanguageSettings)
        rows = [{"update": u, "cosine": 1 - distance(job.settings) * (2 if u < 5 else 1)} for u in range(11)]
        last = {"gradient_norm.decoder.2": gradient(job.settings)}
        traces.done(study, job, results, pd.DataFrame(rows).assign(loss=9.0, sharpness=5.0, **last))
    return of_study(study, results)


def follows(settings: LanguageSettings) -> float:
    """In the order of the limits, but for the placement without a norm."""
    return {"post": 1e-4, "deepnorm": 1e-3, "pre": 1e-2, "peri": 0.1, "rezero": 0.0}[settings.placement]


def mixed(settings: LanguageSettings) -> float:
    """In no order that is like theirs."""
    return {"post": 2.0, "deepnorm": 4.0, "pre": 1.0, "peri": 3.0, "rezero": 1.5}[settings.placement]


def test_the_limit_is_the_highest_rate_that_trains_where_a_lower_one_does_too(tmp_path: Path) -> None:
    (of_limits,) = limits(evidence(tmp_path, follows, mixed)).values()
    assert of_limits == {**HIGHEST, "post": 0.0}


@pytest.mark.parametrize(
    ("distance", "gradient", "holds"),
    [
        (follows, mixed, {"collapse-predicts": True, "more-than-the-gradient": True, "not-the-gradient": True}),
        (
            follows,
            lambda run: 1 / (follows(run) + 1e-5),
            {"collapse-predicts": True, "more-than-the-gradient": False, "not-the-gradient": False},
        ),
        (mixed, mixed, {"collapse-predicts": False, "more-than-the-gradient": False, "of-every-placement": False}),
    ],
    ids=["the collapse alone", "both", "neither"],
)
def test_each_part_is_judged_by_the_rank_correlation_with_the_limits(
    distance: Number, gradient: Number, holds: dict[str, bool], tmp_path: Path
) -> None:
    answer = QUESTION.ask(evidence(tmp_path, distance, gradient))
    for part, expected in holds.items():
        outcomes = {finding.outcome for finding in answer.of(part)}
        assert outcomes == {Outcome.HOLDS if expected else Outcome.FAILS}, part


def test_nothing_is_asked_before_all_runs_of_the_limits_are_done(tmp_path: Path) -> None:
    records = evidence(tmp_path, follows, mixed, unfinished="pre-lr4e-3-const-s1")
    assert QUESTION.ask(records).verdict is Verdict.NOT_TESTED
