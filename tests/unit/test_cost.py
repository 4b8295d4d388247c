"""The closed forms of a training's cost, against fairseq's own models."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fairseq.data import Dictionary, LanguagePairDataset
from hypothesis import given
from hypothesis import strategies as st

from preln.commands import cost
from preln.config import Execution, PretrainingSettings
from preln.fairseq_plugin import options
from preln.placements import PLACEMENTS
from tests.conftest import PRETRAINING, settings
from tests.models import model_of, options_of


def parameters(arguments: list[str]) -> int:
    return sum(parameter.numel() for parameter in model_of(arguments).parameters())


def entries(binary: Path, dictionary: str) -> int:
    return sum(1 for line in (binary / dictionary).read_text().splitlines() if not line.startswith("madeupword"))


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=200), st.integers(60, 600))
def test_as_many_batches_are_counted_as_fairseq_makes(pairs: list[tuple[int, int]], tokens: int) -> None:
    sources, targets = ([[0] * pair[side] for pair in pairs] for side in (0, 1))
    sizes = [np.array([len(line) for line in lines]) for lines in (sources, targets)]
    dictionary = Dictionary()
    text = LanguagePairDataset(sources, sizes[0], dictionary, targets, sizes[1], dictionary)
    result = text.batch_by_size(
        text.ordered_indices(), max_tokens=tokens, required_batch_size_multiple=cost.BATCH_MULTIPLE
    )
    assert cost.batches(Counter(pairs), tokens) == len(result)


OPTIONS: dict[str, Any] = {"placement": "peri", "norm": "rms", "qk_norm": True}
SHAPE = {"width": 24, "ffn_width": 40}


@pytest.mark.slow
@pytest.mark.parametrize("changes", [*({"placement": name} for name in PLACEMENTS), OPTIONS], ids=str)
def test_a_translations_parameters_are_the_models(changes: dict[str, Any], prepared: Path, tmp_path: Path) -> None:
    run = settings(encoder_layers=2, **SHAPE, **changes)
    known = entries(prepared / "binary", "dict.en.txt")
    assert cost.translation(run, known + 1).parameters == parameters(options_of(run, prepared, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes", [{"placement": "pre", "embedding_norm": False}, {"placement": "sub-ln"}, OPTIONS], ids=str
)
def test_berts_parameters_are_the_models(changes: dict[str, Any], prepared_text: Path, tmp_path: Path) -> None:
    run = PretrainingSettings.model_validate({**PRETRAINING, "layers": 2, **SHAPE, **changes})
    arguments = options.pretraining(run, prepared_text / "binary", tmp_path, (), Execution())
    known = entries(prepared_text / "binary", "dict.txt")
    assert cost.pretraining(run, known + 1).parameters == parameters(arguments)


@given(st.integers(1, 6), st.sampled_from([64, 512]))
def test_twice_the_batch_is_twice_the_tokens_and_more_memory(layers: int, width: int) -> None:
    small, large = (settings(encoder_layers=layers, width=width, batch_tokens=tokens) for tokens in (1024, 2048))
    before, after = cost.translation(small, 10_000), cost.translation(large, 10_000)
    assert after.tokens_per_batch == 2 * before.tokens_per_batch
    assert before.memory < after.memory < 2 * before.memory
