"""The paper's numbers, as data, are those of the paper's text and figures."""

from __future__ import annotations

import pytest

from preln.config import RunSettings
from preln.report.reference.translation import load

POST_ADAM = {"corpus": "iwslt14", "placement": "post", "optimizer": "adam", "schedule": "inverse-sqrt"}


@pytest.mark.parametrize(
    ("figure", "quantity", "series", "value"),
    [
        (2, "bleu", "Adam w/o warm-up", 8.45),
        (2, "bleu", "Adam w/ warm-up", 34.0),
        (2, "bleu", "Adam, warm-up 500, lr 5e-4", 31.16),
        (2, "bleu", "Adam, warm-up 500, lr 1e-3", 2.77),
        (2, "bleu", "SGD w/o warm-up", None),
        (4, "bleu", "Pre-LN Adam w/o warm-up", 34.0),
        (4, "valid_loss", "Pre-LN Adam w/o warm-up", 4.0),
        (6, "valid_loss", "Post-LN Adam, fixed lr 1e-4", 4.3),
    ],
)
def test_numbers_of_the_text(figure: int, quantity: str, series: str, value: float | None) -> None:
    values = [
        entry.y
        for entry in load()
        if (entry.figure, entry.quantity, entry.series) == (figure, quantity, series) and entry.statement
    ]

    assert values == [value]


def test_exact_numbers_are_printed_and_round_words_are_stated() -> None:
    ways = {entry.statement: entry.how_known for entry in load() if entry.statement}

    assert {words for words, way in ways.items() if way == "printed"} == {"only 8.45", "31.16", "2.77"}
    assert ways["just above zero"] == ways["around 34"] == ways["around 4.3 in 27 epochs"] == "stated"


def test_a_number_belongs_to_the_runs_that_the_paper_describes() -> None:
    short = next(e for e in load() if e.statement == "31.16")
    failed = next(e for e in load() if e.statement == "only 8.45")
    at_500 = RunSettings.model_validate({**POST_ADAM, "learning_rate": 5e-4, "warmup": 500})
    without = RunSettings.model_validate({**POST_ADAM, "learning_rate": 1e-3, "warmup": 1})

    assert short.is_of(at_500)
    assert not short.is_of(at_500.model_copy(update={"learning_rate": 1e-3}))
    assert not short.is_of(at_500.model_copy(update={"dropout": 0.3}))
    assert failed.is_of(without), "one update of warm-up is none, and the paper does not say at which rate"
    assert failed.is_of(without.model_copy(update={"warmup": 0, "learning_rate": 5e-4}))
