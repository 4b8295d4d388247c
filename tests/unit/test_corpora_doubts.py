"""What looks like a mistake in a text: told where it is one, and not where it is none."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preln.corpora import data
from preln.corpora.doubts import FEWEST, of_parts, of_sides

PAIRS = data.pairs()[:4000]
GERMAN, ENGLISH = ([pair[side] for pair in PAIRS] for side in (0, 1))


@given(st.integers(0, 3000), st.integers(FEWEST, 1000))
@settings(max_examples=50)
def test_translations_line_by_line_give_no_warning(start: int, length: int) -> None:
    part = slice(start, start + length)
    assert of_sides(GERMAN[part], ENGLISH[part]) == []


@given(st.integers(3, 2900), st.integers(FEWEST + 10, 1000), st.sampled_from([-3, -2, -1, 1, 2, 3]))
@settings(max_examples=50)
def test_a_shift_of_a_few_lines_is_told_with_its_size(start: int, length: int, shift: int) -> None:
    german = GERMAN[start : start + length]
    english = ENGLISH[start + shift : start + shift + length]
    (warning,) = of_sides(german, english)
    assert "the sides' lines 1 to " in warning
    assert f"go together as line n and line n{-shift:+d} of the target" in warning


def test_a_line_that_is_missing_in_the_middle_is_told_with_where() -> None:
    (warning,) = of_sides(GERMAN, [*ENGLISH[:2100], *ENGLISH[2101:], "At the end."])
    assert "lines 2,001 to 2,500 go together as line n and line n-1 of the target; so it is in 4 of 8 such" in warning


def test_sides_in_another_order_are_told() -> None:
    shuffled = ENGLISH.copy()
    random.Random(1).shuffle(shuffled)
    (warning,) = of_sides(GERMAN, shuffled)
    assert "the sides' lines 1 to 500 do not go together; so it is in 8 of 8 such blocks" in warning


def test_lines_without_a_translation_give_no_warning() -> None:
    english = ["" if number % 3 == 0 else line for number, line in enumerate(ENGLISH)]
    assert of_sides(GERMAN, english) == []


@pytest.mark.parametrize("length", [0, 1, FEWEST - 1])
def test_a_few_lines_say_nothing(length: int) -> None:
    assert of_sides(GERMAN[:length], ENGLISH[1 : length + 1]) == []


def test_lines_that_are_equally_long_say_nothing() -> None:
    pairs = [(f"Satz {number:04}", f"line {number * 7 % 1000:04}") for number in range(1000)]
    assert of_sides([source for source, _ in pairs], [target for _, target in pairs]) == []


def test_two_sides_in_one_language_are_told() -> None:
    assert of_sides(ENGLISH, ENGLISH) == [
        "100% of the sides' words are the same: are both in one language, or the same text?"
    ]
    by_length = [sorted(side, key=len) for side in (ENGLISH[:2000], ENGLISH[2000:])]
    (warning,) = of_sides(*by_length)
    assert "are both in one language" in warning


def test_valid_and_test_of_one_text_are_told() -> None:
    (warning,) = of_parts(set(PAIRS[:300]), set(PAIRS[100:400]))
    common = len(set(PAIRS[:300]) & set(PAIRS[100:400]))
    assert f"valid and test have {common} distinct pairs in common" in warning
    assert of_parts(set(PAIRS[:300]), set(PAIRS[299:600])) == []
    assert of_parts(set(), set()) == []
