"""Word order: one clause laid out as German and as English, in each of their orders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from preln.generated_text.entries import PERSONS, Modal, Person, TimeAdverbial, Verb
from preln.generated_text.morphology import (
    english_past,
    english_present,
    present_form,
    zu_infinitive,
)

GermanOrder = Literal["main", "inverted", "final"]


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject in both languages; German `german` is in the nominative."""

    german: str
    english: str
    person: Person
    is_pronoun: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause before word order: who does what, when and where.

    German complements stand in three fields: `light` pronouns at the left, `objects` before
    `nicht`, `after` (prepositional objects, directions, predicatives) behind it.
    `negator` is `nicht`, or empty where an object carries `kein`; `takes_nicht` tells whether
    the clause can be denied by `nicht` at all.
    """

    subject: Subject
    verb: Verb
    light: str = ""
    objects: str = ""
    after: str = ""
    english: str = ""
    past: bool = False
    modal: Modal | None = None
    negated: bool = False
    negator: str = ""
    frequency: tuple[str, str] = ("", "")
    place: tuple[str, str] = ("", "")
    time: TimeAdverbial | None = None
    takes_nicht: bool = True


def denied(clause: Clause) -> Clause:
    """`clause` negated with `nicht`."""
    return replace(clause, negated=True, negator="nicht")


def joined(*words: str) -> str:
    """The non-empty `words`, separated by single spaces."""
    return " ".join(word for word in words if word)


def german_verbs(clause: Clause) -> tuple[str, str, str]:
    """The finite verb, the right bracket of a main clause, and the verb-final cluster."""
    verb = clause.verb
    person = PERSONS.index(clause.subject.person)
    if clause.modal is not None:
        finite, right = clause.modal.forms[person], verb.prefix + verb.infinitive
    elif clause.past and verb.preterite is not None:
        finite, right = verb.preterite[person], ""
    elif clause.past:
        auxiliary = (
            ("bin", "bist", "ist", "sind", "sind") if verb.takes_sein else ("habe", "hast", "hat", "haben", "haben")
        )
        finite, right = auxiliary[person], verb.prefix + verb.participle
    else:
        finite = present_form(verb, clause.subject.person)
        return finite, verb.prefix, verb.prefix + finite
    return finite, right, joined(right, finite)


def german_middle(clause: Clause, *, with_time: bool = True) -> str:
    """The German middle field without subject and light pronouns."""
    time = clause.time.german if clause.time is not None and with_time else ""
    return joined(
        time,
        clause.frequency[0],
        clause.objects,
        clause.place[0],
        clause.negator,
        clause.after,
    )


def german_subject_field(clause: Clause) -> str:
    """Subject and light pronouns where the verb does not separate them.

    A light pronoun precedes a full subject and follows a pronominal one.
    """
    if clause.subject.is_pronoun:
        return joined(clause.subject.german, clause.light)
    return joined(clause.light, clause.subject.german)


def german_clause(clause: Clause, order: GermanOrder, *, with_time: bool = True) -> str:
    """`clause` in German.

    "main" is subject, verb, rest; "inverted" starts with the verb (a question, or what follows
    a fronted constituent); "final" has the verb at the end. Without `with_time` the adverbial
    is left to the caller, who fronts it.
    """
    finite, right, cluster = german_verbs(clause)
    middle = german_middle(clause, with_time=with_time)
    match order:
        case "main":
            return joined(clause.subject.german, finite, clause.light, middle, right)
        case "inverted":
            return joined(finite, german_subject_field(clause), middle, right)
        case "final":
            return joined(german_subject_field(clause), middle, cluster)


def german_zu_clause(clause: Clause) -> str:
    """`clause` in German as an infinitive clause with `zu`, without its subject."""
    return joined(clause.light, german_middle(clause), zu_infinitive(clause.verb))


def english_verbs(clause: Clause, *, do_support: bool) -> tuple[str, str]:
    """The English auxiliary (or "") and the rest of the verb group.

    With `do_support` there always is an auxiliary, `do` where no other one stands.
    """
    verb, modal, person = clause.verb, clause.modal, clause.subject.person
    does = english_present("do", person)
    if modal is None and is_english_future(clause):
        return "will", verb.english
    if modal is None and verb.english == "be":
        return english_past(verb, person) if clause.past else english_present("be", person), ""
    if modal is None and clause.past:
        return ("did", verb.english) if do_support else ("", english_past(verb, person))
    if modal is None:
        present = english_present(verb.english, person)
        return (does, verb.english) if do_support else ("", present)
    if modal.auxiliary:
        return modal.auxiliary, joined(modal.link, verb.english)
    infinitive = joined(modal.link, verb.english)
    if do_support:
        return "did" if modal.verb_past else does, joined(modal.verb, infinitive)
    return "", joined(modal.verb_past or english_present(modal.verb, person), infinitive)


def is_english_future(clause: Clause) -> bool:
    """Whether a German present speaks of the future, for which English needs "will"."""
    return not clause.past and clause.time is not None and clause.time.when == "future"


def english_clause(clause: Clause, *, question: bool = False, with_time: bool = True) -> str:
    """`clause` in English, as a statement or with the auxiliary before the subject."""
    auxiliary, rest = english_verbs(clause, do_support=question or clause.negated)
    negation = "not" if clause.negated else ""
    time = clause.time.english if clause.time is not None and with_time else ""
    tail = joined(clause.frequency[1], rest, clause.english, clause.place[1], time)
    subject = clause.subject.english
    if question:
        return joined(auxiliary, subject, negation, tail)
    if auxiliary == "can" and negation:
        return joined(subject, "cannot", tail)
    return joined(subject, auxiliary, negation, tail)


def english_infinitive(clause: Clause) -> str:
    """`clause` in English as an infinitive clause with "to", without its subject."""
    return joined("to", clause.verb.english, clause.english, clause.place[1])
