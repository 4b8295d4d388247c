"""Likely mistakes in a text, which are reported as warnings and change nothing.

A sentence and its translation are about equally long (Gale and Church, 1993): over some hundred lines of German and
English, the logarithms of the sides' lengths in characters have a correlation of about 0.95, and of 0.1 if one side is
shifted by a line or in another order.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, TypeVar

from preln.corpora.languages import UNSPACED_LETTERS, language_of
from preln.libraries import np, regex

if TYPE_CHECKING:
    import numpy.typing as npt

BLOCK = 500
"""Lines that are judged together: a text is cut into blocks of this length, or up to twice as long."""
FEWEST = 100
"""Smallest number of lines with two non-empty sides for a meaningful correlation."""
FARTHEST = 3
"""Largest line offset to try, in both directions."""
RELATED = 0.3
"""Smallest correlation of sides that are translations line by line."""
SURER = 0.3
"""Smallest gain in correlation for a shift to be reported."""
SPREAD = 0.1
"""Smallest standard deviation of the logarithms for a meaningful correlation."""

LOOKED_AT = 10_000
"""Lines whose words are counted, from all over the text."""
FEWEST_WORDS = 200
"""Smallest number of words in each side for a judgement."""
COMMON = 0.5
"""Smallest share of common words for which the sides count as one language: German and English share about 0.1, and two
halves of a text 0.6 to 0.9."""

OVERLAP = 0.5
"""Smallest share of the smaller of valid and test that is common to both for a warning."""

WRONG_LINES = 0.005
"""Smallest share of lines with wrong characters for a warning."""
NO_SENTENCES = 0.5
"""Smallest share of lines of a kind that a text of sentences does not have."""
EVERY_LINE = 0.9
"""Smallest share of lines that have a word in one place, for it to be none of the sentences."""
FEW_DISTINCT = 0.05
"""Largest share of distinct lines in a column of labels."""
BY_CHARACTERS, BY_WORDS = 0.1, 0.5
"""Smallest share of letters in scripts without spaces between words where BLEU is by characters, and largest one where
it is by words: a Chinese text may have many Latin names."""
LONGEST_WORDS = 15
"""Largest mean of a word's letters: words are longer if signs other than spaces separate them."""
SWAPPED = 0.01
"""Smallest share of pairs with their sides swapped for a warning."""
SURE = 10
"""Smallest logarithm of how much likelier a pair is with its sides swapped: by chance, one in e to the tenth."""
COPIES = 0.01
"""Smallest share of pairs with the same sentence on both sides for a warning: a translation model learns to copy from
few (Khayrallah and Koehn, 2018)."""
SENTENCE = 15
"""Smallest number of letters of such a sentence: names and titles are often the same."""

# Vowel signs are no letters, and part of a word.
_WORD = r"\p{L}[\p{L}\p{M}]*"
_ENTITY = re.compile(
    r"&(?:#\d+|#[xX][\da-fA-F]+|[a-zA-Z]+\d*);|& ?(?:amp|quot|apos|lt|gt|nbsp) ;"
    r"""|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\["']|\\[nrt](?!\w)"""
)
_MOSES_ESCAPES = frozenset(("&amp;", "&lt;", "&gt;", "&apos;", "&quot;", "&#124;", "&#91;", "&#93;"))
_ESCAPED_TWICE = re.compile(r"&amp; ?(?:# ?x?[\da-fA-F]+|amp|quot|apos|lt|gt|nbsp) ?;")
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z\d]*(?:\s[^<>]*)?/?>")
_PIECE = re.compile(r"\w@@(?:\s|$)|(?:^|\s)▁\w|\s##\w")
_LOST = re.compile(r"[^\W\d_A-Z]\?[^\W\d_A-Z]|\?\?+[\s,]+\?\?+|\?{8,}")
# Text read in a wrong encoding. Central European as Western: signs between letters. Cyrillic or Greek as Western: only
# accented letters. Cyrillic or Greek in another Cyrillic encoding: capitals after a small letter. Western as Cyrillic:
# one such letter between Latin ones. From a Macintosh or DOS: capitals or quotation marks.
_SIGN = "[¡£¥¦©ª«¬®¯±³µ¶¹º»¼¾¿]"
_MISREAD = (
    rf"\p{{L}}(?:\p{{L}}{_SIGN}\p{{L}}|{_SIGN}\p{{L}}{{2}})|[À-ÖØ-öø-ÿ]{{4}}"
    r"|(?=\p{Cyrillic}{3})\p{Ll}\p{Lu}{2}|[а-я][ЬЭЮЯ][а-я]"
    r"|[A-Za-z]\p{Cyrillic}{1,2}[A-Za-z]|[a-z]{2}[À-ÖØ-Þ][a-z]|[a-z][„‚†‡‰‹][a-z]"
)
# Letters for letters: words and endings of Croatian read as Western, and of French, Portuguese and Italian as Central
# European; then letters that no language has together, of Hungarian, Turkish and Baltic, Czech and Slovene read as
# Western, and of Spanish, Nordic, Icelandic and Czech as Central European.
_MISTAKEN = (
    r"(?i)\bæe\b|\p{L}iæ\b|\bŕ\b|ăo\b|çő|\bč (?![\d.])|(?-i:^(?:"
    + "|".join(
        # Not in a name, which may be of another language.
        rf"(?=.*{first}).*\b(?=\p{{Ll}})\p{{L}}*{second}"
        for first, second in (
            *(("õ", "û"), ("[ðþ]", "[çüëàèûâîï]"), (r"(?:\bè\p{L}|\p{L}ì\p{L})", "[šž]")),
            *(("ń", "[íú¿¡]"), ("ĺ", "[ćřö]"), ("ţ", "[đý]"), ("ľ", "[ěř]")),
        )
    )
    + "))"
)
_ADDRESS = re.compile(r"\w+://|www\.")
_LABEL = re.compile(r"[!-~]*[\d_/@#:][!-~]*")
_NUMBER = re.compile(r"\W*\d+\W*")

