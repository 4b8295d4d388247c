"""The question of Pre-LN's lead with annealed schedules, on made-up losses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from preln.questions import named
from preln.questions.annealing import COLD, DROP, INVERSE, SCHEDULES, WARMED
from preln.questions.core.evidence import of_study
from tests.made_up.translation import recorded_study

Loss = Callable[[str, str, int], list[float]]
"""The loss after each of four epochs, by placement, schedule and seed."""

SETTINGS: dict[str, Any] = {
    **{"optimizer": "adam", "learning_rate": 5e-4, "accumulate": 4, "batch_tokens": 1024, "epochs": 4, "width": 256},
    "seed": [1, 2, 3],
}
OF_SCHEDULE: dict[str, dict[str, Any]] = {
    INVERSE: {"schedule": "inverse-sqrt", "warmup": 100, "decay_period": 100},
    DROP: {"schedule": "constant", "warmup": 0, "drop_epoch": 2, "drop_factor": 0.1},
    WARMED: {"schedule": "linear", "warmup": 100, "decay_updates": 400},
    COLD: {"schedule": "linear", "warmup": 0, "decay_updates": 400},
}
PAIR = [("post", INVERSE), ("pre", DROP)]
EVERY = [(placement, schedule) for schedule in SCHEDULES.values() for placement in ("post", "pre")]


def words(results: Path, loss: Loss, cells: Iterable[tuple[str, str]] = EVERY) -> list[str]:
    """The answer for a study of these placements and schedules."""
    grid = [{**SETTINGS, **OF_SCHEDULE[schedule], "placement": placement} for placement, schedule in cells]
    ends = [loss(placement, schedule, seed) for placement, schedule in cells for seed in (1, 2, 3)]
    study, _ = recorded_study(results, *ends, grid=grid)
    return named("annealing").ask(of_study(study, results)).words


def ahead(placement: str, schedule: str, seed: int) -> list[float]:
    """Pre-LN is half a bit ahead after every epoch, with every schedule."""
    return [epoch + 0.01 * seed + 0.5 * (placement == "post") for epoch in (8.0, 7.0, 6.0, 5.5)]


@pytest.mark.parametrize(
    ("post", "expected"),
    [
        ([9.0, 8.0, 7.5, 7.0], "it stands on both clocks"),
        # After epoch 3 Post-LN is behind; it has spent less until then, and where it has spent as much it is ahead.
        ([9.0, 7.0, 6.2, 4.0], "it depends on the schedule"),
        ([7.0, 6.5, 5.0, 4.0], "it stands on neither clock"),
    ],
)
def test_the_papers_pair_is_judged_on_both_clocks_before_the_other_schedules_are_there(
    post: list[float], expected: str, tmp_path: Path
) -> None:
    def loss(placement: str, schedule: str, seed: int) -> list[float]:
        return post if placement == "post" else [8.0, 7.0, 6.0, 5.5]

    assert words(tmp_path, loss, PAIR) == [f"the lead of the paper's pair: {expected} (seeds: 3)"]


def test_runs_without_a_seed_in_common_decide_nothing(tmp_path: Path) -> None:
    post, pre = ({**SETTINGS, **OF_SCHEDULE[schedule], "placement": placement} for placement, schedule in PAIR)
    study, _ = recorded_study(tmp_path, *[[9.0, 8.0, 7.0, 6.0]] * 2, grid=[{**post, "seed": 1}, {**pre, "seed": 2}])
    assert named("annealing").ask(of_study(study, tmp_path)).findings == ()


def test_a_lead_that_every_schedule_leaves_is_the_placements(tmp_path: Path) -> None:
    assert words(tmp_path, ahead) == [
        "the lead of the paper's pair: it stands on both clocks (seeds: 3)",
        "the lead is the placement's",
        "annealed, they do not end level",
        "the warm-up makes no difference in Post-LN",
        "the warm-up makes no difference in Pre-LN",
    ]


def test_a_lead_whose_sign_the_schedule_decides_depends_on_it(tmp_path: Path) -> None:
    def loss(placement: str, schedule: str, seed: int) -> list[float]:
        losses = ahead(placement, schedule, seed)
        if (placement, schedule) == ("post", WARMED):
            losses[-1] -= 0.58
        return losses

    assert words(tmp_path, loss)[1:] == [
        "the lead depends on the schedule",
        "annealed, they end level",
        "the warm-up helps in Post-LN",
        "the warm-up makes no difference in Pre-LN",
    ]
