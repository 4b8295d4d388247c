"""Train, valid and test: disjoint, reproducible, and nothing lost uncounted."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preln.corpora import CorpusError
from preln.corpora.split import divide
from preln.corpora.text import Part

PAIRS = [(f"satz {number}", f"sentence {number}") for number in range(100)]

few_words = st.sampled_from("abcdefghijkl")


@pytest.mark.slow
@settings(max_examples=25)
@given(
    train=st.lists(st.tuples(few_words, few_words), min_size=40),
    valid=st.none() | st.lists(st.tuples(few_words, few_words), min_size=1, max_size=5),
    held_out=st.integers(1, 3),
    seed=st.integers(),
)
def test_parts_are_disjoint_from_train_and_every_pair_is_accounted_for(
    train: list[tuple[str, str]], valid: list[tuple[str, str]] | None, held_out: int, seed: int
) -> None:
    given_parts = {"train": Part(train), **({"valid": Part(valid)} if valid else {})}
    if len(set(train) - set(valid or [])) <= 2 * held_out:
        return
    parts = divide(given_parts, held_out, seed)
    chosen = [parts["test"].pairs] if valid else [parts["valid"].pairs, parts["test"].pairs]
    held = [pair for pairs in chosen for pair in pairs]
    assert len(held) == len(set(held)) == held_out * len(chosen)
    assert set(parts["train"].pairs).isdisjoint([*parts["valid"].pairs, *parts["test"].pairs])
    assert len(parts["train"].pairs) + len(held) + parts["train"].drops["held_out"] == len(train)
    if valid:
        assert parts["valid"].pairs == valid


def test_a_seed_gives_the_same_parts_with_train_in_its_order_and_another_seed_others() -> None:
    parts = divide({"train": Part(PAIRS)}, 10, seed=1)
    assert parts["train"].pairs == sorted(parts["train"].pairs, key=PAIRS.index)
    assert divide({"train": Part(PAIRS)}, 10, seed=1) == parts
    assert divide({"train": Part(PAIRS)}, 10, seed=2)["valid"] != parts["valid"]


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(CorpusError, match=r"100 distinct pairs .* of which 100 are to be held out"):
        divide({"train": Part(PAIRS)}, 50, seed=1)
    with pytest.raises(CorpusError, match="none is left"):
        divide({"train": Part(PAIRS), "valid": Part(PAIRS), "test": Part(PAIRS)}, 1, seed=1)


def test_pairs_too_long_to_be_held_out_are_trained_on() -> None:
    long = [(f"{number} " * 800, f"{number} " * 800) for number in range(10)]
    assert divide({"train": Part(long), "valid": Part(PAIRS), "test": Part(PAIRS)}, 5, seed=1)["train"].pairs == long
    with pytest.raises(CorpusError, match="has 3 distinct pairs of under 1,000 characters a side, of which 5"):
        divide({"train": Part([*long, *PAIRS[:3]]), "valid": Part(PAIRS[3:])}, 5, seed=1)
