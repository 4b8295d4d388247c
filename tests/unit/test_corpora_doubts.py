"""A likely mistake in a text is told where it is one, and not where it is none."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preln.corpora import data
from preln.corpora.doubts import FEWEST, of_parts, of_side, of_sides, of_swap, of_words
from preln.corpora.near import of_leak

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


@pytest.mark.parametrize(
    ("german", "english", "told"),
    [
        (
            GERMAN,
            [*ENGLISH[:2100], *ENGLISH[2101:], "At the end."],
            "lines 2,001 to 2,500 go together as line n and line n-1 of the target; so it is in 4 of 8 such",
        ),
        (
            GERMAN,
            random.Random(1).sample(ENGLISH, len(ENGLISH)),
            "the sides' lines 1 to 500 do not go together; so it is in 8 of 8 such blocks",
        ),
        (sorted(ENGLISH[:2000], key=len), sorted(ENGLISH[2000:], key=len), "are both in one language"),
        (
            [line if number % 20 else ENGLISH[number] for number, line in enumerate(GERMAN)],
            ENGLISH,
            "5% of the pairs are a sentence twice, such as ",
        ),
    ],
    ids=["a line is missing in the middle", "in another order", "in one language", "not translated"],
)
def test_sides_that_are_no_translations_are_told(german: list[str], english: list[str], told: str) -> None:
    (warning,) = of_sides(german, english)
    assert told in warning


@pytest.mark.parametrize(
    ("german", "english"),
    [
        (GERMAN, ["" if number % 3 == 0 else line for number, line in enumerate(ENGLISH)]),
        (GERMAN[: FEWEST - 1], ENGLISH[1:FEWEST]),
        ([f"Satz {n:04}" for n in range(1000)], [f"line {n * 7 % 1000:04}" for n in range(1000)]),
    ],
    ids=["some without a translation", "few", "equally long"],
)
def test_lines_of_which_the_lengths_say_nothing_give_no_warning(german: list[str], english: list[str]) -> None:
    assert of_sides(german, english) == []


def test_two_languages_that_share_letters_and_vowel_signs_are_none() -> None:
    hindi, marathi = "यह एक नई किताब है और वह पुराना घर था", "हे एक नवीन पुस्तक आहे आणि ते जुने घर होते"
    sides = ([f"{line} {number}" for number in range(200)] for line in (hindi, marathi))
    assert not [doubt for doubt in of_sides(*sides) if "one language" in doubt]


def test_valid_and_test_of_one_text_are_told() -> None:
    (warning,) = of_parts(set(PAIRS[:300]), set(PAIRS[100:400]))
    common = len(set(PAIRS[:300]) & set(PAIRS[100:400]))
    assert f"valid and test have {common} distinct pairs in common" in warning
    assert of_parts(set(PAIRS[:300]), set(PAIRS[299:600])) == []
    assert of_parts(set(), set()) == []


def inside(line: str, word: str) -> str:
    return line.replace(" ", f" {word} ", 1)


@pytest.mark.parametrize("tokenise", [False, True])
def test_a_side_of_sentences_gives_no_warning(tokenise: bool) -> None:
    assert of_side(GERMAN, tokenise) == of_side(ENGLISH, tokenise) == []


@pytest.mark.parametrize(
    "text",
    [
        *("<b", r"C:\new\temp", "https://example.org/a?b"),
        "ВКонтакте США née créée 5 m³ N×M «¿ça?»",
        "A kőműves őszintén gyűlöli az esőt, ŐRSÉG",
        "šest lét, São, où est-il, año, țară, stĺp, ąžuolas čia, na hÉireann",
        *("Þetta er Zürich.", "Dvořák má ľudí rád.", "Almería, państwo.", "Viz č . 5 ."),
    ],
)
def test_foreign_words_a_path_and_an_address_in_sentences_give_no_warning(text: str) -> None:
    assert of_side([inside(line, text) for line in ENGLISH[:1000]], tokenise=True) == []


MISREAD = {
    "de": "für".encode().decode("latin-1"),
    "ru": "мир,".encode().decode("cp1252", "replace"),
    "cs": "přišel jsem".encode("iso8859-2").decode("latin-1"),
    "cs, Windows": "člověk může".encode("cp1250").decode("cp1252"),
    "ru, of KOI8": "Привет, это".encode("koi8-r").decode("cp1251"),
    "ru, as KOI8": "Привет, это".encode("cp1251").decode("koi8-r"),
    "ru, as Western": "Привет, это".encode("cp1251").decode("latin-1"),
    "el": "Καλημέρα, είναι αργά".encode("iso8859-7").decode("cp1251"),
    "hu": "az őszi sűrű eső".encode("iso8859-2").decode("latin-1"),
    "tr": "değil, çünkü şimdi".encode("cp1254").decode("cp1252"),
    "lt": "žmonių ir čia šaltis".encode("cp1257").decode("cp1252"),
    "hr": "već će biti".encode("cp1250").decode("cp1252"),
    "es, as Central European": "año y país".encode("cp1252").decode("cp1250"),
    "fr, as Central European": "il est à Paris".encode("latin-1").decode("iso8859-2"),
    "sv, as Central European": "så är det för".encode("cp1252").decode("cp1250"),
    "is, as Central European": "það er þessi".encode("cp1252").decode("cp1250"),
    "cs, as Central European": "protože věděl".encode("iso8859-2").decode("cp1250"),
    "de, as Cyrillic": "für später".encode("cp1252").decode("cp1251"),
    "en, of a Macintosh": "don’t".encode("mac_roman").decode("cp1252"),
    "de, of DOS": "später".encode("cp850").decode("cp1252"),
}


@pytest.mark.parametrize("text", MISREAD.values(), ids=MISREAD)
def test_a_text_that_was_read_in_a_wrong_encoding_is_told(text: str) -> None:
    (warning,) = of_side([inside(line, text) for line in ENGLISH[:1000]], tokenise=True)
    assert "100.0% of the lines seem to have been read in a wrong encoding" in warning


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda number, line: f"https://a.org/{number}", "most lines are numbers or labels, such as 'https://a.org/0'"),
        (lambda number, line: ["news", "talks", "law"][number % 3], "of 1,000 lines, 3 are distinct"),
        (lambda number, line: f"{line}\tx", "100% of the lines have a tab"),
        (lambda number, line: f"{number}. {line}", "100% of the lines begin with a number"),
        (lambda number, line: f"{line} CC-BY", "100% of the lines end with 'CC-BY'"),
        (lambda number, line: f"00:01:{number % 60:02},500 --> 00:02:00,100", "most lines are numbers or labels"),
        (lambda number, line: f'"{line}"', 'most lines are between "'),
        (lambda number, line: f"<i>{line}</i>", "100.0% of the lines have markup such as <i>"),
        (lambda number, line: line.replace(" ", "@@ ", 1), "of the lines have words in pieces, such as"),
        (lambda number, line: line.replace(" ", " ▁"), "of the lines have words in pieces, such as ▁"),
        (lambda number, line: line.replace(" ", " ##", 1), "of the lines have words in pieces, such as ##"),
        (lambda number, line: inside(line, r"\u00e9t\u00e9"), r"have escapes such as \u00e9, which are read as text"),
        (lambda number, line: inside(line, r"don\'t"), r"escapes such as \', which"),
        (lambda number, line: inside(line, "don & apos ; t"), 'write "\'" in the text'),
        (lambda number, line: inside(line, "&amp;quot;no&amp;quot;"), "for &amp;quot; is escaped twice"),
        (lambda number, line: f"{line} &hellip;" if number % 100 == 0 else line, "1.0% of the lines have escapes"),
        (lambda number, line: line.replace(".", "&#46;"), "of the lines have escapes such as &#46;"),
        (lambda number, line: inside(line, "don&apos;t"), "or give tokenise: false if Moses has tokenised it already"),
        (lambda number, line: f"caf\ufffd {line}" if number % 150 == 0 else line, "0.7% of the lines seem"),
        (lambda number, line: inside(line, "d?j?"), "question marks in place of letters"),
        (lambda number, line: inside(line, "?????? ????"), "question marks in place of letters"),
    ],
)
def test_a_side_of_something_else_gives_one_warning(wrong: Callable[[int, str], str], told: str) -> None:
    (warning,) = of_side([wrong(number, line) for number, line in enumerate(ENGLISH[:1000])], tokenise=True)
    assert told in warning


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("我们在北京见面。", "zh cdo ja", "en ko-Latn"),
        ("우리는 서울에서 만나요.", "ko", "de"),
        ("ဘယ်သွားမလဲ", "my ksw_Mymr", "ksw"),
        ("We meet in Berlin.", "en de ja-Latn", "ja th zh"),
        ("ሰላም፡ለሁላችሁ፡እንዴት፡አላችሁ።", "", "am"),
        ("ሰላም ለሁላችሁ እንዴት አላችሁ።", "am", ""),
        ("在 GitHub 上用 Python 写 TensorFlow 程序。", "zh en", ""),
    ],
)
def test_a_text_whose_words_are_not_those_that_bleu_counts_is_told(text: str, right: str, wrong: str) -> None:
    assert [code for code in [*right.split(), *wrong.split()] if of_words([text] * 9, code)] == wrong.split()


@pytest.mark.slow
def test_the_escapes_of_moses_belong_to_tokenised_text() -> None:
    assert of_side([f"don &apos;t {line}" for line in ENGLISH], tokenise=False) == []
    for twice in ("don &amp;apos;t", "don &amp; apos ; t"):
        (warning,) = of_side([f"{twice} {line}" for line in ENGLISH], tokenise=False)
        assert "100.0% of the lines have escapes" in warning
        assert "is escaped twice" in warning


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", [str, lambda line: line.translate({n: n + 0x4E00 for n in range(97, 123)}).replace(" ", "")]
)
def test_swapped_sides_are_told_in_every_script(script: Callable[[str], str]) -> None:
    pairs = [(script(source.lower()), target) for source, target in PAIRS]
    train, part = pairs[10:], pairs[:10]
    assert of_swap(train, part) is None
    assert "swapped" in str(of_swap(train, [(target, source) for source, target in part]))
    assert not any(of_swap(train, [pair]) for pair in part)
    mixed = [pair if number % 30 else pair[::-1] for number, pair in enumerate(pairs)]
    assert of_swap(pairs, pairs) is None
    assert "the sides of 3% of the pairs seem to be swapped" in str(of_swap(mixed, mixed))


def test_sentences_that_are_in_train_but_for_case_numbers_spaces_and_marks_are_told() -> None:
    train = [(f"{number} {source}", target) for number, (source, target) in enumerate(PAIRS)]
    changed = [source.upper().replace(" ", "  ").rstrip(".") for source, _ in PAIRS[:100]]
    part = [(source, f"nothing of it, {number}") for number, source in enumerate(changed)]
    (told,) = of_leak(train, {"valid": [(target, source) for source, target in PAIRS[:100]], "test": part}).items()
    assert told[0] == "test" and "of 100 pairs have a side that is in train too" in told[1]


@pytest.mark.parametrize("first", [0x4E00, 0x3042, 0xAC00])
def test_short_sentences_of_syllables_are_compared_too(first: int) -> None:
    choice = random.Random(1)
    text = ["".join(chr(first + choice.randrange(80)) for _ in range(12)) for _ in range(600)]
    part = [(sentence, sentence[::-1]) for sentence in text[:100]]
    assert of_leak([(f"{source}!", "-") for source in text], {"test": part})
    assert of_leak([(f"{source[:5]}{source[6:]}", "-") for source in text], {"test": part})
    assert of_leak([(source, source[::-1]) for source in text[100:]], {"test": part}) == {}


def test_sentences_that_are_not_in_train_give_no_warning() -> None:
    assert of_leak([(source[::-1], target[::-1]) for source, target in PAIRS], {"test": PAIRS[:100]}) == {}
    german, english = (
        " ".join(word for line in side[:100] for word in (line[9:], line[:9])) for side in (GERMAN, ENGLISH)
    )
    assert of_leak([(german, english)], {"test": PAIRS[:100]}) == {}
