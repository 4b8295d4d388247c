"""The law of the limit's fall with the width, by made-up runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from preln.config import RunSettings
from preln.questions import named
from preln.questions.base import Answer
from preln.questions.core.evidence import of_study
from tests.made_up.maps import LEARNED, STUCK, bench

WIDTHS = (64, 128, 256)
RATES = [2.0**step * 1e-4 for step in range(5)]
SETTINGS: dict[str, Any] = {
    **{"placement": "post", "optimizer": "adam", "schedule": "constant", "warmup": 0, "epochs": 2},
    **{"learning_rate": RATES, "batch_tokens": 1024, "seed": [1, 2, 3]},
}


def answer(results: Path, learns: Callable[[RunSettings], bool]) -> Answer:
    """The answer of runs of which these learn."""
    entries = ({**SETTINGS, "width": width} for width in WIDTHS)
    study, _ = bench(results, lambda run: LEARNED if learns(run.settings) else STUCK, *entries)
    return named("widths").ask(of_study(study, results))


@pytest.mark.parametrize(
    ("limits", "law"),
    [
        ((8e-4, 4e-4, 2e-4), "the limit falls as 1/width, exponent -1.00"),
        ((4e-4, 4e-4, 4e-4), "the width does not matter, exponent 0.00"),
        ((4e-4, 4e-4, 2e-4), "it falls by another law, exponent -0.50"),
        ((1.6e-3, 8e-4, 4e-4), "not decided, a limit is at an end of its rates"),
        ((8e-4, 4e-4, 5e-5), "not decided, a limit is at an end of its rates"),
    ],
)
def test_the_law_of_the_limits(limits: tuple[float, ...], law: str, tmp_path: Path) -> None:
    by_width = dict(zip(WIDTHS, limits, strict=True))
    found = answer(tmp_path, lambda settings: settings.learning_rate <= by_width[settings.width])
    assert found.words == [f"1,024 tokens an update: {law}"]


def test_a_rate_that_trains_above_one_that_fails_is_no_limit(tmp_path: Path) -> None:
    def learns(settings: RunSettings) -> bool:
        return settings.learning_rate <= 0.0256 / settings.width or settings.learning_rate == RATES[-1]

    (law,) = answer(tmp_path, learns).of("falls-as-1-over-width")
    assert law.values == pytest.approx([-1.0] * 3)
