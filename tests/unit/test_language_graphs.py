"""The compiled passes of a language model are the eager ones in every placement, or are not used."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from preln.config import validate
from preln.language import model, trainer
from preln.language.runs import expand
from preln.language.trainer import Trainer
from preln.language.training import train_run
from preln.placements import PLACEMENTS
from preln.records import recording
from tests.conftest import language_content, language_settings
from tests.made_up.language import small_text
from tests.trainings import TIMES

pytestmark = pytest.mark.numbers

MODERN = {"norm": "rms", "positions": "rope", "feed_forward": "swiglu", "qk_norm": True, "tied": False}


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Without what the tests before had compiled."""
    torch._dynamo.reset()


@pytest.fixture
def in_double(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In double precision, in which a CPU computes with torch's operations, as a GPU does."""
    monkeypatch.setitem(model.TYPES, "fp32", torch.float64)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def eager(**changes: Any) -> Trainer:
    return Trainer(language_settings(layers=2, dropout=0.1, **changes), small_text())


def compiled(backend: str | Callable[..., Any], **changes: Any) -> Trainer:
    """A trainer with compiled passes, by a backend that calls the operations one by one, for there is no GPU."""
    training = eager(**changes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "GRAPHS", {"backend": backend})
        training.compile()
    return training


def gradients(training: Trainer) -> list[torch.Tensor]:
    training.differentiate(training.batches(1), 1)
    return [weight.grad for weight in training.model.parameters() if weight.grad is not None]


@pytest.mark.slow
@pytest.mark.usefixtures("in_double")
@pytest.mark.parametrize(
    ("backend", "changes"),
    [
        *(pytest.param("eager", {"placement": name}, id=name) for name in PLACEMENTS),
        pytest.param("aot_eager", {"placement": "resi-dual", "accumulate": 2, "clip_norm": 0.1}, id="accumulated"),
        pytest.param("aot_eager", {"placement": "pre", **MODERN}, id="-".join(MODERN)),
    ],
)
def test_one_graph_has_the_gradients_of_the_eager_passes(backend: str, changes: dict[str, Any]) -> None:
    training = compiled(backend, **changes)
    assert training._compiled is not None
    for ours, theirs in zip(gradients(training), gradients(eager(**changes)), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("in_double")
def test_gradients_stay_where_they_are_from_update_to_update() -> None:
    """A graph that added them to new memory each time would write to what was freed."""
    training = compiled("eager", placement="pre")
    places = [gradient.data_ptr() for gradient in gradients(training)]
    training.step(0.01)
    assert [gradient.data_ptr() for gradient in gradients(training)] == places


def doubled(graph: Any, inputs: Any) -> Callable[..., Any]:
    """A compiler whose passes have twice the loss, and so twice the gradient."""
    return lambda *given: [2 * value for value in graph(*given)]


def broken(graph: Any, inputs: Any) -> Callable[..., Any]:
    raise RuntimeError("no such compiler\nand more lines")


@pytest.mark.usefixtures("in_double")
@pytest.mark.parametrize(
    ("backend", "reason"), [(doubled, "they differ from the eager ones by 1"), (broken, "no such compiler")]
)
def test_passes_that_differ_or_do_not_compile_are_not_used_which_a_line_says(
    backend: Callable[..., Any], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    training = compiled(backend)
    (line,) = [entry.getMessage() for entry in caplog.records if entry.levelno == logging.WARNING]
    assert line.startswith("the passes are not recorded as CUDA graphs: ")
    assert reason in line
    assert "\n" not in line
    plain = eager()
    assert [training.update() for _ in range(3)] == [plain.update() for _ in range(3)]


@pytest.mark.slow
def test_a_training_with_graphs_that_cannot_be_had_ends_as_one_without(
    tmp_path: Path, prepared_tokens: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(trainer, "GRAPHS", {"backend": broken})
    study = validate(language_content({}, execution={"gpus": 1, "graphs": True}), "study.yaml")
    (asked,) = expand(study)
    for graphs in (False, True):
        run = replace(asked, execution=asked.execution.model_copy(update={"gpus": 0, "graphs": graphs}))
        train_run(study, run, prepared_tokens, tmp_path / str(graphs))
    eager, compiled = (pd.read_csv(tmp_path / name / "curve.csv").drop(columns=TIMES) for name in ("False", "True"))
    pd.testing.assert_frame_equal(eager, compiled, check_exact=True)
    assert "the training goes on without graphs" in caplog.text
    records = [recording.read(tmp_path / str(graphs) / recording.RUN) for graphs in (False, True)]
    assert [record["attempts"][0]["graphs"] for record in records] == [False, True]
