"""The bench of language models: which placements are ahead of Pre-LN, and do the published orders hold?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from preln.language.bench import FEWEST_TO_RENAME, MARGIN, TRIES, WORDS, Verdict, difference, renamed, verdict
from preln.language.report import bench
from preln.language.report.bench import Entry, entries, on_a_bench, reference_of
from preln.language.report.records import Records
from preln.questions.base import Answer, Evidence, Finding, Findings, Outcome, Question
from preln.questions.core.markdown import grid
from preln.report.core.statistics import Estimate
from preln.report.reference import placements as published

_OUTCOMES: dict[Verdict, Outcome] = {
    "ahead": Outcome.HOLDS,
    "behind": Outcome.FAILS,
    "not told apart": Outcome.UNDECIDED,
}


@dataclass(frozen=True)
class Order(Finding):
    """The difference of two models' losses, judged by its interval and the margin. The seeds of the other model, the
    `reference`, are not paired with those in `values`."""

    reference: tuple[float, ...] = ()

    @property
    def estimate(self) -> Estimate:
        """The difference of the means, with the 95% interval of Welch's t."""
        return difference(self.values, self.reference)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the first model beside the other."""
        return verdict(self.estimate)

    @property
    def outcome(self) -> Outcome:
        """It holds if the first is ahead, and fails if it is behind."""
        return _OUTCOMES[self.verdict]


def benches(evidence: Evidence) -> Iterator[Records]:
    """The records of each bench of language models."""
    for study in evidence.studies:
        if runs := on_a_bench(study.study, study.language.runs):
            yield replace(study.language, runs=tuple(runs))


def findings(evidence: Evidence) -> Findings:
    for records in benches(evidence):
        every = entries(records)
        by_name = {entry.name: entry for entry in every}
        for order in published.load(of_language_models=True):
            pair = (by_name.get(order.better), by_name.get(order.worse))
            yield _order("published", name_of(order), *pair)
        for entry in every:
            reference = reference_of(entry, every)
            if entry is not reference:
                yield _order("beside-pre-ln", entry.name, entry, reference, beside="no paper's order")
            elif len(entry.row.common) >= FEWEST_TO_RENAME:
                tries = (float(renamed(entry.row)),)
                yield Finding(*_name("renamed", entry.name), tries, low=0.95 * TRIES, beside="a test of the bench")


def name_of(order: published.Order) -> str:
    """The two models of a published order, and the paper."""
    return f"{order.better} and {order.worse}, {order.source}"


def _order(part: str, of: str, entry: Entry | None, against: Entry | None, beside: str = "") -> Order | None:
    """The finding of two models; none while one of them cannot be judged."""
    if entry is None or against is None or not (entry.losses and against.losses):
        return None
    losses, reference = tuple(entry.losses), tuple(against.losses)
    return Order(*_name(part, of), losses, high=-MARGIN, beside=beside, reference=reference)


def _name(part: str, of: str) -> tuple[str, str, str]:
    return f"{QUESTION.name}.{part}", _QUANTITIES[part], of


def words(answer: Answer) -> list[str]:
    """The placements by their verdicts, and how many of the published orders are seen."""
    beside = [order for order in answer.of("beside-pre-ln") if isinstance(order, Order)]
    orders = [order.outcome for order in answer.of("published")]
    named = {
        word: [order.of.replace(", ", " with ", 1) for order in beside if order.verdict == word] for word in _OUTCOMES
    }
    sentences = [f"{WORDS[word]} Pre-LN: {', '.join(names)}" for word, names in named.items() if names]
    held, reversed_, open_ = map(orders.count, (Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED))
    sentences.append(f"published orders: {held} seen, {reversed_} the other way round, {open_} not told apart")
    for tries in answer.of("renamed"):
        sentences.append(f"Pre-LN under another name is not told apart in {tries.values[0]:.0f} of {TRIES} tries")
    return sentences


def _table(evidence: Evidence) -> str:
    """The rows of the bench, those with the lowest losses first."""
    tables = []
    for records in benches(evidence):
        full = bench.table(records).sort_values("loss", na_position="last", kind="stable")
        shown = bench.readable(full)
        tables.append(grid(["", *shown.columns[1:]], shown.to_numpy().tolist()))
    return "\n".join(tables)


_QUANTITIES = {
    "published": "loss at its best rate of the one that is ahead in a paper, minus that of the other",
    "beside-pre-ln": "loss at its best rate minus Pre-LN's",
    "renamed": f"tries of {TRIES} in which Pre-LN under another name is not told apart",
}
QUESTION = Question(
    name="language-bench",
    statement="Which placements are ahead of Pre-LN in language models, and are the published orders seen?",
    source="our own; Sun et al. (2025), arXiv:2502.05795, on language models of 130 million parameters",
    published="perplexities, in the table of published orders",
    how_known="printed",
    rule="Width 64, 6 layers, 1,000 updates of the embedded English as bytes, annealed to zero; rates in steps of "
    "two, no warm-up and two lengths of it, three seeds or more. A placement's loss is the mean of its best cell, "
    "the rate and warm-up with the lowest mean of those of which every seed ends at least 0.3 bits a token below the "
    "unigram baseline; its rate lies inside the grid. One is ahead of another if the 95% interval of the difference "
    "(Welch's t) is wholly below -0.01 bits a token, behind if it is wholly above 0.01, and otherwise not told "
    "apart. A published order is seen if the one is ahead, and fails if it is behind. A placement whose paper gives "
    "an initialisation is judged with that. Rows of which the grid is not whole in two seeds are not judged. Six "
    "placements are trained at width 128 as well, and compared with Pre-LN of that width.",
    written="2026-11-29",
    quantities={"published": _QUANTITIES["published"]},
    findings=findings,
    answer=words,
    table=_table,
    reads=("language-bench",),
)
