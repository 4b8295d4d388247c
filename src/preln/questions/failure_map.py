"""Where training fails, over learning rates and lengths of warm-up."""

from __future__ import annotations

import math
from collections.abc import Iterable

from preln.placements import PLACEMENTS
from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.markdown import grid, limit, rate
from preln.report.core.failure_map import Cell, Endings, Map, in_a_map, maps
from preln.report.core.statistics import has_learned
from preln.translation.report.failure_map import endings

FEWEST_WARMUPS = 3
STEP = 2.2
"""A step of the grid of rates, whose rates have two digits."""


def maps_of(studies: Iterable[Endings]) -> list[Map]:
    """The maps over enough lengths of warm-up."""
    return [a_map for study in studies for a_map in maps(study) if len(a_map.warmups) >= FEWEST_WARMUPS]


def _translated(evidence: Evidence) -> list[Map]:
    return maps_of(
        endings(study.translation)
        for study in evidence.studies
        if in_a_map(study.study, study.translation.runs) and len(study.translation.summary)
    )


def _is_whole(a_map: Map) -> bool:
    """Tell whether every cell has as many seeds as the others: a limit with a hole below it is none."""
    seeds = {cell.seeds for cell in a_map.cells.values()}
    return len(a_map.cells) == len(a_map.rates) * len(a_map.warmups) and len(seeds) == 1


def _whole(every: list[Map]) -> dict[int, list[Map]]:
    """The maps of which all runs are done, by the tokens of an update of any map, ascending."""
    batches = sorted({a_map.settings.tokens_an_update for a_map in every})
    whole = [a_map for a_map in every if _is_whole(a_map)]
    return {tokens: [a_map for a_map in whole if a_map.settings.tokens_an_update == tokens] for tokens in batches}


def limits(a_map: Map, warmup: int) -> list[float]:
    """The largest rate at which each seed learns, where it learns at a lower one too; 0 where there is none."""
    cells = {peak: a_map.cells[peak, warmup] for peak in a_map.rates}
    learning = [
        [peak for peak, cell in cells.items() if has_learned(cell.losses[seed], cell.guess)]
        for seed in range(cells[a_map.rates[0]].seeds)
    ]
    return [peaks[-1] if len(peaks) > 1 else 0.0 for peaks in learning]


def judged(question: Question, every: list[Map]) -> Findings:
    """The findings of the rule in some maps, of which those with a run that is not done decide nothing."""
    batches = _whole(every)
    if not batches:
        return
    fewest, most = min(batches), max(batches)
    for a_map in batches[fewest]:
        raised = _over(limits(a_map, a_map.warmups[-1]), limits(a_map, a_map.warmups[0]))
        if a_map.settings.placement == "post":
            yield question.find("post-needs-it", "Post-LN", raised, low=4.0, ratio=True)
        if a_map.settings.placement == "pre":
            yield question.find("pre-does-not", "Pre-LN", raised, high=STEP, ratio=True)
    post = {
        tokens: limits(a_map, a_map.warmups[0])
        for tokens, of_batch in batches.items()
        for a_map in of_batch
        if a_map.settings.placement == "post"
    }
    if fewest < most and {fewest, most} <= post.keys():
        raised = _over(post[most], post[fewest])
        yield question.find("noise-sets-it", f"{most:,} tokens over {fewest:,}", raised, low=2.1, ratio=True)


def _over(high: list[float], low: list[float]) -> list[float]:
    """The limit of each seed over another; not known where there is neither."""
    pairs = zip(high, low, strict=False)
    return [above / below if below else math.inf if above else math.nan for above, below in pairs]


def tables(every: list[Map]) -> str:
    """The last losses of the runs with small batches, means over seeds, bold where the rate does not train; and the
    limits. Maps with a run that is not done are left out."""
    batches = _whole(every)
    small = batches[min(batches)]
    columns = [(a_map, warmup) for a_map in small for warmup in a_map.warmups]

    def written(cell: Cell) -> str:
        return f"{cell.loss:.2f}" if cell.trains else f"**{cell.loss:.2f}**"

    rows = [(rate(peak), *(written(a_map.cells[peak, warmup]) for a_map, warmup in columns)) for peak in small[0].rates]
    head = [f"{PLACEMENTS[a_map.settings.placement].label}, {warmup}" for a_map, warmup in columns]
    losses = grid(["peak rate", *head], rows)
    rows = [
        (PLACEMENTS[a_map.settings.placement].label, f"{tokens:,}", *(map(limit, map(a_map.limit, a_map.warmups))))
        for tokens, of_batch in batches.items()
        for a_map in of_batch
    ]
    head = [f"warm-up of {warmup}" if warmup else "no warm-up" for warmup in small[0].warmups]
    return f"{losses}\n{grid(['limit of', 'tokens an update', *head], rows)}"


QUESTION: Question = Question(
    name="failure-map",
    statement="At which learning rates and lengths of warm-up does training fail?",
    source="our own",
    rule="Width 64, some 560 updates of generated text, seven rates, five warm-ups. A run learns if it ends at least "
    "0.3 bits below the unigram baseline; the limit of a seed is the highest rate at which it learns, where it learns "
    "at a lower one too. Post-LN needs the warm-up if the longest one raises its limit at least fourfold. Pre-LN does "
    "not if it raises its limit by at most a step of the grid. Noise sets Post-LN's limit if four times the tokens an "
    "update raise it by a step.",
    written="2026-11-23",
    quantities={
        "post-needs-it": "Post-LN needs the warm-up: limit with the longest over that without",
        "pre-does-not": "Pre-LN does not need it: limit with the longest over that without",
        "noise-sets-it": "noise sets Post-LN's limit: that with larger batches over that with small ones",
    },
    findings=lambda evidence: judged(QUESTION, _translated(evidence)),
    table=lambda evidence: tables(_translated(evidence)),
    reads=("failure-map",),
)
