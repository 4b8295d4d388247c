"""The record types of the lexicon: what has to be known of a word to inflect and translate it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Case = Literal["nominative", "accusative", "dative"]
Gender = Literal["masculine", "feminine", "neuter"]
Person = Literal["1s", "2s", "3s", "1p", "3p"]
Declension = Literal["definite", "weak", "mixed", "strong", "bare"]
When = Literal["past", "present", "future", "any"]

PERSONS: tuple[Person, ...] = ("1s", "2s", "3s", "1p", "3p")
Forms = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun; an empty `plural` marks a mass noun, `oblique` the weak accusative and dative."""

    german: str
    plural: str
    gender: Gender
    english: str
    english_plural: str = ""
    oblique: str = ""

    @property
    def is_mass(self) -> bool:
        """Whether the noun has no plural and takes no indefinite article."""
        return not self.plural


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective; `stem` is given where endings attach to another form than the predicate's."""

    german: str
    english: str
    comparative: str = ""
    english_comparative: str = ""
    stem: str = ""


@dataclass(frozen=True, slots=True)
class Determiner:
    """A determiner; its declension also decides the endings of an adjective that follows it."""

    stem: str
    declension: Declension
    english: str
    english_plural: str


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb with its complements.

    `second` and `third` are the present forms whose stem vowel changes; `present` and
    `preterite` list all five persons of an irregular verb. `objects` names noun groups,
    `recipient` is the English preposition that the German dative turns into. What is not
    voluntary (`brauchen`, `verlieren`) is neither planned nor wanted.
    """

    infinitive: str
    participle: str
    english: str
    english_past: str
    prefix: str = ""
    second: str = ""
    third: str = ""
    takes_sein: bool = False
    present: Forms | None = None
    preterite: Forms | None = None
    objects: tuple[str, ...] = ()
    preposition: str = ""
    case: Case = "accusative"
    recipient: str = ""
    reflexive: bool = False
    allows_place: bool = True
    is_voluntary: bool = True


@dataclass(frozen=True, slots=True)
class Modal:
    """A German modal (or `werden`) and its English counterpart.

    The counterpart is an auxiliary ("can") or, with do-support, a full verb ("have"), followed
    by `link` ("to", "like to"). `verb_past` is empty where the German form is a present.
    """

    forms: Forms
    auxiliary: str = ""
    verb: str = ""
    verb_past: str = ""
    link: str = ""
    when: When = "any"


@dataclass(frozen=True, slots=True)
class Place:
    """A place noun with the preposition that locates something there in either language."""

    noun: Noun
    location: str
    english_location: str
    direction: str
    direction_case: Case


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A personal pronoun as subject and, where it is unambiguous, as object."""

    person: Person
    nominative: str
    english: str
    accusative: str
    dative: str
    reflexive: str
    english_object: str


@dataclass(frozen=True, slots=True)
class TimeAdverbial:
    """An adverbial of time, and the times of which it can be said."""

    german: str
    english: str
    when: When
