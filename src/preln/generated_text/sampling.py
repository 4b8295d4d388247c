"""Random phrases and clauses: draws words that fit together by meaning and by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from preln.generated_text import locale_terms
from preln.generated_text.clauses import Clause, Subject, denied
from preln.generated_text.entries import (
    Determiner,
    Modal,
    Noun,
    Person,
    Pronoun,
    TimeAdverbial,
    Verb,
)
from preln.generated_text.modifiers import (
    ADJECTIVES,
    BARE,
    DEFINITE,
    FREQUENCIES,
    INDEFINITE,
    MANY,
    MY,
    NO,
    OUR,
    PRONOUNS,
    SOME,
    SPECIFIC,
    THIS,
    TIMES,
)
from preln.generated_text.morphology import NounPhrase, german_prepositional
from preln.generated_text.nouns import (
    FEMALE_NAMES,
    MALE_NAMES,
    NOUNS,
    OWNED_GROUPS,
    PLACES,
    RELATIVES,
)
from preln.generated_text.verbs import (
    CONTINUING,
    DATIVE,
    DITRANSITIVE,
    FUTURE,
    INTRANSITIVE,
    LERNEN,
    LOCATION,
    MODALS,
    MOTION,
    PAST_MODALS,
    PREPOSITIONAL,
    SPRECHEN,
    TRANSITIVE,
    VERSTEHEN,
)

SMALL_NUMBERS = range(2, 13)
NUMBERS = range(2, 100)
HUNDREDS = range(100, 1000, 100)
THOUSANDS = range(1000, 10000, 1000)

VOLUNTARY = tuple(verb for verb in TRANSITIVE if verb.is_voluntary)
PLACED = tuple(verb for verb in VOLUNTARY if verb.allows_place)

Agent = tuple[Subject, Pronoun | None]


class Sampler:
    """Draws phrases and clauses from the lexicon; every choice comes from one generator."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.territories = locale_terms.territories()
        self.languages = locale_terms.languages()
        self.weekdays = locale_terms.weekdays()
        self.months = locale_terms.months()
        self.currencies = locale_terms.currencies()

    def chance(self, probability: float) -> bool:
        """True with `probability`."""
        return self.rng.random() < probability

    def noun_phrase(self, groups: Sequence[str], *, specific: bool = False) -> NounPhrase:
        """A noun phrase from one of `groups`; `specific` ones have a definite determiner."""
        group = self.rng.choice(groups)
        noun = self.rng.choice(NOUNS[group])
        adjective = self.rng.choice(ADJECTIVES[group]) if self.chance(0.3) else None
        if noun.is_mass:
            determiner = self.rng.choice((DEFINITE, BARE, BARE) if not specific else (DEFINITE,))
            return NounPhrase(noun, determiner, adjective=adjective)
        plural = self.chance(0.3)
        owned = group in OWNED_GROUPS or noun in RELATIVES
        determiner = self.determiner(plural=plural, specific=specific, owned=owned)
        return NounPhrase(noun, determiner, plural, adjective)

    def determiner(self, *, plural: bool, specific: bool, owned: bool) -> Determiner:
        """A determiner for a count noun; only an `owned` one can be mine or ours."""
        if owned and self.chance(0.3):
            return self.rng.choice((MY, OUR))
        if plural:
            if specific:
                return self.rng.choice((DEFINITE, DEFINITE, DEFINITE, THIS))
            if self.chance(0.3):
                german, english = locale_terms.cardinal(self.rng.choice(SMALL_NUMBERS))
                return Determiner(german, "bare", english, english)
            return self.rng.choice((DEFINITE, DEFINITE, BARE, MANY, SOME, THIS))
        if specific:
            return self.rng.choice((DEFINITE, DEFINITE, DEFINITE, THIS))
        return self.rng.choice((DEFINITE, DEFINITE, INDEFINITE, INDEFINITE, THIS))

    def person(self) -> NounPhrase:
        """A specific person or group of persons."""
        return self.noun_phrase(("people",), specific=True)

    def agent(self) -> Agent:
        """A subject that acts, with its pronoun if it is one."""
        draw = self.rng.random()
        if draw < 0.35:
            pronoun = self.rng.choice(PRONOUNS)
            subject = Subject(pronoun.nominative, pronoun.english, pronoun.person, True)
            return subject, pronoun
        if draw < 0.47:
            name = self.rng.choice(MALE_NAMES + FEMALE_NAMES)
            return Subject(name, name, "3s"), None
        if draw < 0.54:
            one, other = self.person(), self.rng.choice(MALE_NAMES + FEMALE_NAMES)
            german = f"{other} und {one.german('nominative')}"
            return Subject(german, f"{other} and {one.english()}", "3p"), None
        return self.subject(self.person()), None

    def subject(self, phrase: NounPhrase) -> Subject:
        """`phrase` as a subject."""
        person: Person = "3p" if phrase.plural else "3s"
        return Subject(phrase.german("nominative"), phrase.english(), person)

    def object_pronoun(self, subject: Subject) -> Pronoun:
        """An object pronoun that does not refer back to `subject`."""
        speaker = subject.person[0]
        return self.rng.choice([p for p in PRONOUNS if speaker == "3" or p.person[0] != speaker])

    def place_phrase(self, noun: Noun) -> NounPhrase:
        """A definite phrase of the place `noun`."""
        adjective = self.rng.choice(ADJECTIVES["places"]) if self.chance(0.2) else None
        return NounPhrase(noun, DEFINITE, adjective=adjective)

    def location(self) -> tuple[str, str]:
        """An adverbial of place."""
        if self.chance(0.25):
            german, english = self.rng.choice(self.territories)
            return f"in {german}", f"in {english}"
        place = self.rng.choice(PLACES)
        phrase = self.place_phrase(place.noun)
        german = german_prepositional(place.location, phrase, "dative")
        return german, f"{place.english_location} {phrase.english()}"

    def motion(self, subject: Subject) -> Clause:
        """A clause of a verb of motion with its direction."""
        verb = self.rng.choice(MOTION)
        german, english = self.direction(self.rng.choice(verb.objects))
        return Clause(subject, verb, after=german, english=english)

    def direction(self, group: str) -> tuple[str, str]:
        """An adverbial of direction, to one of the "countries" or "places"."""
        if group == "countries":
            german, english = self.rng.choice(self.territories)
            return f"nach {german}", f"to {english}"
        place = self.rng.choice(PLACES)
        phrase = self.place_phrase(place.noun)
        german = german_prepositional(place.direction, phrase, place.direction_case)
        return german, f"to {phrase.english()}"

    def number(self, ranges: Sequence[range]) -> tuple[str, str]:
        """A cardinal from one of `ranges`."""
        return locale_terms.cardinal(self.rng.choice(self.rng.choice(ranges)))

    def span(self) -> tuple[str, str]:
        """A span of time in the German dative, as after `vor`, `in` and `seit`."""
        unit = self.rng.choice(("duration-year", "duration-month", "duration-week"))
        german_unit, english_unit = locale_terms.unit(unit)
        german, english = locale_terms.cardinal(self.rng.choice(SMALL_NUMBERS))
        dative = german_unit if german_unit.endswith("n") else german_unit + "n"
        return f"{german} {dative}", f"{english} {english_unit}"

    def time(self) -> TimeAdverbial:
        """An adverbial of time."""
        draw = self.rng.random()
        if draw < 0.55:
            return self.rng.choice(TIMES)
        if draw < 0.65:
            german, english = self.rng.choice(self.weekdays)
            if self.chance(0.3):
                return TimeAdverbial(f"jeden {german}", f"every {english}", "present")
            return TimeAdverbial(f"am {german}", f"on {english}", "any")
        if draw < 0.75:
            german, english = self.rng.choice(self.months)
            return TimeAdverbial(f"im {german}", f"in {english}", "any")
        if draw < 0.83:
            german, english = locale_terms.cardinal(self.rng.choice(SMALL_NUMBERS))
            return TimeAdverbial(f"um {german} Uhr", f"at {english} o'clock", "any")
        if draw < 0.9:
            german, english = self.rng.choice(self.months)
            day, english_day = locale_terms.ordinal(self.rng.randint(1, 31))
            return TimeAdverbial(f"am {day}n {german}", f"on the {english_day} of {english}", "any")
        german, english = self.span()
        if self.chance(0.5):
            return TimeAdverbial(f"vor {german}", f"{english} ago", "past")
        return TimeAdverbial(f"in {german}", f"in {english}", "future")

    def modal(self, *, past: bool) -> Modal:
        """A modal verb for the past or for another time."""
        return self.rng.choice(PAST_MODALS if past else MODALS)

    def activity(self, subject: Subject) -> Clause:
        """A present, affirmative clause of which one can ask where it takes place."""
        return self.with_object(subject, self.rng.choice(PLACED))

    def predicate(
        self,
        subject: Subject,
        pronoun: Pronoun | None,
        *,
        voluntary: bool = False,
    ) -> Clause:
        """A present, affirmative clause of `subject` without adverbials.

        A `voluntary` one can be planned or wanted.
        """
        draw = self.rng.random()
        if draw < 0.14:
            return Clause(subject, self.rng.choice(INTRANSITIVE))
        if draw < 0.5:
            verbs = VOLUNTARY if voluntary else TRANSITIVE
            return self.with_object(subject, self.rng.choice(verbs))
        if draw < 0.58:
            return self.with_dative(subject)
        if draw < 0.69:
            return self.with_recipient(subject)
        if draw < 0.81:
            return self.with_preposition(subject, pronoun)
        if draw < 0.9:
            return self.motion(subject)
        if draw < 0.96:
            german, english = self.location()
            return Clause(subject, self.rng.choice(LOCATION), after=german, english=english)
        german, english = self.rng.choice(self.languages)
        verb = self.rng.choice((SPRECHEN, VERSTEHEN, LERNEN))
        return Clause(subject, verb, after=german, english=english, takes_nicht=False)

    def with_object(self, subject: Subject, verb: Verb) -> Clause:
        """A clause of a transitive `verb`."""
        if "people" in verb.objects and self.chance(0.2):
            pronoun = self.object_pronoun(subject)
            if pronoun.accusative:
                light, english = pronoun.accusative, pronoun.english_object
                return Clause(subject, verb, light=light, english=english)
        phrase = self.noun_phrase(verb.objects)
        return Clause(
            subject,
            verb,
            objects=phrase.german("accusative"),
            english=phrase.english(),
            takes_nicht=phrase.determiner in SPECIFIC,
        )

    def with_dative(self, subject: Subject) -> Clause:
        """A clause of a verb that governs the dative."""
        verb = self.rng.choice(DATIVE)
        if self.chance(0.35):
            pronoun = self.object_pronoun(subject)
            return Clause(subject, verb, light=pronoun.dative, english=pronoun.english_object)
        phrase = self.person()
        return Clause(subject, verb, objects=phrase.german("dative"), english=phrase.english())

    def with_recipient(self, subject: Subject) -> Clause:
        """A clause of a ditransitive verb: the German dative becomes an English preposition."""
        verb = self.rng.choice(DITRANSITIVE)
        thing = self.noun_phrase(verb.objects)
        german, english = thing.german("accusative"), thing.english()
        if self.chance(0.35):
            pronoun = self.object_pronoun(subject)
            english = f"{english} {verb.recipient} {pronoun.english_object}"
            light = pronoun.dative
        else:
            person = self.person()
            english = f"{english} {verb.recipient} {person.english()}"
            german = f"{person.german('dative')} {german}"
            light = ""
        return Clause(
            subject,
            verb,
            light=light,
            objects=german,
            english=english,
            takes_nicht=thing.determiner in SPECIFIC,
        )

    def with_preposition(self, subject: Subject, pronoun: Pronoun | None) -> Clause:
        """A clause of a verb with a prepositional object, reflexive or not."""
        verb = self.rng.choice(PREPOSITIONAL)
        phrase = self.noun_phrase(verb.objects, specific=True)
        reflexive = pronoun.reflexive if pronoun is not None else "sich"
        return Clause(
            subject,
            verb,
            light=reflexive if verb.reflexive else "",
            after=german_prepositional(verb.preposition, phrase, verb.case),
            english=phrase.english(),
        )

    def without_object(self, subject: Subject) -> Clause:
        """A clause denied with `kein` on its indefinite object."""
        verb = self.rng.choice(TRANSITIVE)
        phrase = replace(self.noun_phrase(verb.objects), determiner=NO)
        return Clause(
            subject,
            verb,
            objects=phrase.german("accusative"),
            english=phrase.english(),
            negated=True,
        )

    def clause(self, agent: Agent | None = None, *, past: bool | None = None) -> Clause:
        """A clause with a tense or modal, perhaps negated, without an adverbial of time.

        `past` fixes the time; by default it is drawn. The future does not occur.
        """
        subject, pronoun = agent if agent is not None else self.agent()
        clause = self.action(subject, pronoun)
        is_past = self.chance(0.4) if past is None else past
        if self.chance(0.22):
            modal = self.modal(past=is_past)
            if modal is not FUTURE and clause.verb.is_voluntary:
                return replace(clause, modal=modal)
        return replace(clause, past=is_past)

    def action(self, subject: Subject, pronoun: Pronoun | None) -> Clause:
        """What `subject` does, with negation, frequency or place, in the present."""
        draw = self.rng.random()
        if draw < 0.1:
            return self.without_object(subject)
        clause = self.predicate(subject, pronoun)
        if draw < 0.22:
            return denied(clause) if clause.takes_nicht else clause
        if draw < 0.36:
            return replace(clause, frequency=self.rng.choice(FREQUENCIES))
        if draw < 0.56 and clause.verb.allows_place and not clause.after:
            return replace(clause, place=self.location())
        return clause

    def timed_clause(self) -> Clause:
        """A clause with an adverbial of time and a tense or modal that suits it."""
        time = self.time()
        subject, pronoun = self.agent()
        clause = replace(self.action(subject, pronoun), time=time, frequency=("", ""))
        past = time.when == "past" or (time.when == "any" and self.chance(0.4))
        if clause.verb.is_voluntary and self.chance(0.3):
            modal = self.modal(past=past)
            if modal.when in ("any", time.when) or time.when == "any":
                return replace(clause, modal=modal)
        return replace(clause, past=past)

    def continued(self, subject: Subject) -> Clause:
        """What `subject` has been doing for some time, in the German present."""
        if self.chance(0.3):
            german, english = self.rng.choice(self.languages)
            return Clause(subject, LERNEN, after=german, english=english)
        german, english = self.location()
        return Clause(subject, self.rng.choice(CONTINUING), after=german, english=english)
