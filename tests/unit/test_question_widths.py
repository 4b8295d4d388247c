"""The law of the limit's fall with the width, by made-up runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preln.questions import named
from preln.questions.core.evidence import of_study
from preln.translation.runs import Run
from tests.made_up.maps import LEARNED, STUCK, bench

WIDTHS = (64, 128, 256)
RATES = [2.0**step * 1e-4 for step in range(5)]
SETTINGS: dict[str, Any] = {
    **{"placement": "post", "optimizer": "adam", "schedule": "constant", "warmup": 0, "epochs": 2},
    **{"learning_rate": RATES, "batch_tokens": 1024, "seed": [1, 2, 3]},
}


def words(results: Path, limits: dict[int, float]) -> list[str]:
    """The answer where each width's runs learn up to a rate."""

    def loss(run: Run) -> float:
        return LEARNED if run.settings.learning_rate <= limits[run.settings.width] else STUCK

    study, _ = bench(results, loss, *({**SETTINGS, "width": width} for width in WIDTHS))
    return named("widths").ask(of_study(study, results)).words


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
    assert words(tmp_path, dict(zip(WIDTHS, limits, strict=True))) == [f"1,024 tokens an update: {law}"]


def test_a_rate_at_which_a_lower_one_fails_is_no_limit(tmp_path: Path) -> None:
    def loss(run: Run) -> float:
        limit = 0.0256 / run.settings.width
        return LEARNED if run.settings.learning_rate <= limit or run.settings.learning_rate == RATES[-1] else STUCK

    study, _ = bench(tmp_path, loss, *({**SETTINGS, "width": width} for width in WIDTHS))
    (law,) = named("widths").ask(of_study(study, tmp_path)).of("falls-as-1-over-width")
    assert law.values == pytest.approx([-1.0] * 3)
