"""English text from the grammar: documents to pre-train on, and pairs of sentences whose relation is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import NamedTuple

from preln.generated_text.clauses import Clause, denied, english_clause, joined
from preln.generated_text.constructions import CONSTRUCTIONS, WEIGHTS
from preln.generated_text.sampling import Sampler

SENTENCES = range(8, 25)
"""Sentences of a document."""


class SentencePair(NamedTuple):
    """Two sentences, and whether the second says the same as the first, or follows from it."""

    first: str
    second: str
    holds: bool


def documents(count: int, seed: int) -> Iterator[list[str]]:
    """Documents as lists of cased and punctuated sentences; most of a document's sentences are about the same two
    persons, so that its words tell of each other.

    Args:
        count: the number of documents.
        seed: of the only generator used.
    """
    rng = Random(seed)
    sampler = Sampler(rng)
    for _ in range(count):
        agents = [sampler.agent(), sampler.agent()]
        document = []
        for _ in range(rng.choice(SENTENCES)):
            if sampler.chance(0.6):
                document.append(_sentence(english_clause(sampler.clause(rng.choice(agents)))))
            else:
                document.append(rng.choices(CONSTRUCTIONS, WEIGHTS)[0](sampler)[1])
        yield document


def paraphrases(count: int, seed: int) -> list[SentencePair]:
    """Pairs of a sentence and one with its adverbial of time in front, which is a paraphrase in half of the cases; in
    the other half one thing that it says is another.

    Args:
        count: the number of pairs.
        seed: of the only generator used.
    """
    sampler = Sampler(Random(seed))
    pairs = []
    for number in range(count):
        clause, other = _with_another(sampler)
        second = clause if number % 2 == 0 else other
        pairs.append(SentencePair(_sentence(english_clause(clause)), _fronted(second), second is clause))
    sampler.rng.shuffle(pairs)
    return pairs


def entailments(count: int, seed: int) -> list[SentencePair]:
    """Pairs of a sentence and one without its adverbial of time, which follows from it in half of the cases; in the
    other half one thing that it says is another.

    Args:
        count: the number of pairs.
        seed: of the only generator used.
    """
    sampler = Sampler(Random(seed))
    pairs = []
    for number in range(count):
        clause, other = _with_another(sampler, timeless=True)
        second = clause if number % 2 == 0 else other
        hypothesis = _sentence(english_clause(second, with_time=False))
        pairs.append(SentencePair(_sentence(english_clause(clause)), hypothesis, second is clause))
    sampler.rng.shuffle(pairs)
    return pairs


def _with_another(sampler: Sampler, timeless: bool = False) -> tuple[Clause, Clause]:
    """An affirmative clause with a time and a place, and one that differs from it in its subject, place or negation,
    or, unless `timeless`, in its time."""
    while True:
        clause = replace(sampler.timed_clause(), place=sampler.location())
        if clause.negated or clause.after or not clause.verb.allows_place or clause.time is None:
            continue
        changes = [replace(clause, place=sampler.location()), replace(clause, subject=sampler.agent()[0])]
        if clause.takes_nicht:
            changes.append(denied(clause))
        if not timeless:
            time = sampler.time()
            if time.when == clause.time.when:
                changes.append(replace(clause, time=time))
        other = sampler.rng.choice(changes)
        if english_clause(other, with_time=not timeless) != english_clause(clause, with_time=not timeless):
            return clause, other


def _fronted(clause: Clause) -> str:
    """The clause as a sentence, its adverbial of time in front."""
    time = clause.time.english if clause.time is not None else ""
    return _sentence(joined(time, english_clause(clause, with_time=False)))


def _sentence(words: str) -> str:
    """The words as a sentence."""
    return words[0].upper() + words[1:] + "."
