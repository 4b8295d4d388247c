"""The sentence types: each draws clauses and joins them into one German-English pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from preln.generated_text import locale_terms
from preln.generated_text.clauses import (
    Clause,
    Subject,
    denied,
    english_clause,
    english_infinitive,
    german_clause,
    german_zu_clause,
    joined,
)
from preln.generated_text.modifiers import (
    ADJECTIVES,
    ALL,
    BARE,
    DATING_SUBORDINATORS,
    DEFINITE,
    DIFFICULT,
    EASY,
    ER,
    EVERY,
    HIGH,
    IMPORTANT,
    LONG,
    MY,
    OPEN_SUBORDINATORS,
    OUR,
    PRONOUNS,
    REASON_SUBORDINATORS,
    SIE,
    WH_ADVERBS,
    WHERE,
    WHICH,
)
from preln.generated_text.morphology import (
    RELATIVE_PRONOUNS,
    NounPhrase,
    counted,
    english_present,
)
from preln.generated_text.nouns import (
    FEMALE_NAMES,
    FEMALE_PROFESSIONS,
    FEMALE_RELATIVES,
    MALE_NAMES,
    MALE_PROFESSIONS,
    MALE_RELATIVES,
    NOUNS,
)
from preln.generated_text.sampling import HUNDREDS, NUMBERS, SMALL_NUMBERS, THOUSANDS, Sampler
from preln.generated_text.verbs import (
    ASKING,
    BESTELLEN,
    BRAUCHEN,
    DATIVE,
    DAUERN,
    GEFALLEN,
    GEHOEREN,
    KAUFEN,
    KOENNEN,
    KOMMEN,
    KOSTEN,
    LERNEN,
    MOECHTEN,
    PLANNING,
    REGNEN,
    SAYING,
    SCHNEIEN,
    SEIN,
    SPRECHEN,
    TRANSITIVE,
    VERSTEHEN,
    WERDEN,
    WIEGEN,
    WISSEN,
)

Pair = tuple[str, str]
Construction = Callable[[Sampler], Pair]

COMPARED = {
    group: tuple(adjective for adjective in adjectives if adjective.comparative)
    for group, adjectives in ADJECTIVES.items()
    if group in ("people", "texts", "goods", "buildings", "ideas", "events")
}
THING_VERBS = tuple(verb for verb in TRANSITIVE if "people" not in verb.objects)
DESCRIBED = tuple(group for group in ADJECTIVES if group != "places")
MASS_GROUPS = frozenset(group for group, nouns in NOUNS.items() if nouns[0].is_mass)
COUNTED_VERBS = tuple(verb for verb in THING_VERBS if MASS_GROUPS.isdisjoint(verb.objects))
CONSUMED = (KAUFEN, BRAUCHEN, BESTELLEN)
WEATHER = (REGNEN, SCHNEIEN)
IT = Subject("es", "it", "3s", is_pronoun=True)


def sentence(german: str, english: str, mark: str = ".") -> Pair:
    """The two sides as sentences: first letter upper case, `mark` at the end."""
    return german[0].upper() + german[1:] + mark, english[0].upper() + english[1:] + mark


def fronted(clause: Clause) -> Pair:
    """`clause` with its adverbial of time first: the German verb then precedes the subject."""
    if clause.time is None:
        raise ValueError("no adverbial of time to put first")
    german = german_clause(clause, "inverted", with_time=False)
    english = english_clause(clause, with_time=False)
    return f"{clause.time.german} {german}", f"{clause.time.english} {english}"


def main(clause: Clause) -> Pair:
    """`clause` with its subject first."""
    return german_clause(clause, "main"), english_clause(clause)


def statement(sampler: Sampler) -> Pair:
    """A main clause: Der Lehrer liest das Buch."""
    return sentence(*main(sampler.clause()))


def timed_statement(sampler: Sampler) -> Pair:
    """A main clause with an adverbial of time, fronted or not: Gestern hat er gelesen."""
    clause = sampler.timed_clause()
    return sentence(*(fronted(clause) if sampler.chance(0.65) else main(clause)))


def subordinate_clause(sampler: Sampler) -> Pair:
    """A main clause before or after an adverbial clause: Weil es regnet, liest er."""
    group = sampler.rng.choice((REASON_SUBORDINATORS, DATING_SUBORDINATORS, OPEN_SUBORDINATORS))
    german, english = sampler.rng.choice(group)
    past = group is not OPEN_SUBORDINATORS and sampler.chance(0.5)
    outer = sampler.clause(past=past)
    if sampler.chance(0.12):
        inner = Clause(IT, sampler.rng.choice(WEATHER), past=past)
    elif group is REASON_SUBORDINATORS:
        inner = sampler.clause(past=past)
    else:
        inner = replace(sampler.predicate(*sampler.agent(), voluntary=True), past=past)
    german_inner = f"{german} {german_clause(inner, 'final')}"
    english_inner = f"{english} {english_clause(inner)}"
    if sampler.chance(0.5):
        return sentence(
            f"{german_inner}, {german_clause(outer, 'inverted')}",
            f"{english_inner}, {english_clause(outer)}",
        )
    return sentence(
        f"{german_clause(outer, 'main')}, {german_inner}",
        f"{english_clause(outer)} {english_inner}",
    )


def purpose_clause(sampler: Sampler) -> Pair:
    """A clause of purpose with another subject: ..., damit das Kind schlafen kann."""
    outer = sampler.clause(past=False)
    inner = replace(sampler.predicate(*sampler.agent(), voluntary=True), modal=KOENNEN)
    return sentence(
        f"{german_clause(outer, 'main')}, damit {german_clause(inner, 'final')}",
        f"{english_clause(outer)} so that {english_clause(inner)}",
    )


def content_clause(sampler: Sampler) -> Pair:
    """A clause with `dass` after a verb of saying."""
    outer = Clause(sampler.agent()[0], sampler.rng.choice(SAYING), past=sampler.chance(0.4))
    inner = sampler.timed_clause() if sampler.chance(0.3) else sampler.clause()
    return sentence(
        f"{german_clause(outer, 'main')}, dass {german_clause(inner, 'final')}",
        f"{english_clause(outer)} that {english_clause(inner)}",
    )


def indirect_question(sampler: Sampler) -> Pair:
    """An indirect question: Er weiß nicht, warum das Kind weint."""
    subject = sampler.agent()[0]
    match sampler.rng.randrange(3):
        case 0:
            outer = denied(Clause(subject, WISSEN, past=sampler.chance(0.3)))
        case 1:
            outer = Clause(subject, WISSEN, modal=MOECHTEN)
        case _:
            outer = Clause(subject, sampler.rng.choice(ASKING), past=sampler.chance(0.5))
    german, english = sampler.rng.choice((WHERE, *WH_ADVERBS, ("ob", "whether")))
    if german == WHERE[0]:
        inner = replace(sampler.activity(sampler.agent()[0]), past=sampler.chance(0.5))
    else:
        inner = sampler.clause()
    return sentence(
        f"{german_clause(outer, 'main')}, {german} {german_clause(inner, 'final')}",
        f"{english_clause(outer)} {english} {english_clause(inner)}",
    )


def yes_no_question(sampler: Sampler) -> Pair:
    """A yes-no question: Liest der Lehrer das Buch?"""
    clause = sampler.timed_clause() if sampler.chance(0.3) else sampler.clause()
    return sentence(german_clause(clause, "inverted"), english_clause(clause, question=True), "?")


def adverbial_question(sampler: Sampler) -> Pair:
    """A question with `wo`, `wann` or `warum`."""
    german, english = sampler.rng.choice((WHERE, *WH_ADVERBS))
    subject, pronoun = sampler.agent()
    is_where = german == WHERE[0]
    clause = sampler.activity(subject) if is_where else sampler.predicate(subject, pronoun)
    clause = replace(clause, past=sampler.chance(0.4))
    return sentence(
        f"{german} {german_clause(clause, 'inverted')}",
        f"{english} {english_clause(clause, question=True)}",
        "?",
    )


def subject_question(sampler: Sampler) -> Pair:
    """A question for the subject, which needs no inversion: Wer hat das Buch gelesen?"""
    clause = sampler.clause((Subject("wer", "who", "3s"), None))
    return sentence(*main(clause), "?")


def object_question(sampler: Sampler) -> Pair:
    """A question for an object: Welches Buch liest er? Wem hilft sie?"""
    subject = sampler.agent()[0]
    past = sampler.chance(0.4)
    match sampler.rng.randrange(4):
        case 0:
            clause = Clause(subject, sampler.rng.choice(DATIVE), past=past)
            german, english = "wem", "whom"
        case 1:
            clause = Clause(subject, sampler.rng.choice(THING_VERBS), past=past)
            german, english = "was", "what"
        case _:
            verb = sampler.rng.choice(THING_VERBS)
            phrase = replace(sampler.noun_phrase(verb.objects), determiner=WHICH)
            clause = Clause(subject, verb, past=past)
            german, english = phrase.german("accusative"), phrase.english()
    return sentence(
        f"{german} {german_clause(clause, 'inverted')}",
        f"{english} {english_clause(clause, question=True)}",
        "?",
    )


def quantity_question(sampler: Sampler) -> Pair:
    """A question for a number: Wie viele Bücher hat er gekauft?"""
    verb = sampler.rng.choice(COUNTED_VERBS)
    noun = sampler.rng.choice(NOUNS[sampler.rng.choice(verb.objects)])
    phrase = counted(noun, "wie viele", "how many")
    clause = Clause(sampler.agent()[0], verb, past=sampler.chance(0.5))
    return sentence(
        f"{phrase.german('accusative')} {german_clause(clause, 'inverted')}",
        f"{phrase.english()} {english_clause(clause, question=True)}",
        "?",
    )


def copula(sampler: Sampler) -> Pair:
    """A predicative adjective: Die alten Häuser sind nicht schön."""
    group = sampler.rng.choice(DESCRIBED)
    phrase = replace(sampler.noun_phrase((group,), specific=True), adjective=None)
    negated = sampler.chance(0.25)
    if not negated and not phrase.noun.is_mass and sampler.chance(0.25):
        phrase = replace(phrase, determiner=ALL if phrase.plural else EVERY)
    adjective = sampler.rng.choice(ADJECTIVES[group])
    clause = Clause(
        sampler.subject(phrase),
        SEIN,
        after=adjective.german,
        english=adjective.english,
        past=sampler.chance(0.4),
    )
    return sentence(*main(denied(clause) if negated else clause))


def distinct_things(sampler: Sampler, group: str) -> tuple[NounPhrase, NounPhrase]:
    """Two specific phrases of different nouns."""
    one = sampler.noun_phrase((group,), specific=True)
    others = [noun for noun in NOUNS[group] if noun.english != one.noun.english]
    other = sampler.noun_phrase((group,), specific=True)
    return one, replace(other, noun=sampler.rng.choice(others))


def comparison(sampler: Sampler) -> Pair:
    """A comparison: Der Turm ist höher als die Kirche."""
    group = sampler.rng.choice(tuple(COMPARED))
    one, other = distinct_things(sampler, group)
    adjective = sampler.rng.choice(COMPARED[group])
    clause = Clause(
        sampler.subject(replace(one, adjective=None)),
        SEIN,
        after=f"{adjective.comparative} als {other.german('nominative')}",
        english=f"{adjective.english_comparative} than {other.english()}",
        past=sampler.chance(0.4),
    )
    return sentence(*main(clause))


def profession(sampler: Sampler) -> Pair:
    """A profession, without an article in German: Meine Schwester wird Ärztin."""
    is_male = sampler.chance(0.5)
    relatives = MALE_RELATIVES if is_male else FEMALE_RELATIVES
    relative = NounPhrase(sampler.rng.choice(relatives), sampler.rng.choice((MY, OUR)))
    name = sampler.rng.choice(MALE_NAMES if is_male else FEMALE_NAMES)
    pronoun = ER if is_male else SIE
    subject = sampler.rng.choice(
        (
            Subject(name, name, "3s"),
            Subject(pronoun.nominative, pronoun.english, "3s", is_pronoun=True),
            sampler.subject(relative),
        )
    )
    noun = sampler.rng.choice(MALE_PROFESSIONS if is_male else FEMALE_PROFESSIONS)
    article = "an" if noun.english[0] in "aeiou" else "a"
    clause = Clause(subject, SEIN, after=noun.german, english=f"{article} {noun.english}")
    match sampler.rng.randrange(4):
        case 0:
            clause = replace(clause, verb=WERDEN, modal=MOECHTEN)
        case 1:
            clause = replace(clause, verb=WERDEN, past=True)
        case 2:
            clause = replace(clause, past=True)
    return sentence(*main(clause))


def relative_subject(sampler: Sampler) -> Pair:
    """A relative clause whose pronoun is its subject: Der Mann, der das Buch liest, ..."""
    head = sampler.person()
    pronoun = RELATIVE_PRONOUNS[head.agreement]["nominative"]
    subject = sampler.subject(head)
    relative = Subject(pronoun, "who", subject.person, is_pronoun=True)
    inner = sampler.clause((relative, None))
    return around_subject(sampler, subject, german_clause(inner, "final"), english_clause(inner))


def relative_dative(sampler: Sampler) -> Pair:
    """A relative clause whose pronoun is in the dative: Die Frau, der ich helfe, ..."""
    head = sampler.person()
    inner = Clause(sampler.agent()[0], sampler.rng.choice(DATIVE), past=sampler.chance(0.4))
    return around_subject(
        sampler,
        sampler.subject(head),
        f"{RELATIVE_PRONOUNS[head.agreement]['dative']} {german_clause(inner, 'final')}",
        f"whom {english_clause(inner)}",
    )


def around_subject(sampler: Sampler, subject: Subject, german: str, english: str) -> Pair:
    """A main clause or predicative about `subject`, which carries a relative clause."""
    heavy = Subject(f"{subject.german}, {german},", f"{subject.english} {english}", subject.person)
    if sampler.chance(0.4):
        adjective = sampler.rng.choice(ADJECTIVES["people"])
        clause = Clause(heavy, SEIN, after=adjective.german, english=adjective.english, past=sampler.chance(0.3))
    else:
        clause = sampler.clause((heavy, None))
    return sentence(*main(clause))


def relative_object(sampler: Sampler) -> Pair:
    """A relative clause about a thing: Das Buch, das er gekauft hat, ist teuer."""
    verb = sampler.rng.choice(THING_VERBS)
    group = sampler.rng.choice(verb.objects)
    head = sampler.noun_phrase((group,), specific=True)
    inner = Clause(sampler.agent()[0], verb, past=sampler.chance(0.6))
    subject = sampler.subject(head)
    pronoun = RELATIVE_PRONOUNS[head.agreement]["accusative"]
    heavy = Subject(
        f"{subject.german}, {pronoun} {german_clause(inner, 'final')},",
        f"{subject.english} that {english_clause(inner)}",
        subject.person,
    )
    adjective = sampler.rng.choice(ADJECTIVES[group])
    clause = Clause(
        heavy,
        SEIN,
        after=adjective.german,
        english=adjective.english,
        past=sampler.chance(0.3),
    )
    return sentence(*main(clause))


def purpose_infinitive(sampler: Sampler) -> Pair:
    """An infinitive of purpose: Er fährt nach Polen, um ein Auto zu kaufen."""
    agent = sampler.agent()
    outer = replace(sampler.motion(agent[0]), past=sampler.chance(0.5))
    inner = sampler.predicate(*agent, voluntary=True)
    return sentence(
        f"{german_clause(outer, 'main')}, um {german_zu_clause(inner)}",
        f"{english_clause(outer)} {english_infinitive(inner)}",
    )


def planned_infinitive(sampler: Sampler) -> Pair:
    """An infinitive after a verb of planning: Er versucht, das Fenster aufzumachen."""
    agent = sampler.agent()
    outer = Clause(agent[0], sampler.rng.choice(PLANNING), past=sampler.chance(0.5))
    inner = sampler.predicate(*agent, voluntary=True)
    return sentence(
        f"{german_clause(outer, 'main')}, {german_zu_clause(inner)}",
        f"{english_clause(outer)} {english_infinitive(inner)}",
    )


def impersonal_infinitive(sampler: Sampler) -> Pair:
    """An infinitive after a predicative: Es ist schwierig, ein Haus zu bauen."""
    adjective = sampler.rng.choice((DIFFICULT, EASY, IMPORTANT))
    outer = Clause(
        IT,
        SEIN,
        after=adjective.german,
        english=adjective.english,
        past=sampler.chance(0.3),
    )
    if sampler.chance(0.3):
        outer = denied(outer)
    inner = sampler.predicate(IT, None, voluntary=True)
    return sentence(
        f"{german_clause(outer, 'main')}, {german_zu_clause(inner)}",
        f"{english_clause(outer)} {english_infinitive(inner)}",
    )


def dimension(sampler: Sampler) -> Pair:
    """A length or height: Die Brücke ist zweihundert Meter lang."""
    group, adjective, ranges = sampler.rng.choice(
        (("buildings", HIGH, (NUMBERS, HUNDREDS)), ("rooms", LONG, (SMALL_NUMBERS,)))
    )
    phrase = replace(sampler.noun_phrase((group,), specific=True), adjective=None)
    number, english_number = sampler.number(ranges)
    unit, english_unit = locale_terms.unit("length-meter")
    clause = Clause(
        sampler.subject(phrase),
        SEIN,
        after=f"{number} {unit} {adjective.german}",
        english=f"{english_number} {english_unit} {adjective.english}",
    )
    return sentence(*main(clause))


def measure(sampler: Sampler) -> Pair:
    """A price, weight or duration: Das Auto kostet neuntausend Euro."""
    match sampler.rng.randrange(3):
        case 0:
            group, verb = sampler.rng.choice(("goods", "clothes", "devices")), KOSTEN
            unit, english_unit = sampler.rng.choice(sampler.currencies)
            ranges: tuple[range, ...] = (NUMBERS, HUNDREDS, THOUSANDS)
        case 1:
            group, verb = sampler.rng.choice(("goods", "animals", "devices")), WIEGEN
            unit, english_unit = locale_terms.unit("mass-kilogram")
            ranges = (SMALL_NUMBERS, NUMBERS)
        case _:
            group, verb = sampler.rng.choice(("events", "lessons")), DAUERN
            ranges = (SMALL_NUMBERS, NUMBERS)
            unit_name = sampler.rng.choice(("duration-minute", "duration-hour"))
            unit, english_unit = locale_terms.unit(unit_name)
    number, english_number = sampler.number(ranges)
    phrase = sampler.noun_phrase((group,), specific=True)
    clause = Clause(
        sampler.subject(phrase),
        verb,
        after=f"{number} {unit}",
        english=f"{english_number} {english_unit}",
        past=sampler.chance(0.4),
    )
    return sentence(*main(clause))


def existence(sampler: Sampler) -> Pair:
    """What there is at a place: In der Stadt gibt es drei alte Kirchen."""
    group = sampler.rng.choice(("buildings", "people", "animals"))
    number, english_number = sampler.number((SMALL_NUMBERS, NUMBERS, HUNDREDS))
    phrase = replace(
        counted(sampler.rng.choice(NOUNS[group]), number, english_number),
        adjective=sampler.rng.choice(ADJECTIVES[group]) if sampler.chance(0.5) else None,
    )
    place, english_place = sampler.location()
    verb, english_verb = ("gab", "were") if sampler.chance(0.3) else ("gibt", "are")
    things = phrase.german("accusative")
    german = f"{place} {verb} es {things}" if sampler.chance(0.6) else f"es {verb} {things} {place}"
    return sentence(german, f"there {english_verb} {phrase.english()} {english_place}")


def duration(sampler: Sampler) -> Pair:
    """Something that lasts: a present in German, a perfect in English."""
    subject = sampler.agent()[0]
    clause = sampler.continued(subject)
    span, english_span = sampler.span()
    german = german_clause(replace(clause, objects=f"seit {span}"), "main")
    # All these verbs are regular: the participle is the simple past.
    has_done = joined(english_present("have", subject.person), clause.verb.english_past)
    english = joined(subject.english, has_done, clause.english, "for", english_span)
    return sentence(german, english)


def liking(sampler: Sampler) -> Pair:
    """The experiencer is a German dative and the English subject: Das Buch gefällt mir."""
    group = sampler.rng.choice(("texts", "goods", "clothes", "buildings", "events"))
    thing = sampler.noun_phrase((group,), specific=True)
    past, negated = sampler.chance(0.4), sampler.chance(0.3)
    subject = sampler.subject(thing)
    negator = "nicht" if negated else ""
    if sampler.chance(0.5):
        pronoun = sampler.rng.choice(PRONOUNS)
        german = Clause(subject, GEFALLEN, light=pronoun.dative, past=past, negator=negator)
        liker = Subject(pronoun.nominative, pronoun.english, pronoun.person)
    else:
        person = sampler.person()
        dative = person.german("dative")
        german = Clause(subject, GEFALLEN, objects=dative, past=past, negator=negator)
        liker = sampler.subject(person)
    english = Clause(liker, GEFALLEN, english=thing.english(), past=past, negated=negated)
    return sentence(german_clause(german, "main"), english_clause(english))


def possession(sampler: Sampler) -> Pair:
    """To whom a thing belongs: Das Auto gehört meinem Bruder nicht."""
    thing = sampler.noun_phrase(GEHOEREN.objects, specific=True)
    owner = sampler.person()
    negated = sampler.chance(0.3)
    clause = Clause(
        sampler.subject(replace(thing, determiner=DEFINITE)),
        GEHOEREN,
        objects=owner.german("dative"),
        english=owner.english(),
        past=sampler.chance(0.4),
    )
    return sentence(*main(denied(clause) if negated else clause))


def coordination(sampler: Sampler) -> Pair:
    """Two main clauses: Der Lehrer liest das Buch, aber das Kind schläft."""
    german, english = sampler.rng.choice(((" und", " and"), (", aber", ", but")))
    past = sampler.chance(0.4)
    one, other = (main(sampler.clause(past=past)) for _ in range(2))
    return sentence(f"{one[0]}{german} {other[0]}", f"{one[1]}{english} {other[1]}")


def correction(sampler: Sampler) -> Pair:
    """One object instead of another: Er kauft nicht den Hut, sondern die Jacke."""
    verb = sampler.rng.choice(TRANSITIVE)
    group = sampler.rng.choice(verb.objects)
    things = distinct_things(sampler, group)
    wrong, right = (replace(thing, determiner=DEFINITE) for thing in things)
    clause = Clause(
        sampler.agent()[0],
        verb,
        objects=f"nicht {wrong.german('accusative')}, sondern {right.german('accusative')}",
        english=f"{wrong.english()} but {right.english()}",
        negated=True,
    )
    return sentence(*main(clause))


def origin(sampler: Sampler) -> Pair:
    """A country and a language: Er kommt aus Polen und spricht Deutsch und Arabisch."""
    subject = sampler.agent()[0]
    country, english_country = sampler.rng.choice(sampler.territories)
    (one, english_one), (other, english_other) = sampler.rng.sample(sampler.languages, 2)
    verb = sampler.rng.choice((SPRECHEN, VERSTEHEN, LERNEN))
    silent = Subject("", "", subject.person)
    come = Clause(subject, KOMMEN, after=f"aus {country}", english=f"from {english_country}")
    both, english_both = f"{one} und {other}", f"{english_one} and {english_other}"
    speak = Clause(silent, verb, after=both, english=english_both)
    (german, english), (german_rest, english_rest) = main(come), main(speak)
    return sentence(f"{german} und {german_rest}", f"{english} and {english_rest}")


def amount(sampler: Sampler) -> Pair:
    """An amount of a mass: Sie kauft drei Liter Milch."""
    measures = (("groceries", "mass-kilogram"), ("drinks", "volume-liter"))
    group, unit_name = sampler.rng.choice(measures)
    mass = NounPhrase(sampler.rng.choice(NOUNS[group]), BARE)
    number, english_number = sampler.number((SMALL_NUMBERS,))
    unit, english_unit = locale_terms.unit(unit_name)
    clause = Clause(
        sampler.agent()[0],
        sampler.rng.choice(CONSUMED),
        objects=f"{number} {unit} {mass.german('accusative')}",
        english=f"{english_number} {english_unit} of {mass.english()}",
        past=sampler.chance(0.5),
    )
    if clause.verb.is_voluntary and sampler.chance(0.4):
        clause = replace(clause, modal=sampler.modal(past=clause.past))
    return sentence(*main(clause))


WEIGHTED: tuple[tuple[Construction, int], ...] = (
    (statement, 10),
    (timed_statement, 16),
    (subordinate_clause, 12),
    (purpose_clause, 3),
    (content_clause, 6),
    (indirect_question, 4),
    (yes_no_question, 6),
    (adverbial_question, 4),
    (subject_question, 2),
    (object_question, 3),
    (quantity_question, 2),
    (copula, 3),
    (comparison, 3),
    (profession, 1),
    (relative_subject, 5),
    (relative_dative, 2),
    (relative_object, 4),
    (purpose_infinitive, 4),
    (planned_infinitive, 4),
    (impersonal_infinitive, 3),
    (dimension, 2),
    (measure, 3),
    (existence, 3),
    (duration, 3),
    (liking, 3),
    (possession, 2),
    (coordination, 5),
    (correction, 3),
    (origin, 2),
    (amount, 3),
)
CONSTRUCTIONS = tuple(construction for construction, _ in WEIGHTED)
WEIGHTS = tuple(weight for _, weight in WEIGHTED)
