"""A translation reads as a person would write it: in each language, its lines come back as they were."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.corpora.tokenisation import LinePreparation
from preln.corpora.typography import as_written, torn_words

LINES = {
    "ca": ["L’home diu «no».", "«Vine a l'«Aida»!», va dir.", "El col·legi és a prop."],
    "cs": ["„Ne,“ řekl.", "Stojí to 500 Kč nebo 20 € za kus.", "Otevřeno 9–17."],
    "de": [
        "„Nein“, sagte er.",
        "Er rief: „Nein!“",
        "Das kostet 5 € pro Stück.",
        "»Ja«, sagte sie.",
        "Bei −5 °C friert es.",
        "Es sind 5 % (50 %) der Stimmen, 10%-ige und 10%ige Lösungen und 3 %.",
    ],
    "de-CH": ["Er sagte: «5% sind ‹viel›.» Ein 5%iger Rest."],
    "el": ["«Όχι», είπε.", "Τι είναι αυτό; Δεν ξέρω.", "Ήρθε· δεν έφυγε."],
    "en": [
        "“No,” she said. “It's the dogs' house.”",
        '"No!" she said. "Never."',
        "See https://www.example.com/a/b?x=1&y=2, and write to anna.b@example.org.",
        "The 1990–2000 and/or the '90s: 5′ and 20 °C… Really?!",
        "It costs $5, US$6, or £7.50 (about €8).",
        "Ask @anna about #tags, C# and my_file.",
        "She read “Aida”'s end at 10:30.",
        "‘Yes’ and 'no'.",
        "James' books on C++ say 'yes' to AT&T.",
        'A 15" screen—and more.',
        "The dogs' and the cats' tails, and the girls' books on 'no'.",
        "This 'yes' was 'his' word, says 'yes' to 5%.",
        "Use /usr/bin/env and/or see: /srv/a for 5 km/h.",
    ],
    "es": ["¿Dijo «no»? ¡Sí!", "—No —dijo “él”—. Sí."],
    "es-MX": ["El 5% dijo “no”."],
    "et": ["„Ei,“ ütles ta.", '"Ei," ütles ta.', "Hind on 5 €."],
    "fi": ["”Ei”, hän sanoi.", "»Ei», hän sanoi.", "EU:n hinta on 5 €.", "Se on 5 %:n luokkaa."],
    "fr": ["Il dit : « Non ! » et part.", "L'« Aida » d'hier, “bien”, coûte 5 € ?", "Voir https://exemple.fr/a ?!"],
    "fr-CA": ["Il dit : « Non! » et part; 5 %? Quoi?!"],
    "fr-CH": ["Il dit: «Non!» et part; 5%? Quoi?!"],
    "ga": ["“Níl,” a dúirt sé.", "D'ól sé é."],
    "hu": ["„Nem” – mondta.", "A »nem« szó 10%-os."],
    "is": ["„Nei,“ sagði hún."],
    "it": ["«No», disse. Un po' di pane e un po' d'acqua.", "L'atto dell'«Aida»."],
    "lt": ["„Ne“, – pasakė jis."],
    "lv": ["“Nē,” viņš teica.", "„Nē”, viņš teica."],
    "nl": ["‘Nee’, zei hij. ’s Avonds niet.", "'s Ochtends en 's avonds is 't koud: zo'n 5 km/h.", "Dat kost €5,-."],
    "pl": ["„Nie” – powiedział. „Tak!”", "„Nie"],
    "pt": ["“Não”, disse ela.", "Custa R$1.000 ou US$20.", "Ele disse: «Sim!»"],
    "ro": ["„Nu”, spuse el. „«Da» e bine.”"],
    "ru": ["«Нет!» — сказал он.", "Он сказал: «Нет „да“ и нет».", "Цена 5 ₽ за км/ч."],
    "sk": ["„Nie,“ povedal."],
    "sl": ["»Ne,« je rekel.", "„Ne,“ je rekel."],
    "sv": ["”Nej”, sa han. Det är ”bra”.", "»Nej», sa han."],
}


@pytest.mark.parametrize(("language", "line"), [(language, line) for language in LINES for line in LINES[language]])
def test_a_line_is_written_as_it_was(language: str, line: str) -> None:
    prepared = LinePreparation(language, lowercase=False, whole_words=True)(line)
    assert as_written(prepared, language) == line


@given(st.sampled_from(sorted(LINES)), st.text(st.sampled_from("aEé1 .,!?'’\"«»„“”‘—–&;:-()/%$€°@#_+…")))
def test_words_and_spaces_between_them_come_back_or_a_warning_says_so(language: str, text: str) -> None:
    as_is, by_moses = (LinePreparation(language, tokenise, False, whole_words=True) for tokenise in (False, True))
    line, read = as_is(text), as_written(by_moses(text), language)

    assert "".join(read.split()) == "".join(line.split())
    assert spaces(read) == spaces(line) or torn_words(by_moses, [text])


def spaces(line: str) -> list[bool]:
    """For each two words, as far as letters and digits go, whether a space is between them."""
    return [" " in between for between in re.split(r"[^\W_]+", line)[1:-1]]


def test_words_that_moses_takes_apart_or_joins_are_told() -> None:
    english = LinePreparation("en", whole_words=True)
    (warning,) = torn_words(english, ["He said so."] * 50 + ["It is 漢字 です in Japanese."])
    assert warning.startswith("en: Moses takes words apart, or joins them, in 2% of the lines, such as 漢字です;")
    (warning,) = torn_words(english, ["Black / white."])
    assert "in 100% of the lines, such as black/white.;" in warning
    assert not torn_words(english, ["It's 10:30, isn't it?"] * 50)
    assert not torn_words(LinePreparation("en", tokenise=False), ["it &apos;s 漢字 です"])
