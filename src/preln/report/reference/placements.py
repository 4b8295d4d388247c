"""Comparisons of placements in other papers, as data: `placements.csv`.

Of each paper and text it has the smallest models, as far as we know them. The placements are named as on the bench, and
stand in the order of the paper's numbers, the best first; a model that did not train has the score `fails`. `number` is
what is compared, or what a paper says in words; what is compared by perplexity are language models.
"""

from __future__ import annotations

from itertools import combinations, groupby
from operator import itemgetter
from typing import NamedTuple

from preln.report.reference import cells

PERPLEXITY = "perplexity"


class Order(NamedTuple):
    """A published comparison of two placements: the names of both, the numbers or words, the model and the text, and
    the paper with how its numbers are known (see the package `preln.report.reference`)."""

    better: str
    worse: str
    published: str
    of: str
    source: str


def load(of_language_models: bool) -> list[Order]:
    """Every pair of language models, or every pair of translation models."""
    rows = (row for row in cells("placements.csv") if (row["number"] == PERPLEXITY) == of_language_models)
    return [
        Order(better["placement"], worse["placement"], _published(better, worse), of, f"{source} ({how_known})")
        for (source, how_known, of, _), alike in groupby(rows, key=itemgetter("source", "how_known", "of", "number"))
        for better, worse in combinations(alike, 2)
    ]


def _published(better: dict[str, str], worse: dict[str, str]) -> str:
    scores = ", ".join(filter(None, (better["score"], worse["score"])))
    return f"{better['number']} {scores}".strip()
