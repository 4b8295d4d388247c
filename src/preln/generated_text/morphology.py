"""Inflection: German nouns, determiners, adjectives and verbs, and the English ones they need."""

from __future__ import annotations

from dataclasses import dataclass

from preln.generated_text.entries import (
    PERSONS,
    Adjective,
    Case,
    Declension,
    Determiner,
    Noun,
    Person,
    Verb,
)

Endings = dict[str, dict[Case, str]]

# Keyed by gender in the singular, by "plural" in the plural.
STRONG: Endings = {
    "masculine": {"nominative": "er", "accusative": "en", "dative": "em"},
    "feminine": {"nominative": "e", "accusative": "e", "dative": "er"},
    "neuter": {"nominative": "es", "accusative": "es", "dative": "em"},
    "plural": {"nominative": "e", "accusative": "e", "dative": "en"},
}
WEAK: Endings = {
    "masculine": {"nominative": "e", "accusative": "en", "dative": "en"},
    "feminine": {"nominative": "e", "accusative": "e", "dative": "en"},
    "neuter": {"nominative": "e", "accusative": "e", "dative": "en"},
    "plural": {"nominative": "en", "accusative": "en", "dative": "en"},
}
# After `ein` and `kein` the adjective shows the gender wherever the determiner does not.
MIXED: Endings = {
    **WEAK,
    "masculine": {"nominative": "er", "accusative": "en", "dative": "en"},
    "neuter": {"nominative": "es", "accusative": "es", "dative": "en"},
}
DEFINITE_ARTICLES: Endings = {
    "masculine": {"nominative": "der", "accusative": "den", "dative": "dem"},
    "feminine": {"nominative": "die", "accusative": "die", "dative": "der"},
    "neuter": {"nominative": "das", "accusative": "das", "dative": "dem"},
    "plural": {"nominative": "die", "accusative": "die", "dative": "den"},
}
RELATIVE_PRONOUNS: Endings = {
    **DEFINITE_ARTICLES,
    "plural": {"nominative": "die", "accusative": "die", "dative": "denen"},
}
ADJECTIVE_ENDINGS: dict[Declension, Endings] = {
    "definite": WEAK,
    "weak": WEAK,
    "mixed": MIXED,
    "strong": STRONG,
    "bare": STRONG,
}
CONTRACTIONS = {
    ("an", "dem"): "am",
    ("an", "das"): "ans",
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("von", "dem"): "vom",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
}


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun with its determiner, number and adjective, before case is known."""

    noun: Noun
    determiner: Determiner
    plural: bool = False
    adjective: Adjective | None = None

    @property
    def agreement(self) -> str:
        """The key into the ending tables: the gender, or "plural"."""
        return "plural" if self.plural else self.noun.gender

    def german(self, case: Case) -> str:
        """The German phrase in `case`."""
        words = [german_determiner(self.determiner, self.agreement, case)]
        if self.adjective is not None:
            ending = ADJECTIVE_ENDINGS[self.determiner.declension][self.agreement][case]
            words.append((self.adjective.stem or self.adjective.german) + ending)
        words.append(self._german_noun(case))
        return " ".join(word for word in words if word)

    def _german_noun(self, case: Case) -> str:
        if not self.plural:
            is_oblique = case != "nominative" and self.noun.oblique
            return self.noun.oblique if is_oblique else self.noun.german
        if case == "dative" and not self.noun.plural.endswith(("n", "s")):
            return self.noun.plural + "n"
        return self.noun.plural

    def english(self) -> str:
        """The English phrase."""
        noun = self.noun.english
        if self.plural:
            noun = self.noun.english_plural or noun + "s"
        rest = noun if self.adjective is None else f"{self.adjective.english} {noun}"
        is_uncounted = self.plural or self.noun.is_mass
        article = self.determiner.english_plural if is_uncounted else self.determiner.english
        if article == "a" and rest[0] in "aeiou":
            article = "an"
        return f"{article} {rest}".lstrip()


def german_determiner(determiner: Determiner, agreement: str, case: Case) -> str:
    """The inflected determiner; empty before a bare noun."""
    match determiner.declension:
        case "definite":
            return DEFINITE_ARTICLES[agreement][case]
        case "bare":
            return determiner.stem
        case "mixed" if (agreement, case) in {
            ("masculine", "nominative"),
            ("neuter", "nominative"),
            ("neuter", "accusative"),
        }:
            return determiner.stem
    return determiner.stem + STRONG[agreement][case]


def german_prepositional(preposition: str, phrase: NounPhrase, case: Case) -> str:
    """`preposition` with `phrase`, contracted with the definite article where German does."""
    german = phrase.german(case)
    if phrase.determiner.declension == "definite":
        article, rest = german.split(" ", 1)
        contraction = CONTRACTIONS.get((preposition, article))
        if contraction is not None:
            return f"{contraction} {rest}"
    return f"{preposition} {german}"


def present_form(verb: Verb, person: Person) -> str:
    """The present of `verb` without its separable prefix."""
    if verb.present is not None:
        return verb.present[PERSONS.index(person)]
    stem = verb.infinitive.removesuffix("en")
    if stem == verb.infinitive:
        stem = verb.infinitive.removesuffix("n")
    # A dental stem takes a linking e; a sibilant one swallows the s of -st.
    link = "e" if stem.endswith(("t", "d")) else ""
    match person:
        case "1s":
            return stem + "e"
        case "2s":
            return verb.second or stem + ("t" if stem.endswith(("s", "ß", "z")) else link + "st")
        case "3s":
            return verb.third or stem + link + "t"
    return verb.infinitive


def zu_infinitive(verb: Verb) -> str:
    """The infinitive with `zu`, which a separable prefix encloses (`aufzumachen`)."""
    return f"{verb.prefix}zu{verb.infinitive}" if verb.prefix else f"zu {verb.infinitive}"


def english_present(english: str, person: Person) -> str:
    """The English present of a verb or verb phrase ("get up") for `person`."""
    if english == "be":
        return {"1s": "am", "3s": "is"}.get(person, "are")
    if person != "3s":
        return english
    head, space, rest = english.partition(" ")
    if head == "have":
        head = "has"
    elif head.endswith(("s", "x", "z", "ch", "sh", "o")):
        head += "es"
    elif head.endswith("y") and head[-2] not in "aeiou":
        head = head[:-1] + "ies"
    else:
        head += "s"
    return head + space + rest


def english_past(verb: Verb, person: Person) -> str:
    """The English simple past of `verb` for `person`."""
    if verb.english == "be":
        return "was" if person in ("1s", "3s") else "were"
    return verb.english_past


def counted(noun: Noun, german: str, english: str) -> NounPhrase:
    """The plural of `noun` after a numeral, which does not inflect."""
    return NounPhrase(noun, Determiner(german, "bare", english, english), plural=True)
