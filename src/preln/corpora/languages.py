"""A language by any of its codes: how its text is tokenised, lower-cased and scored.

Codes are those of ISO 639 in two or three letters, with a script or a region where one is given (BCP 47, also with
underscores, as in FLORES): `zho`, `zh-CN`, `pt-BR`, `eng_Latn`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import langcodes

# Without those that Moses has abbreviations for but tears apart: it takes most marks of other scripts for punctuation.
MOSES = {
    **{"ca": "Catalan", "cs": "Czech", "nl": "Dutch", "en": "English", "et": "Estonian", "fi": "Finnish"},
    **{"fr": "French", "de": "German", "el": "Greek", "hu": "Hungarian", "is": "Icelandic", "ga": "Irish"},
    **{"it": "Italian", "lv": "Latvian", "lt": "Lithuanian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian"},
    **{"ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "es": "Spanish", "sv": "Swedish", "tdt": "Tetum"},
}
"""The languages whose abbreviations Moses knows and whose words it keeps, all in alphabets of letters."""

_ALPHABETS = frozenset({"Latn", "Grek", "Cyrl"})

_UNSPACED = {
    **dict.fromkeys(("Hani", "Hans", "Hant", "Hanb", "Bopo"), "zh"),
    **dict.fromkeys(("Jpan", "Hira", "Kana", "Hrkt", "Kore", "Yiii", "Tibt"), "char"),
    **dict.fromkeys(("Thai", "Laoo", "Khmr", "Mymr", "Lana", "Tale", "Talu", "Tavt", "Java", "Bali"), "char"),
}
"""sacreBLEU's tokenisers for scripts that do not separate words, or, as in Korean, words and their endings. Those for
Japanese and Korean words need dictionaries, which not every machine has, so scores would depend on the machine."""

UNSPACED_LETTERS = "".join(
    rf"\p{{{script}}}" for script in sorted({*_UNSPACED, "Hang"} - {"Hans", "Hant", "Hanb", "Jpan", "Hrkt", "Kore"})
)
"""The letters of these scripts, for a set in a regular expression."""

_NO_LANGUAGES = frozenset({"und", "mul", "mis", "zxx"})
"""Codes for unknown, several, other and no languages."""

_DOTLESS_I = frozenset({"tr", "az", "crh", "gag"})
"""Turkish, Azerbaijani, Crimean Tatar and Gagauz, which have an I without a dot."""

_DOTLESS = str.maketrans({"I": "ı", "İ": "i"})


@dataclass(frozen=True)
class Language:
    """A language and its script.

    Attributes:
        tag: its shortest standard code, such as `nl` or `pt-PT`. A likely script or region is left out (CLDR), so that
            `zho`, `zh-CN` and `cmn_Hans` are `zh`.
        moses: the code by which Moses tokenises it; None if words are left as they are, for SentencePiece alone.
        bleu_tokeniser: sacreBLEU's tokeniser for running text.
    """

    tag: str
    moses: str | None
    bleu_tokeniser: str

    def lower(self, line: str) -> str:
        """Lower-case a line; in Turkish and its kin, I becomes ı and İ becomes i."""
        return (line.translate(_DOTLESS) if self.tag.split("-")[0] in _DOTLESS_I else line).lower()


@cache
def language_of(code: str) -> Language:
    """The language that a code names.

    Raises:
        ValueError: if it names none.
    """
    # Importing langcodes takes a quarter of a second.
    import langcodes

    if not langcodes.tag_is_valid(code) or re.split("[-_]", code.lower())[0] in _NO_LANGUAGES:
        raise ValueError(f"{code} names no language; give a code of ISO 639, such as nl, deu, pt-BR or eng_Latn")
    # CLDR writes Korean in Hangul and Han together, and FLORES names Hangul.
    tag = langcodes.standardize_tag(code, macro=True).replace("-Hang", "-Kore")
    # CLDR has Norwegian without more as Bokmål, and `no` is false in YAML.
    tag = re.sub(r"^no\b", "nb", tag)
    full = _with_likely_subtags(langcodes.Language.get(tag))
    for subtags in ({}, {"territory": full.territory}, {"script": full.script}):
        shorter = langcodes.Language.make(full.language, **subtags)
        if _with_likely_subtags(shorter) == full:
            tag = shorter.to_tag()
            break
    moses = full.language if full.language in MOSES and full.script in _ALPHABETS else None
    return Language(tag, moses, _UNSPACED.get(full.script or "", "13a"))


def _with_likely_subtags(language: langcodes.Language) -> langcodes.Language:
    """A language with its likely script and region: those of its macrolanguage, as of Chinese for Min Dong, if CLDR
    has none of its own."""
    from langcodes import Language
    from langcodes.data_dicts import LIKELY_SUBTAGS, MACROLANGUAGES

    macrolanguage = MACROLANGUAGES.get(language.language or "")
    if macrolanguage is None or language.language in LIKELY_SUBTAGS:
        return language.maximize()
    full = Language.make(macrolanguage, script=language.script, territory=language.territory).maximize()
    return Language.make(language.language, script=full.script, territory=full.territory, variants=language.variants)
