"""Tokenised lines as Moses's Perl scripts give them, and the way back, in every script."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.corpora.tokenisation import LinePreparation, detokenise, map_lines


@pytest.mark.parametrize(
    ("language", "raw", "tokenised"),
    [
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


@given(st.text(), st.booleans(), st.booleans())
def test_words_are_separated_by_single_spaces(text: str, tokenise: bool, lowercase: bool) -> None:
    line = LinePreparation("de", tokenise=tokenise, lowercase=lowercase)(text)
    assert line == " ".join(line.split())


@pytest.mark.parametrize(
    ("language", "raw", "tokenised"),
    [
        ("en", "It's Ann's, isn't it?", "it &apos;s ann &apos;s , isn &apos;t it ?"),
        ("de", 'Er sagte: "Grüß Gott!"', "er sagte : &quot; grüß gott ! &quot;"),
    ],
)
def test_tokenised_and_back(language: str, raw: str, tokenised: str) -> None:
    assert LinePreparation(language)(raw) == tokenised
    assert detokenise(tokenised, language) == raw.lower()


def test_several_processes_give_the_lines_of_one_in_order() -> None:
    lines = [f"Line {number}, isn't it?" for number in range(2500)]
    preparation = LinePreparation("en")
    assert map_lines(preparation, lines, 2, "") == map_lines(preparation, lines, 1, "")


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("th", "น้ำอยู่ที่นี่ครับ"),
        ("hi", "नमस्ते, दुनिया।"),
        ("zh", "你好，世界。 再见。"),
        ("kor", "나는 고양이를 좋아한다."),
        ("ta", "வணக்கம், உலகம்."),
        ("uk", "Об'єкт: п'ять."),
        ("ru-Arab", "دا، نيت."),
    ],
)
def test_text_that_moses_does_not_know_stays_as_it_is(language: str, line: str) -> None:
    assert LinePreparation(language, lowercase=False)(line) == line
    assert detokenise(line, language) == line


@pytest.mark.parametrize(
    ("language", "line", "tokenised"),
    [
        ("lt", "Ė́ žodis.", "Ė́ žodis ."),
        ("nl", "De auto's, 's ochtends.", "De auto&apos;s , &apos; s ochtends ."),
        ("fi", "EU:ssa, vaa'an.", "EU:ssa , vaa&apos;an ."),
        ("ca", "El col·legi.", "El col·legi ."),
        ("de", "Schiff\u00adfahrt um 10:30.", "Schiff\u00adfahrt um 10:30 ."),
        ("en", "I don’t eat ผัดไทยน้ำ.", "I don’t eat ผัดไทยน้ำ ."),
        ("fr", "L'été : oui.", "L&apos; été : oui ."),
    ],
)
def test_words_of_ones_own_text_stay_whole(language: str, line: str, tokenised: str) -> None:
    prepared = LinePreparation(language, lowercase=False, whole_words=True)(unicodedata.normalize("NFD", line))
    assert prepared == tokenised
    assert detokenise(prepared, language) == line


LETTERS = {
    "th": "กขคงจน" + "\u0e31\u0e34\u0e38\u0e48\u0e49\u0e33",
    "hi": "कखगनम" + "\u093f\u0940\u094d\u0902\u093c",
    "uk": "абвгґї" + "'\u0301",
    "ru": "абвгдё" + "\u0301²",
    "el": "αβγδές" + "\u0314",
    "fi": "aäokst:" + "'’²",
    "nl": "aëokst'" + "\u0301\u0331",
}


@given(st.sampled_from(sorted(LETTERS)), st.data())
def test_a_line_has_its_words_and_spaces_again(language: str, data: st.DataObject) -> None:
    letters = LETTERS[language]
    word = st.text(letters, min_size=1, max_size=6).filter(lambda word: re.fullmatch(r"[^\W_](.*[^\W_])?", word))
    word = word.filter(lambda word: not re.search("['’:]{2}", word))
    words = data.draw(st.lists(word, min_size=1, max_size=6))
    stops = data.draw(st.lists(st.sampled_from([" ", ", ", "? ", " (", "! ", ") "]), min_size=6, max_size=6))
    line = "".join(word + stop for word, stop in zip(words, stops, strict=False))
    line = data.draw(st.sampled_from([line, unicodedata.normalize("NFD", line)]))

    undone = detokenise(LinePreparation(language, lowercase=False, whole_words=True)(line), language)

    composed = unicodedata.normalize("NFC", line)
    assert re.split(r"[\s,?!()]+", undone.strip(" ,?!()")) == re.split(r"[\s,?!()]+", composed.strip(" ,?!()"))