Pairs = Sequence[tuple[str, str]]
T = TypeVar("T")


def of_sides(source: Sequence[str], target: Sequence[str]) -> list[str]:
    """Warnings if the sides of a text seem to be in different orders, in one language, or in part the same."""
    same = _of_languages(source, target) or _of_copies(source, target)
    return [doubt for doubt in (_of_order(source, target), same) if doubt]


def of_parts(valid: Collection[tuple[str, str]], test: Collection[tuple[str, str]]) -> list[str]:
    """A warning if valid and test, as distinct pairs, seem to be one text."""
    common = len(set(valid) & set(test))
    if not common or common < OVERLAP * min(len(valid), len(test)):
        return []
    return [
        f"valid and test have {common:,} distinct pairs in common, of {len(valid):,} and {len(test):,}: scores of test "
        "say what those of valid say; give another text for one of them"
    ]


def are_labels(lines: Sequence[str]) -> bool:
    """Tell whether most of the lines with text are numbers, times, addresses or labels, and not sentences."""
    lines = [line.strip() for line in lines if line.strip()]
    labels = sum(_LABEL.fullmatch(line) is not None or not regex.search(_WORD, line) for line in lines)
    return labels >= NO_SENTENCES * len(lines)


def are_repeated(lines: Sequence[str]) -> bool:
    """Tell whether the lines with text are few, again and again, as the language or the domain of each pair is."""
    lines = [line.strip() for line in lines if line.strip()]
    return len(set(lines)) < FEW_DISTINCT * len(lines)


def _of_column(lines: Sequence[str]) -> str | None:
    lines = [line.strip() for line in lines if line.strip()]
    total = len(lines)
    if total < FEWEST:
        return None
    if are_labels(lines):
        return f"most lines are numbers or labels, such as {lines[0][:40]!r}: is it a column of sentences?"
    if are_repeated(lines):
        return f"of {total:,} lines, {len(set(lines)):,} are distinct: is it a column of sentences?"
    if (tabs := sum("\t" in line for line in lines)) > NO_SENTENCES * total:
        return f"{tabs / total:.0%} of the lines have a tab: is it a table? `preln init` makes two text files of one"
    if sum(line[0] == line[-1] == '"' for line in lines) > EVERY_LINE * total:
        return 'most lines are between "; leave these out if they are of a table and none of the text'
    for place, end in (("begin", 0), ("end", -1)):
        words = [line.split()[end] for line in lines]
        if (numbers := sum(_NUMBER.fullmatch(word) is not None for word in words)) > NO_SENTENCES * total:
            return f"{numbers / total:.0%} of the lines {place} with a number; leave it out if it is none of the text"
        word, count = Counter(words).most_common(1)[0]
        # Sentences may often begin with one word.
        if count > EVERY_LINE * total and regex.search(_WORD, word) and (end or not regex.fullmatch(_WORD, word)):
            return (
                f"{count / total:.0%} of the lines {place} with {word[:40]!r}; leave it out if it is none of the text"
            )
    return None


