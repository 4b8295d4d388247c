"""The demonstration: its picture, what it concludes, and the finding on one seed."""

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from preln.language.demo import MARGIN, WARMUP, Demonstration, picture

pytestmark = pytest.mark.numbers


@pytest.mark.parametrize(
    ("post", "meant"),
    [
        (4.42, "Post-LN learns only after a warm-up"),
        (3.5, "here it ended +0.10 bits from the worst of the others, which does not show it"),
    ],
    ids=["seen", "not seen"],
)
def test_what_it_means_depends_on_what_was_seen(post: float, meant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = {("post", 0): post, ("post", WARMUP): 3.4, ("pre", 0): 3.2, ("pre", WARMUP): 3.25}
    monkeypatch.setattr(Demonstration, "losses", lambda self: losses)
    _, meaning, _ = Demonstration((), 4.41).sentences()
    assert meant in meaning


@pytest.mark.slow
def test_post_ln_without_a_warm_up_stays_at_the_unigram_baseline() -> None:
    demonstration = Demonstration.of(seed=1)
    # Pre-LN with a warm-up ends as it does without one.
    demonstration = replace(demonstration, models=demonstration.models[:3])
    for _ in demonstration.turns():
        pass
    losses: dict[Any, float] = demonstration.losses()
    stuck = losses.pop(("post", 0))
    assert stuck == pytest.approx(demonstration.baseline, abs=0.1)
    assert stuck - max(losses.values()) > MARGIN
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(picture(demonstration))
    text = console.export_text()
    assert all(f"{model.name} " in text and f"{model.valid:.2f} bits a byte" in text for model in demonstration.models)
    assert f"{demonstration.baseline:.2f}" in text
