"""The demonstration: its picture, what it concludes, and the finding on one seed."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from preln.corpora import data
from preln.language import demo
from preln.language.demo import MARGIN, WARMUP, Demonstration, embedded_text, picture

pytestmark = pytest.mark.numbers


def test_its_text_is_the_embedded_english() -> None:
    text = embedded_text()
    assert len(text.train) == 380_000
    assert len(text.valid) == 20_000
    assert bytes(text.train.tolist()).decode().startswith("\n".join(data.documents()[0]))
    assert text.counts.sum() == len(text.train)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Demonstration:
    """The demonstration of smaller models after few updates."""
    monkeypatch.setattr(demo, "UPDATES", 4)
    monkeypatch.setattr(demo, "TURN", 2)
    monkeypatch.setattr(demo, "WARMUP", 2)
    monkeypatch.setattr(demo, "SHAPE", {**demo.SHAPE, "layers": 1, "width": 16, "ffn_width": 16, "batch_sequences": 2})
    found = Demonstration.of(seed=1)
    for _ in found.turns():
        pass
    return found


def test_the_picture_has_a_line_of_the_legend_for_each_model(short: Demonstration) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(picture(short))
    text = console.export_text()
    for model in short.models:
        assert f"{model.name} " in text
        assert f"{model.valid:.2f} bits a byte" in text
    assert f"{short.baseline:.2f}" in text


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
    for _ in demonstration.turns():
        pass
    losses: dict[Any, float] = demonstration.losses()
    stuck = losses.pop(("post", 0))
    assert stuck == pytest.approx(demonstration.baseline, abs=0.1)
    assert stuck - max(losses.values()) > MARGIN
