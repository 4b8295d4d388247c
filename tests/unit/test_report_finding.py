"""A study answers whether Post-LN needs the warm-up, and Pre-LN not, as certainly as its seeds allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preln.config import Study
from preln.translation.report import finding
from preln.translation.report.four_curves import shown
from preln.translation.report.records import SOURCE
from preln.translation.runs import Run
from tests.made_up.maps import GUESS, bench

FOUR: dict[str, Any] = {
    **{"placement": ["post", "pre"], "optimizer": "adam", "schedule": "inverse-sqrt", "anchor": "hold"},
    **{"learning_rate": 2e-3, "warmup": [0, 50]},
}


def found(study: Study, runs: list[Run], results: Path) -> finding.Finding:
    answer = finding.find(SOURCE.load(study, shown(study, runs), results))
    assert answer is not None
    return answer


def losses(post: float | None, pre: float = 5.0) -> Any:
    """Post-LN and Pre-LN without a warm-up end there, and with one at 5 bits."""

    def loss(run: Run) -> float | None:
        if run.settings.warmup:
            return 5.0
        return post if run.settings.placement == "post" else pre

    return loss


@pytest.mark.parametrize("loss", [GUESS + 1, GUESS, None], ids=["above", "at", "diverged"])
def test_post_ln_that_learns_nothing_without_the_warmup_needs_it_with_three_seeds(
    tmp_path: Path, loss: float | None
) -> None:
    answer = found(*bench(tmp_path, losses(loss), {**FOUR, "seed": [1, 2, 3]}), tmp_path).answer

    assert answer == (
        "Post-LN needs the warm-up here: without it, it learns nothing. Pre-LN does not need the warm-up here: without "
        "it, it ends at the same loss."
    )


@pytest.mark.parametrize("seeds", [[1], [1, 2]])
def test_fewer_seeds_give_the_same_answer_and_say_what_would_settle_it(tmp_path: Path, seeds: list[int]) -> None:
    answer = found(*bench(tmp_path, losses(6.0), {**FOUR, "seed": seeds}), tmp_path).answer

    so_far = "1 seed" if seeds == [1] else "2 seeds"
    needs = "Post-LN needs the warm-up here: without it, it ends 1.00 bits behind"
    assert f"{needs} ({so_far}; 3 that agree settle it)." in answer


def test_seeds_that_disagree_give_no_answer(tmp_path: Path) -> None:
    study, runs = bench(
        tmp_path, lambda run: losses(6.0 if run.settings.seed > 1 else 5.1)(run), {**FOUR, "seed": [1, 2, 3]}
    )

    assert "Whether Post-LN needs the warm-up depends on the seed here." in found(study, runs, tmp_path).answer


@pytest.mark.parametrize(
    ("loss", "answer"),
    [
        (4.9, "Pre-LN does not need the warm-up here: without it, it ends 0.10 bits ahead."),
        (5.3, "Pre-LN trains without the warm-up here, and ends 0.30 bits behind."),
        (6.0, "Pre-LN needs the warm-up here: without it, it ends 1.00 bits behind."),
    ],
)
def test_pre_ln_is_held_against_itself_with_the_warmup(tmp_path: Path, loss: float, answer: str) -> None:
    assert found(*bench(tmp_path, losses(8.0, loss), {**FOUR, "seed": [1, 2, 3]}), tmp_path).answer.endswith(answer)


def test_pre_ln_of_another_schedule_is_held_against_the_unigram_baseline_alone(tmp_path: Path) -> None:
    post = {**FOUR, "placement": "post", "seed": [1, 2, 3]}
    pre = {**FOUR, "placement": "pre", "schedule": "constant", "anchor": "warmup", "warmup": 0, "seed": [1, 2, 3]}

    answer = found(*bench(tmp_path, losses(8.0), post, pre), tmp_path)

    assert [row.label for row in answer.rows] == [
        "Post-LN, no warm-up",
        "Post-LN, warm-up 50",
        "Pre-LN, no warm-up, constant",
    ]
    assert answer.answer.endswith("Pre-LN trains without a warm-up.")


def test_runs_of_one_rate_and_one_schedule_are_compared(tmp_path: Path) -> None:
    without = {**FOUR, "placement": "post", "warmup": 0, "learning_rate": [1e-3, 2e-3]}
    warmed_up = {**FOUR, "placement": "post", "warmup": 50}
    other = {**FOUR, "placement": "post", "warmup": 80, "schedule": "constant", "anchor": "warmup"}

    study, runs = bench(tmp_path, losses(8.0), without, warmed_up, other)

    assert [(run.settings.learning_rate, run.settings.warmup) for run in shown(study, runs)] == [
        (2e-3, 0),
        (2e-3, 50),
    ]


@pytest.mark.parametrize("missing", [{"warmup": 50}, {"placement": "pre"}, {"optimizer": "sgd"}])
def test_a_study_without_post_ln_without_a_warmup_has_no_such_finding(tmp_path: Path, missing: dict[str, Any]) -> None:
    study, runs = bench(tmp_path, losses(8.0), {**FOUR, **missing})

    assert shown(study, runs) == []
