"""The generated English documents and pairs: their relation holds by construction, and a seed says everything."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preln.generated_text.english import SENTENCES, SentencePair, documents, entailments, paraphrases


@pytest.mark.parametrize("task", [paraphrases, entailments])
def test_half_of_the_pairs_hold(task: object) -> None:
    pairs: list[SentencePair] = task(100, 1)  # type: ignore[operator]
    assert sum(pair.holds for pair in pairs) == 50
    assert [pair.holds for pair in pairs] != sorted(pair.holds for pair in pairs)


def words(sentence: str) -> list[str]:
    """The words, whatever their order and case."""
    return sorted(sentence.rstrip(".").lower().split())


def test_a_paraphrase_has_the_words_of_its_sentence_and_another_pair_has_not() -> None:
    for pair in paraphrases(300, 2):
        assert (words(pair.first) == words(pair.second)) == pair.holds
        assert pair.first != pair.second


def test_what_is_entailed_is_the_sentence_without_its_time_and_another_pair_is_not() -> None:
    for pair in entailments(300, 3):
        assert pair.first.startswith(pair.second.rstrip(".")) == pair.holds
        assert len(pair.second.split()) <= len(pair.first.split()) + 4


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_a_seed_says_everything(seed: int) -> None:
    assert paraphrases(6, seed) == paraphrases(6, seed)
    assert entailments(6, seed) == entailments(6, seed)
    assert list(documents(3, seed)) == list(documents(3, seed))


def test_documents_are_sentences_and_their_persons_come_back() -> None:
    found = list(documents(50, 1))
    assert len(found) == 50
    for document in found:
        assert len(document) in SENTENCES
        assert all(sentence[-1] in ".?!" and sentence[0] == sentence[0].upper() for sentence in document)
    starts = [[sentence.split()[0] for sentence in document] for document in found]
    repeats = sum(len(words) - len(set(words)) for words in starts) / sum(map(len, starts))
    assert repeats > 0.3
