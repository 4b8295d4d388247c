"""The paper's numbers, as data, say which runs they are of."""

from preln.config import RunSettings
from preln.report.reference.translation import load

POST_ADAM = {"corpus": "iwslt14", "placement": "post", "optimizer": "adam", "schedule": "inverse-sqrt"}


def test_a_number_belongs_to_the_runs_that_the_paper_describes() -> None:
    short, failed = (next(e for e in load() if e.statement == words) for words in ("31.16", "only 8.45"))
    at_500 = RunSettings.model_validate({**POST_ADAM, "learning_rate": 5e-4, "warmup": 500})
    without = RunSettings.model_validate({**POST_ADAM, "learning_rate": 1e-3, "warmup": 1})
    assert short.is_of(at_500)
    assert not short.is_of(at_500.model_copy(update={"learning_rate": 1e-3}))
    assert not short.is_of(at_500.model_copy(update={"dropout": 0.3}))
    assert failed.is_of(without), "one update of warm-up is none, and the paper does not say at which rate"
    assert failed.is_of(without.model_copy(update={"warmup": 0, "learning_rate": 5e-4}))