def of_side(lines: Sequence[str], tokenise: bool) -> list[str]:
    """Warnings if a side, which Moses is to `tokenise` or not, seems not to be of sentences, or is escaped, or was read
    in a wrong encoding."""
    lines = _sample(lines)
    doubts = (_of_column(lines), _of_escapes(lines, tokenise), _of_markup(lines), _of_encoding(lines))
    return [doubt for doubt in doubts if doubt]


def of_words(lines: Sequence[str], language: str) -> list[str]:
    """A warning if BLEU of the language counts words between spaces and the text has none, or BLEU counts characters
    and the text has words."""
    text = " ".join(_sample(lines))
    if not (letters := len(regex.findall(r"\p{L}", text))):
        return []
    words = len(text.split())
    unspaced = len(regex.findall(rf"(?V1)[\p{{L}}&&[{UNSPACED_LETTERS}]]", text)) / letters
    advice = "give the language of this side, with its script if it is not the usual one, such as ja_Latn"
    if language_of(language).bleu_tokeniser != "13a":
        if unspaced >= BY_CHARACTERS:
            return []
        return [f"BLEU of {language} counts characters, and the text has words between spaces; {advice}"]
    if unspaced <= BY_WORDS and letters <= LONGEST_WORDS * words:
        return []
    return [
        f"BLEU of {language} counts words between spaces, and the text has {letters / words:.0f} letters between two, "
        f"{unspaced:.0%} of them in scripts without such spaces; {advice}, or separate the words"
    ]


def _share(wrong: Sequence[object], lines: Sequence[str]) -> str | None:
    """The share of the lines in which something wrong is found, if it is worth a warning."""
    if not wrong or len(wrong) < WRONG_LINES * len(lines):
        return None
    return f"{len(wrong) / len(lines):.1%} of the lines"


def _matches(pattern: re.Pattern[str], lines: Sequence[str]) -> list[str]:
    return [match[0] for line in lines if (match := pattern.search(line))]


def _of_escapes(lines: Sequence[str], tokenise: bool) -> str | None:
    twice = _matches(_ESCAPED_TWICE, lines)
    right = frozenset() if tokenise else _MOSES_ESCAPES
    escaped = [
        entities
        for line in lines
        if (entities := (set(_ENTITY.findall(line)) - right) | set(_ESCAPED_TWICE.findall(line)))
    ]
    if not (share := _share(escaped, lines)):
        return None
    kinds = Counter(chain.from_iterable(escaped))
    entity = kinds.most_common(1)[0][0]
    advice = f"write {html.unescape(entity.replace(' ', ''))!r} in the text"
    if entity.startswith("\\"):
        advice = "undo them, as a reader of JSON does"
    elif _share(twice, lines):
        advice = f"undo them until none is left, for {twice[0]} is escaped twice"
    elif kinds.keys() <= _MOSES_ESCAPES:
        advice += ", or give tokenise: false if Moses has tokenised it already"
    return f"{share} have escapes such as {entity}, which are read as text; {advice}"


def _of_markup(lines: Sequence[str]) -> str | None:
    tags, pieces = _matches(_TAG, lines), _matches(_PIECE, lines)
    if share := _share(tags, lines):
        return f"{share} have markup such as {tags[0][:40]}, which is read as text; leave it out"
    if share := _share(pieces, lines):
        piece = pieces[0].strip()
        return f"{share} have words in pieces, such as {piece}; join them: SentencePiece cuts words itself"
    return None


def _of_encoding(lines: Sequence[str]) -> str | None:
    from ftfy.badness import is_bad

    bad = [
        line
        for line in lines
        if "\ufffd" in line or is_bad(line) or regex.search(_MISREAD, line) or regex.search(_MISTAKEN, line)
    ]
    if share := _share(bad, lines):
        return (
            f"{share} seem to have been read in a wrong encoding, such as {bad[0].strip()[:60]!r}; convert the text "
            "from its own encoding, or mend it with ftfy"
        )
    lost = [line for line in lines if _LOST.search(line) and not _ADDRESS.search(line)]
    if share := _share(lost, lines):
        return (
            f"{share} seem to have question marks in place of letters, such as {lost[0].strip()[:60]!r}: a conversion "
            "has lost them; convert the text anew"
        )
    return None


