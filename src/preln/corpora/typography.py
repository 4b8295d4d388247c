"""Running text as a person writes it, from a prepared line.

Moses attaches punctuation, brackets and contractions, but knows few quotation marks, and leaves addresses, fractions
and amounts apart. Here the marks that it does not know are attached first. Scores are of Moses's running text alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from preln.corpora.languages import language_of
from preln.corpora.tokenisation import JOINERS, LETTERS, LinePreparation, detokenise, detokeniser
from preln.libraries import regex

_CHECKED = 1000
"""Lines of a text that are prepared and undone, from all over it."""
_TORN = 0.015
"""Smallest share of lines whose words or spaces are lost for a warning."""

_JOIN: Final = "\ufdd0"
"""Stands where no space is to be. Unicode has no character with this number."""
_WORD: Final = "\ufdd1"
"""Stands beside a mark that Moses is to take for a word."""

_ADDRESS = (
    r"(?<= )(?:(?i:https?|ftp) : / / |www\.)[\w.-]+"
    r"(?: (?:[/_~=#@]|\?(?= \S+ =)|&(?= \S+ =)|%(?= [\dA-F]{2})|:(?= \d)) [\w.,-]*\w| /)*"
)

_RULES: Sequence[tuple[str, str]] = (
    # use /usr/bin, see: /a/b
    (r"(?<= )/(?= (?:usr|etc|var|tmp|opt|home) /)|(?<= [,.;:!?] )(?<! \p{L} : )/(?= )", rf"\g<0>{_JOIN}"),
    # and/or, C:\temp, file_name, anna@example.org
    (r"(?<= )[/\\_](?= )|(?<=[\w.] )@(?= [\w-]+\.\w)", rf"{_JOIN}\g<0>{_JOIN}"),
    (r"(?<= )(?<! [CF] )[@#](?= \w)", rf"\g<0>{_JOIN}"),
    (r"(?<= [CF] )#(?= )|(?<= C )\+(?= \+ )|(?<= C \+ )\+(?= )", rf"{_JOIN}\g<0>"),
    (r"(?<= \p{Lu}{1,2} )&(?= \p{Lu} )", rf"{_JOIN}\g<0>{_JOIN}"),
    # 10%-os, „Spiegel“-Leser; 5,-
    (r"(?<= [%°€$)“”«»\"] )-(?=\p{L})|(?<=\d , )-(?= )", rf"{_JOIN}\g<0>"),
    # 10:30, 1990–2000
    (r"(?<= \d\d? ):(?= [0-5]\d )|(?<=\d )–(?= \d)", rf"{_JOIN}\g<0>{_JOIN}"),
    # +49, −5
    (r"(?<= )(?<!\d )(?<! \p{L} )[+−±](?= \d)", rf"\g<0>{_JOIN}"),
    # 20 °C, 90°, 5′
    (r"(?<= )°(?= [CF]\b)", rf"\g<0>{_JOIN}"),
    (r"(?<=\S )[…°‰′″™®](?= )", rf"{_JOIN}\g<0>"),
    (r"(?<=[?!] )[?!](?= )", rf"{_JOIN}\g<0>"),
    # R$1.000; 5 €
    (r"(?<= (?:[Rr]|A|C|CA|AU|NZ|HK|US|S|NT|MX) )\$(?= \d)", rf"{_JOIN}\g<0>{_JOIN}"),
    (r"(?<= )\p{Sc}(?= (?!\d))", rf"\g<0>{_WORD}"),
)

_BEFORE_QUOTATION = (r"(?<= \p{L}{1,7} )['’](?= [«“„\"‘])", rf"{_JOIN}\g<0>{_JOIN}")

_OF_LANGUAGE: dict[str, Sequence[tuple[str, str]]] = {
    # sacremoses joins each number to the word before it if the line ends in a number.
    "cs": ((r"(?<= )\d+(?= )", rf"\g<0>{_WORD}"),),
    "el": ((r"(?<=\w )·(?= )", rf"{_JOIN}\g<0>"),),
    "en": (
        (r"(?<=[^\w\s] )['’](?= s )|(?<=\w )’(?= (?:[stdm]|re|ve|ll) )", rf"{_JOIN}\g<0>{_JOIN}"),
        (r"(?<= )['’](?= (?:\d0s|em|cause|til|tis|twas) )", rf"\g<0>{_JOIN}"),
        (r"(?<=s )’(?= )", rf"{_JOIN}\g<0>"),
        (r"(?<=\w )—(?= \w)", rf"{_JOIN}\g<0>{_JOIN}"),
    ),
    "es": ((r"(?<=^ )—(?= )|(?<=^ —.*)—(?= \p{Ll})", rf"\g<0>{_JOIN}"), (r"(?<=\S )—(?= [.,;:])", rf"{_JOIN}\g<0>")),
    "de": (
        (r"(?<= )['’](?= (?:s|nen?|ner) )", rf"\g<0>{_JOIN}"),
        (rf"(?<=\d )%{_WORD}?(?= ige?[mnrs]? )", rf"{_JOIN}%{_JOIN}"),
    ),
    "fi": ((rf"(?<=%{_WORD} ):(?= (?:[naä]|i+n|[sl][stl]?[aä]|lle|ksi) )", rf"{_JOIN}\g<0>{_JOIN}"),),
    "it": ((r"(?<= (?:po|mo|be|di|da|fa|va|sta|to|ca) )['’](?= )", rf"{_JOIN}\g<0>"), _BEFORE_QUOTATION),
    "nl": ((r"(?<= )['’](?= [stnkmr] )", rf"\g<0>{_JOIN}"),),
    **dict.fromkeys(("ca", "fr", "ga"), (_BEFORE_QUOTATION,)),
    "fr-CA": ((r"(?<=\S )[;!?](?= )", rf"{_JOIN}\g<0>"),),
    "fr-CH": ((r"(?<=\S )[:;!?%](?= )", rf"{_JOIN}\g<0>"),),
}
"""Rules of a language, or of a region: apostrophes that are no quotation marks, dashes and marks without spaces, the
Greek semicolon."""

_PERCENT = (rf"(?<=\d )%(?= (?!{_JOIN}-))", rf"\g<0>{_WORD}")
_SPACED_PERCENT = frozenset({"ca", "cs", "de", "es", "fi", "lt", "ro", "ru", "sk", "sl", "sv"})
"""Languages that have a space before a per cent sign (CLDR); Moses knows it of French."""
_JOINED_PERCENT = re.compile("de-(CH|LI)|es-(?!EA|GQ|IC|PH)")
"""Regions that have none (CLDR): Switzerland, Liechtenstein and America."""

_NO_POSSESSORS = frozenset({"as", "does", "has", "his", "is", "its", "says", "this", "thus", "us", "was"})
"""Words in s that have no apostrophe behind them, but a quotation."""

_CLOSING = {
    **{"„": '”“"', "‚": "’‘", "“": "”", "‘": "’", "«": "»", "‹": "›"},
    **{"»": "«»", "›": "‹›", "”": "”", "’": "’", '"': '"', "'": "'"},
}
"""The marks that close a quotation, by the one that opens it, in any language."""
_OPENS = frozenset("„‚“‘«‹")
_BEFORE = re.compile(r"[(\[{¿¡]")
_AFTER = re.compile(r"[.,;:!?)\]}]")


def as_written(line: str, language: str) -> str:
    """A prepared line as a person would write it; of a language that Moses does not tokenise, the line."""
    known = language_of(language)
    if not known.moses:
        return line
    moses = detokeniser(language)
    text = regex.sub(_ADDRESS, lambda match: match[0].replace(" ", ""), f" {moses.unescape_xml(line)} ")
    is_spaced = known.moses in _SPACED_PERCENT and not _JOINED_PERCENT.match(known.tag)
    of_language = chain.from_iterable(_OF_LANGUAGE.get(code, ()) for code in dict.fromkeys((known.moses, known.tag)))
    for pattern, replacement in (*_RULES, *((_PERCENT,) if is_spaced else ()), *of_language):
        text = regex.sub(pattern, replacement, text)
    # French has spaces inside of its guillemets, except in Switzerland.
    spaced = "«»‹›" if known.moses == "fr" and known.tag != "fr-CH" else ""
    text = moses.detokenize(_quotations(text.split(), spaced), unescape=False)
    return re.sub(f" ?{_JOIN} ?", "", text).replace(_WORD, "").strip()


def torn_words(preparation: LinePreparation, lines: Sequence[str]) -> list[str]:
    """A warning if, in many lines that are prepared and undone, words are others in the text that is scored, or words
    or the spaces between them in the text that a person reads.

    Scores hardly depend on spaces beside marks, which sacreBLEU separates from words.
    """
    if not preparation.is_by_moses:
        return []
    language = preparation.language
    sample = lines[:: max(1, len(lines) // _CHECKED)]
    torn = []
    for line in sample:
        as_is, prepared = replace(preparation, tokenise=False)(line), preparation(line)
        scored, read = detokenise(prepared, language), as_written(prepared, language)
        words = _words(as_is)
        if _words(read) != words or [word for word, _ in _words(scored)] != [word for word, _ in words]:
            torn.append((as_is.split(), read.split()))
    if len(torn) < _TORN * max(1, len(sample)):
        return []
    # Apart, the word is longer before; joined, it is so after.
    changed = (next((word for word in first if word not in second), "") for first, second in (torn[0], torn[0][::-1]))
    example = max(changed, key=len) or " ".join(torn[0][0])
    return [
        f"{language}: Moses takes words apart, or joins them, in {len(torn) / len(sample):.0%} of the lines, such as "
        f"{example[:60]}; with `tokenise: false`, SentencePiece alone reads them as they are, but BLEU then has words "
        "with their marks (sacreBLEU's separates them)"
    ]


def _words(line: str) -> list[tuple[str, bool]]:
    """The words of running text, and for each whether a space is before it."""
    words = regex.findall(rf"([^{LETTERS}]*)([{LETTERS}]+(?:[{JOINERS}]+[{LETTERS}]+)*)", line)
    return [(word, " " in gap) for gap, word in words]


def _quotations(tokens: list[str], spaced: str) -> list[str]:
    """The tokens, with the quotation marks joined to what they enclose, except for those that are `spaced`."""
    possessive = [
        place
        for place, (word, mark, after) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False), start=1)
        if mark == "'" and word.endswith("s") and word.lower() not in _NO_POSSESSORS and after[0].isalnum()
    ]
    # The last opens a quotation if one is closed after it.
    if possessive and not tokens[possessive[-1] :].count("'") % 2:
        possessive.pop()
    joined, opened = list(tokens), list[str]()
    for place, mark in enumerate(tokens):
        if mark not in _CLOSING or mark in spaced:
            continue
        closes = bool(opened) and mark in _CLOSING[opened[-1]]
        if closes:
            opened.pop()
        elif place not in possessive and _is_opening(tokens, place):
            opened.append(mark)
        else:
            closes = True
        joined[place] = f"{_JOIN}{mark}" if closes else f"{mark}{_JOIN}"
    return joined


def _is_opening(tokens: Sequence[str], place: int) -> bool:
    """Tell whether a quotation mark, which closes none that is open, opens one: by the marks around it, or by one
    behind it that closes it."""
    mark = tokens[place]
    if not place or _BEFORE.fullmatch(tokens[place - 1]):
        return True
    if place + 1 == len(tokens) or _AFTER.fullmatch(tokens[place + 1]):
        return False
    if mark in _OPENS or any(token in _CLOSING[mark] for token in tokens[place + 1 :]):
        return True
    return mark == '"' and not tokens[place - 1][-1].isdigit()
