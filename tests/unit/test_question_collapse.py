"""The collapse beside the last gradient, of translation and of language models, with made-up traces and losses."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.config import LanguageSettings, RunSettings, Study, validate
from preln.language.runs import expand
from preln.questions import collapse, language_collapse
from preln.questions.base import Outcome, Question, Verdict
from preln.questions.core.evidence import Evidence, of_study
from preln.theory import trace_jobs
from tests.conftest import LANGUAGE, language_content
from tests.made_up import language, traces
from tests.made_up.language import BASELINE
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
Number = Callable[[Any], float]
"""A function of the settings of a run."""


def traced(study: Study, results: Path, distance: Number, gradient: Number) -> Evidence:
    """The evidence of a study once its traces are there."""
    for job in trace_jobs.expand(study):
        rows = [{"update": u, "cosine": 1 - distance(job.settings) * (2 if u < 5 else 1)} for u in range(11)]
        # Equal in the first layer, so that its ratio to the last's ranks the other way round.
        layers = {1: 1.0, job.settings.decoder_layers: gradient(job.settings)}
        norms = {f"gradient_norm.decoder.{layer}": norm for layer, norm in layers.items()}
        traces.done(study, job, results, pd.DataFrame(rows).assign(loss=9.0, sharpness=5.0, **norms))
    return of_study(study, results)


def evidence(results: Path, distance: Number, gradient: Number, loss: Number) -> Evidence:
    """A bench with the limits above, traces of its placements and of the changes of Post-LN, and runs of these."""
    bench_runs = {**ADAM, "placement": list(LIMITS), "learning_rate": RATES, "warmup": [0, 50]}
    runs = [{**ADAM, "placement": list(LIMITS), "learning_rate": 3e-3, "seed": SEEDS}, *CHANGES[1:]]
    section = {"updates": 10, "settings": {"corpus": "embedded", "width": 128}, "runs": runs}

    def ended(run: Any) -> float:
        settings: RunSettings = run.settings
        if settings.seed in SEEDS:
            return loss(settings)
        return LEARNED if settings.learning_rate <= LIMITS[settings.placement] else STUCK

    study, _ = bench(results, ended, bench_runs, *CHANGES, first_updates=section)
    return traced(study, results, distance, gradient)


def is_changed(settings: RunSettings) -> bool:
    return (settings.encoder_layers, settings.decoder_layers) != (6, 6)


def small_if_clipped(settings: RunSettings) -> float:
    return 0.05 if settings.clip_norm else 1.5


def apart(settings: RunSettings) -> float:
    """A distance in the order of the limits, but of a placement without a norm, and a large one with fewer layers."""
    by_placement = {"post": 1e-4, "deepnorm": 1e-3, "pre": 1e-2, "rezero": 0.0}
    return 0.02 if is_changed(settings) else by_placement[settings.placement]


def outcomes(records: Evidence, question: Question = collapse.QUESTION) -> dict[str, set[Outcome]]:
    answer = question.ask(records)
    return {part: {finding.outcome for finding in answer.of(part)} for part in question.quantities}


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
    assert "| first over last gradient (without a rule) | 1.00 ± 0.00 |" in collapse.table(records)
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


LANGUAGE_RATES = [1e-3, 2e-3, 4e-3, 8e-3]
HIGHEST = {"post": 1e-3, "deepnorm": 2e-3, "pre": 4e-3, "peri": 8e-3, "rezero": 8e-3}
"""The highest rates at which runs end below the baseline; Post-LN does at no lower one, so that its limit is 0."""


def language_evidence(results: Path, distance: Number, gradient: Number, unfinished: str = "") -> Evidence:
    """Trainings of each placement at each rate, without and with a warm-up, and traces of three seeds."""
    grid: dict[str, Any] = {"placement": list(HIGHEST), "learning_rate": LANGUAGE_RATES, "warmup": [0, 4]}
    runs = [{**grid, "warmup": 0, "learning_rate": peak, "seed": [4, 5, 6]} for peak in (1e-3, 4e-3)]
    section = {"updates": 10, "settings": LANGUAGE, "runs": runs}
    study = validate(language_content(grid, first_updates=section), "my.yaml")
    for run in expand(study):
        settings = run.settings
        trains = settings.warmup or settings.learning_rate <= HIGHEST[settings.placement]
        diverged = 7 if settings.placement == "pre" and not trains else None
        if run.id != unfinished:
            language.records_of(study, run, results, [BASELINE - (0.31 if trains else 0.29)], diverged)
    return traced(study, results, distance, gradient)


def follows(settings: LanguageSettings) -> float:
    """In the order of the limits, but for the placement without a norm."""
    return {"post": 1e-4, "deepnorm": 1e-3, "pre": 1e-2, "peri": 0.1, "rezero": 0.0}[settings.placement]


def mixed(settings: LanguageSettings) -> float:
    """In no order that is like theirs."""
    return {"post": 2.0, "deepnorm": 4.0, "pre": 1.0, "peri": 3.0, "rezero": 1.5}[settings.placement]


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
    of_parts = outcomes(language_evidence(tmp_path, distance, gradient), language_collapse.QUESTION)
    expected = {part: {Outcome.HOLDS if it_holds else Outcome.FAILS} for part, it_holds in holds.items()}
    assert {part: of_parts[part] for part in holds} == expected


def test_nothing_is_asked_before_all_runs_of_the_limits_are_done(tmp_path: Path) -> None:
    records = language_evidence(tmp_path, follows, mixed, unfinished="pre-lr4e-3-const-s1")
    assert language_collapse.QUESTION.ask(records).verdict is Verdict.NOT_TESTED