def of_swap(train: Pairs, part: Pairs) -> str | None:
    """A warning if pairs of a part, or of train itself, have their source in the language of train's target, and their
    target in that of its source; a few pairs tell."""
    # Pairs of characters in a row tell a language in every script.
    source, target = (
        Counter(key for pair in _sample(train) for key in pairwise(pair[side].lower())) for side in (0, 1)
    )
    balance = math.log((target.total() or 1) / (source.total() or 1))
    likelihoods = {key: math.log((source[key] + 0.5) / (target[key] + 0.5)) + balance for key in source | target}

    def as_source(line: str) -> float:
        return sum(likelihoods.get(key, 0) for key in pairwise(line.lower()))

    pairs = _sample(part)
    swapped = [pair for pair in pairs if as_source(pair[1]) - as_source(pair[0]) > SURE]
    if not swapped or len(swapped) < SWAPPED * len(pairs):
        return None
    return (
        f"the sides of {len(swapped) / len(pairs):.0%} of the pairs seem to be swapped, as of {swapped[0][0][:60]!r}: "
        "their source is like train's target, and their target like train's source"
    )


def _sample(lines: Sequence[T]) -> Sequence[T]:
    """At most some `LOOKED_AT` lines from all over a text."""
    return lines[:: max(1, len(lines) // LOOKED_AT)]


def _of_order(source: Sequence[str], target: Sequence[str]) -> str | None:
    source_lengths, target_lengths = (np.log1p([len(line.strip()) for line in side]) for side in (source, target))
    blocks = np.array_split(np.arange(len(source_lengths)), max(1, len(source_lengths) // BLOCK))
    shifts = [
        (block[0], len(block), _shift(source_lengths[block], target_lengths[block])) for block in blocks if len(block)
    ]
    if not (wrong := [(first, length, shift) for first, length, shift in shifts if shift != 0]):
        return None
    first, length, shift = wrong[0]
    relation = "do not go together" if shift is None else f"go together as line n and line n{shift:+d} of the target"
    return (
        f"by their lengths, the sides' lines {first + 1:,} to {first + length:,} {relation}; so it is in "
        f"{len(wrong):,} of {len(shifts):,} such blocks: see that line n of the target is the translation of line n of "
        "the source"
    )


def _shift(source: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> int | None:
    """The number of lines by which translations follow their sentences; 0 if the block is too small to judge, and None
    if no offset fits."""
    correlations = {shift: _correlation(source, target, shift) for shift in range(-FARTHEST, FARTHEST + 1)}
    if np.isnan(correlations[0]):
        return 0
    best = max(correlations, key=lambda shift: -1 if np.isnan(correlations[shift]) else correlations[shift])
    if correlations[best] > max(correlations[0], RELATED) + SURER:
        return best
    return 0 if correlations[0] >= RELATED else None


def _correlation(source: npt.NDArray[np.float64], target: npt.NDArray[np.float64], shift: int) -> float:
    """The correlation of the lengths if translations follow `shift` lines later; NaN if the block is too small."""
    lines = len(source) - abs(shift)
    source, target = source[max(0, -shift) :][:lines], target[max(0, shift) :][:lines]
    used = (source > 0) & (target > 0)
    if used.sum() < FEWEST - abs(shift) or min(source[used].std(), target[used].std()) < SPREAD:
        return float("nan")
    return float(np.corrcoef(source[used], target[used])[0, 1])


def _of_languages(source: Sequence[str], target: Sequence[str]) -> str | None:
    source_words, target_words = (
        Counter(word for line in _sample(side) for word in regex.findall(_WORD, line.lower()))
        for side in (source, target)
    )
    totals = source_words.total(), target_words.total()
    if min(totals) < FEWEST_WORDS:
        return None
    common = sum(min(count / totals[0], target_words[word] / totals[1]) for word, count in source_words.items())
    if common < COMMON:
        return None
    return f"{common:.0%} of the sides' words are the same: are both in one language, or the same text?"


def _of_copies(source: Sequence[str], target: Sequence[str]) -> str | None:
    copies = [
        line
        for line, other in zip(source, target, strict=True)
        if line.strip() == other.strip() and len(regex.findall(r"\p{L}", line)) >= SENTENCE
    ]
    if not copies or len(copies) < COPIES * len(source):
        return None
    return (
        f"{len(copies) / len(source):.0%} of the pairs are a sentence twice, such as {copies[0].strip()[:60]!r}: "
        "leave out what is not translated"
    )
