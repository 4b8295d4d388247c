"""Where training fails, over learning rates and lengths of warm-up."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator

from preln.placements import PLACEMENTS
from preln.questions.base import Change, Finding, Question
from preln.questions.core.evidence import Evidence
from preln.questions.core.markdown import grid, limit, rate
from preln.translation.report.failure_map import Cell, Map, fails, in_a_map, maps

FEWEST_WARMUPS = 3
STEP = 2.2
"""A step of the grid of rates, whose rates have two digits."""


def shown(evidence: Evidence) -> list[Map]:
    """The maps over enough lengths of warm-up of which all runs are done."""
    return [
        one
        for study in evidence.studies
        if in_a_map(study.study, study.translation.runs) and len(study.translation.summary)
        for one in maps(study.translation)
        if len(one.warmups) >= FEWEST_WARMUPS and _is_whole(one)
    ]


def _is_whole(one: Map) -> bool:
    """Whether every cell has as many seeds as the others: a limit with a hole below it is none."""
    seeds = {cell.seeds for cell in one.cells.values()}
    return len(one.cells) == len(one.rates) * len(one.warmups) and len(seeds) == 1


def limits(one: Map, warmup: int) -> list[float]:
    """The largest rate at which each seed learns, where it learns at a lower one too; 0 where there is none."""
    cells = {peak: one.cells[peak, warmup] for peak in one.rates if (peak, warmup) in one.cells}
    seeds = min((cell.seeds for cell in cells.values()), default=0)
    found = []
    for seed in range(seeds):
        learning = [peak for peak, cell in cells.items() if not fails(cell.losses[seed], cell.guess)]
        found.append(learning[-1] if len(learning) > 1 else 0.0)
    return found


def findings(evidence: Evidence) -> Iterator[Finding]:
    """By how much the longest warm-up and a larger batch raise the limit, seed by seed."""
    every = shown(evidence)
    batches = sorted({one.settings.batch_tokens for one in every})
    for one in every:
        raised = _over(limits(one, one.warmups[-1]), limits(one, one.warmups[0]))
        if one.settings.batch_tokens != batches[0] or one.settings.placement not in ("post", "pre"):
            continue
        if one.settings.placement == "post":
            yield QUESTION.find("post-needs-it", "Post-LN", raised, low=4.0, ratio=True)
        else:
            yield QUESTION.find("pre-does-not", "Pre-LN", raised, high=STEP, ratio=True)
    post = {one.settings.batch_tokens: limits(one, one.warmups[0]) for one in every if one.settings.placement == "post"}
    if len(post) > 1 and batches[0] in post:
        raised = _over(post[batches[-1]], post[batches[0]])
        yield QUESTION.find("noise-sets-it", f"{batches[-1]:,} tokens over {batches[0]:,}", raised, low=2.1, ratio=True)


def _over(one: list[float], other: list[float]) -> list[float]:
    return [high / low if low else math.inf for high, low in zip(one, other, strict=False)]


def table(evidence: Evidence) -> str:
    """The last losses of the runs with small batches, means over seeds, bold where the rate does not train; and the
    limits."""
    every = shown(evidence)
    small = [one for one in every if one.settings.batch_tokens == min(map(_batch, every))]

    def written(cell: Cell | None) -> str:
        if cell is None:
            return ""
        return f"{cell.loss:.2f}" if cell.trains else f"**{cell.loss:.2f}**"

    rows = [
        (rate(peak), *(written(one.cells.get((peak, warmup))) for one in small for warmup in one.warmups))
        for peak in small[0].rates
    ]
    head = [f"{PLACEMENTS[one.settings.placement].label}, {warmup}" for one in small for warmup in one.warmups]
    losses = grid(["peak rate", *head], rows)
    rows = [
        (
            *(PLACEMENTS[one.settings.placement].label, f"{_batch(one):,}"),
            *(limit(one.limit(warmup)) for warmup in one.warmups),
        )
        for one in every
    ]
    head = [f"warm-up of {warmup}" if warmup else "no warm-up" for warmup in small[0].warmups]
    return f"{losses}\n{grid(['limit of', 'tokens an update', *head], rows)}"


def _batch(one: Map) -> int:
    return one.settings.batch_tokens


QUESTION = Question(
    name="failure-map",
    statement="At which learning rates and lengths of warm-up does training fail?",
    source="our own",
    published="none",
    how_known="unknown",
    rule="Width 64, some 560 updates of generated text, seven rates, five warm-ups. A run learns if it ends at least "
    "0.3 bits below the unigram baseline; the limit of a seed is the highest rate at which it learns, where it "
    "learns at a lower one too. Post-LN needs the warm-up if the longest one raises its limit at least fourfold. "
    "Pre-LN does not if it raises its limit by at most a step of the grid. Noise sets Post-LN's limit if four times "
    "the tokens an update raise it by a step.",
    written=datetime.date(2026, 11, 23),
    quantities={
        "post-needs-it": "Post-LN needs the warm-up: limit with the longest over that without",
        "pre-does-not": "Pre-LN does not need it: limit with the longest over that without",
        "noise-sets-it": "noise sets Post-LN's limit: that with larger batches over that with small ones",
    },
    findings=findings,
    table=table,
    reads=("failure-map",),
    changes=(
        Change(
            datetime.date(2026, 11, 28),
            "The means over the seeds decided.",
            "Each seed is asked now, and pairs of the same seed are compared, as in the ledger.",
            "committed: Post-LN needs the warm-up; Pre-LN does not need it → Post-LN needs the warm-up: limit with "
            "the longest over that without: holds; Pre-LN does not need it: limit with the longest over that "
            "without: holds; noise sets Post-LN's limit: that with larger batches over that with small ones: points "
            "the other way",
        ),
    ),
)
