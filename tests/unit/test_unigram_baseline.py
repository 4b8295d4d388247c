"""The unigram baseline is the lowest loss of a model that ignores its input."""

import math
from collections import Counter
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from preln.config import RunSettings
from preln.translation.report.records import known_baseline
from preln.translation.unigram_baseline import of_prepared, unigram_baseline

COUNTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 50), min_size=1)


@given(COUNTS)
def test_without_smoothing_it_is_the_entropy_of_the_text(counts: dict[str, int]) -> None:
    total = sum(counts.values())
    entropy = -sum(count / total * math.log2(count / total) for count in counts.values())
    assert unigram_baseline(counts, counts, 12, 0.0) == pytest.approx(entropy)


def test_without_smoothing_an_entry_that_is_not_in_train_is_possible() -> None:
    loss = unigram_baseline({"a": 5, "</s>": 2}, {"a": 2, "b": 1, "</s>": 1}, 8, 0.0)
    # 7 tokens, and one added for each of 8 entries.
    shares = {"a": 6 / 15, "b": 1 / 15, "</s>": 3 / 15}
    assert loss == pytest.approx(-(2 * math.log2(shares["a"]) + sum(map(math.log2, (shares["b"], shares["</s>"])))) / 4)


@pytest.mark.numbers
def test_no_input_independent_output_has_a_lower_smoothed_loss() -> None:
    counts, vocabulary, smoothing = {"a": 7, "b": 2, "c": 1}, 6, 0.1
    scores = torch.zeros(vocabulary, dtype=torch.float64, requires_grad=True)
    weights = torch.tensor([*counts.values(), 0, 0, 0], dtype=torch.float64) / 10
    smoothed = smoothing / (vocabulary - 1)

    for _ in range(300):
        bits = -torch.log_softmax(scores, 0) / math.log(2)
        loss = (1 - smoothing - smoothed) * (weights * bits).sum() + smoothed * bits.sum()
        (gradient,) = torch.autograd.grad(loss, scores)
        scores = (scores - 2 * gradient).detach().requires_grad_()
    assert unigram_baseline(counts, counts, vocabulary, smoothing) == pytest.approx(loss.item(), abs=1e-6)


def test_it_is_computed_from_the_pieces_of_a_prepared_text(tmp_path: Path) -> None:
    for name, text in {"bpe/train.en": "a b\na\n", "bpe/valid.en": "a\n", "binary/dict.en.txt": "a 2\nb 1\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    train, valid = Counter({"a": 2, "b": 1, "</s>": 2}), Counter({"a": 1, "</s>": 1})
    assert of_prepared(tmp_path, "en", 0.1) == unigram_baseline(train, valid, 6, 0.1)
    (tmp_path / "bpe/train.en").unlink()
    assert of_prepared(tmp_path, "en", 0.1) is None


def test_a_text_of_a_run_before_is_known_by_its_checksum() -> None:
    setting = {"corpus": "c", "placement": "post", "optimizer": "adam", "learning_rate": 1.0, "schedule": "constant"}
    settings = RunSettings.model_validate(setting)
    file = {"sha256": "683e5b3f9a20153a35c0d43dbc43ec1cb7eccd935e2f5b6248692ea0e3d78e0a"}
    corpus = {"settings": {"vocabulary": 10000}, "parts": {"train": {"files": {"train.en": file}}}}
    assert known_baseline(settings, {"corpus": corpus}) == 9.9038
    assert math.isnan(known_baseline(settings.model_copy(update={"label_smoothing": 0.0}), {"corpus": corpus}))
    assert math.isnan(known_baseline(settings, {}))
