"""The paper's numbers, as data, are those of the paper's text and figures."""

from __future__ import annotations

import pytest

from preln.config import RunSettings
from preln.report.reference.translation import load

POST_ADAM = {"corpus": "iwslt14", "placement": "post", "optimizer": "adam", "schedule": "inverse-sqrt"}


@pytest.mark.parametrize(
    ("figure", "quantity", "series", "value", "known"),
    [
        (2, "bleu", "Adam w/o warm-up", 8.45, "printed"),
        (2, "bleu", "Adam w/ warm-up", 34.0, "stated"),
        (2, "bleu", "Adam, warm-up 500, lr 5e-4", 31.16, "printed"),
        (2, "bleu", "Adam, warm-up 500, lr 1e-3", 2.77, "printed"),
        (2, "bleu", "SGD w/o warm-up", None, "stated"),
        (4, "bleu", "Pre-LN Adam w/o warm-up", 34.0, "stated"),
        (4, "valid_loss", "Pre-LN Adam w/o warm-up", 4.0, "stated"),
        (6, "valid_loss", "Post-LN Adam, fixed lr 1e-4", 4.3, "stated"),
    ],
)
def test_numbers_of_the_text(figure: int, quantity: str, series: str, value: float | None, known: str) -> None:
    (entry,) = (
        entry
        for entry in load()
        if (entry.figure, entry.quantity, entry.series) == (figure, quantity, series) and entry.statement
    )
    assert (entry.y, entry.how_known) == (value, known)


def test_a_number_belongs_to_the_runs_that_the_paper_describes() -> None:
    short, failed = (next(e for e in load() if e.statement == words) for words in ("31.16", "only 8.45"))
    at_500 = RunSettings.model_validate({**POST_ADAM, "learning_rate": 5e-4, "warmup": 500})
    without = RunSettings.model_validate({**POST_ADAM, "learning_rate": 1e-3, "warmup": 1})
    assert short.is_of(at_500)
    assert not short.is_of(at_500.model_copy(update={"learning_rate": 1e-3}))
    assert not short.is_of(at_500.model_copy(update={"dropout": 0.3}))
    assert failed.is_of(without), "one update of warm-up is none, and the paper does not say at which rate"
    assert failed.is_of(without.model_copy(update={"warmup": 0, "learning_rate": 5e-4}))
