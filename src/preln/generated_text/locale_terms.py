"""German and English names and numerals taken from Babel's CLDR data and num2words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from babel import Locale
from babel.dates import get_day_names, get_month_names
from babel.numbers import get_currency_name
from babel.units import format_unit
from num2words import num2words

GERMAN = Locale("de")
ENGLISH = Locale("en")

# Only territories whose German name takes no article: `nach Polen`, `in Polen`, `aus Polen`.
TERRITORY_CODES = (
    *("AR", "AT", "AU", "BE", "BG", "BR", "CA", "CL", "CN", "CU", "CZ", "DE", "DK", "EE"),
    *("EG", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IN", "IS", "IT", "JP", "KE", "LT"),
    *("LU", "LV", "MX", "NO", "NZ", "PE", "PL", "PT", "RO", "RU", "SE", "VN"),
)
LANGUAGE_CODES = (
    *("ar", "cs", "da", "de", "el", "en", "es", "fi", "fr", "hu"),
    *("it", "ja", "ko", "nl", "pl", "pt", "ru", "sv", "tr", "zh"),
)
CURRENCY_CODES = ("CHF", "EUR", "GBP", "JPY", "PLN", "SEK", "USD")

TermPair = tuple[str, str]


def territories() -> Sequence[TermPair]:
    """Names of territories that stand without an article in both languages."""
    return [(GERMAN.territories[code], ENGLISH.territories[code]) for code in TERRITORY_CODES]


def languages() -> Sequence[TermPair]:
    """Names of languages."""
    return [(GERMAN.languages[code], ENGLISH.languages[code]) for code in LANGUAGE_CODES]


def weekdays() -> Sequence[TermPair]:
    """Names of the days of the week, from Monday."""
    german, english = (get_day_names("wide", locale=locale) for locale in (GERMAN, ENGLISH))
    return [(german[day], english[day]) for day in range(7)]


def months() -> Sequence[TermPair]:
    """Names of the months, from January."""
    german, english = (get_month_names("wide", locale=locale) for locale in (GERMAN, ENGLISH))
    return [(german[month], english[month]) for month in range(1, 13)]


def currencies() -> Sequence[TermPair]:
    """Names of currencies, in the plural."""
    return [
        (
            get_currency_name(code, count=2, locale=GERMAN),
            get_currency_name(code, count=2, locale=ENGLISH),
        )
        for code in CURRENCY_CODES
    ]


def unit(name: str) -> TermPair:
    """The plural of the CLDR unit `name` ("length-meter")."""
    german, english = (format_unit(2, name, length="long", locale=at) for at in (GERMAN, ENGLISH))
    return german.removeprefix("2 "), english.removeprefix("2 ")


@cache
def cardinal(number: int) -> TermPair:
    """The cardinal `number` in words."""
    return num2words(number, lang="de"), num2words(number, lang="en")


@cache
def ordinal(number: int) -> TermPair:
    """The ordinal `number` in words; the German one ends in -e, as after `der`."""
    german, english = (num2words(number, lang=lang, to="ordinal") for lang in ("de", "en"))
    return german, english
