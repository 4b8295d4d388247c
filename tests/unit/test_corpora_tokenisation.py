"""Tokenised lines as Moses's Perl scripts give them, and the way back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.corpora.tokenisation import LinePreparation, detokenise, map_lines


@pytest.mark.parametrize(
    ("language", "raw", "tokenised"),
    [
        ("en", "It's Ann's, isn't it?", "it &apos;s ann &apos;s , isn &apos;t it ?"),
        ("de", 'Er sagte: "Grüß Gott!"', "er sagte : &quot; grüß gott ! &quot;"),
        ("en", "Tea & cake [50%] | more", "tea &amp; cake &#91; 50 % &#93; &#124; more"),
        ("en", "He met Mr. Smith.", "he met mr. smith ."),
        ("en", "They sell cheese, etc.", "they sell cheese , etc ."),
        ("en", "Wait...", "wait ..."),
        ("en", "  two\u00a0 words\t", "two words"),
        ("de", "eins\u2028zwei\u0085drei", "eins zwei drei"),
    ],
)
def test_tokenised_and_lower_cased(language: str, raw: str, tokenised: str) -> None:
    assert LinePreparation(language)(raw) == tokenised


def test_text_that_is_tokenised_keeps_its_words_and_case() -> None:
    as_is = LinePreparation("en", tokenise=False, lowercase=False)
    assert as_is(" It&apos;s  Ann.\u00a0") == "It&apos;s Ann."


@given(st.text(), st.booleans(), st.booleans())
def test_words_are_separated_by_single_spaces(text: str, tokenise: bool, lowercase: bool) -> None:
    line = LinePreparation("de", tokenise=tokenise, lowercase=lowercase)(text)
    assert line == " ".join(line.split())


@pytest.mark.parametrize(
    ("language", "tokenised", "running"),
    [
        ("en", "it &apos;s ann &apos;s , isn &apos;t it ?", "it's ann's, isn't it?"),
        ("de", "er sagte : &quot; grüß gott ! &quot;", 'er sagte: "grüß gott!"'),
        ("en", "tea &amp; cake", "tea & cake"),
    ],
)
def test_detokenised(language: str, tokenised: str, running: str) -> None:
    assert detokenise(tokenised, language) == running


def test_several_processes_give_the_lines_of_one_in_order() -> None:
    lines = [f"Line {number}, isn't it?" for number in range(2500)]
    preparation = LinePreparation("en")
    assert map_lines(preparation, lines, 2, "") == map_lines(preparation, lines, 1, "")


def test_a_language_without_rules_of_its_own_is_tokenised() -> None:
    assert LinePreparation("xyz")("A, b.") == "a , b ."
