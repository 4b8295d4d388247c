"""Where training fails, over learning rates and lengths of warm-up."""

from __future__ import annotations

import math

from preln.placements import PLACEMENTS
from preln.questions.base import Findings, Question
from preln.questions.core.evidence import Evidence
from preln.questions.core.markdown import grid, limit, rate
from preln.translation.report.failure_map import Cell, Map, fails, in_a_map, maps

FEWEST_WARMUPS = 3
STEP = 2.2
"""A step of the grid of rates, whose rates have two digits."""


def whole_maps(evidence: Evidence) -> list[Map]:
    """The maps over enough lengths of warm-up of which all runs are done."""
    return [
        a_map
        for study in evidence.studies
        if in_a_map(study.study, study.translation.runs) and len(study.translation.summary)
        for a_map in maps(study.translation)
        if len(a_map.warmups) >= FEWEST_WARMUPS and _is_whole(a_map)
    ]


def _is_whole(a_map: Map) -> bool:
    """Tell whether every cell has as many seeds as the others: a limit with a hole below it is none."""
    seeds = {cell.seeds for cell in a_map.cells.values()}
    return len(a_map.cells) == len(a_map.rates) * len(a_map.warmups) and len(seeds) == 1


def limits(a_map: Map, warmup: int) -> list[float]:
    """The largest rate at which each seed learns, where it learns at a lower one too; 0 where there is none."""
    cells = {peak: a_map.cells[peak, warmup] for peak in a_map.rates}
    learning = [
        [peak for peak, cell in cells.items() if not fails(cell.losses[seed], cell.guess)]
        for seed in range(cells[a_map.rates[0]].seeds)
    ]
    return [peaks[-1] if len(peaks) > 1 else 0.0 for peaks in learning]


def findings(evidence: Evidence) -> Findings:
    every = whole_maps(evidence)
    batches = sorted({a_map.settings.batch_tokens for a_map in every})
    for a_map in every:
        raised = _over(limits(a_map, a_map.warmups[-1]), limits(a_map, a_map.warmups[0]))
        if (a_map.settings.batch_tokens, a_map.settings.placement) == (batches[0], "post"):
            yield QUESTION.find("post-needs-it", "Post-LN", raised, low=4.0, ratio=True)
        if (a_map.settings.batch_tokens, a_map.settings.placement) == (batches[0], "pre"):
            yield QUESTION.find("pre-does-not", "Pre-LN", raised, high=STEP, ratio=True)
    of_post = [a_map for a_map in every if a_map.settings.placement == "post"]
    post = {a_map.settings.batch_tokens: limits(a_map, a_map.warmups[0]) for a_map in of_post}
    if len(post) > 1 and batches[0] in post:
        raised = _over(post[batches[-1]], post[batches[0]])
        yield QUESTION.find("noise-sets-it", f"{batches[-1]:,} tokens over {batches[0]:,}", raised, low=2.1, ratio=True)


def _over(high: list[float], low: list[float]) -> list[float]:
    return [above / below if below else math.inf for above, below in zip(high, low, strict=False)]


def table(evidence: Evidence) -> str:
    """The last losses of the runs with small batches, means over seeds, bold where the rate does not train; and the
    limits."""
    every = whole_maps(evidence)
    smallest = min(a_map.settings.batch_tokens for a_map in every)
    columns = [
        (a_map, warmup) for a_map in every if a_map.settings.batch_tokens == smallest for warmup in a_map.warmups
    ]
    names = [PLACEMENTS[a_map.settings.placement].label for a_map in every]

    def written(cell: Cell) -> str:
        return f"{cell.loss:.2f}" if cell.trains else f"**{cell.loss:.2f}**"

    rows = [(rate(peak), *(written(a_map.cells[peak, warmup]) for a_map, warmup in columns)) for peak in every[0].rates]
    head = [f"{PLACEMENTS[a_map.settings.placement].label}, {warmup}" for a_map, warmup in columns]
    losses = grid(["peak rate", *head], rows)
    rows = [
        (name, f"{a_map.settings.batch_tokens:,}", *(limit(a_map.limit(warmup)) for warmup in a_map.warmups))
        for name, a_map in zip(names, every, strict=True)
    ]
    head = [f"warm-up of {warmup}" if warmup else "no warm-up" for warmup in every[0].warmups]
    return f"{losses}\n{grid(['limit of', 'tokens an update', *head], rows)}"


QUESTION = Question(
    name="failure-map",
    statement="At which learning rates and lengths of warm-up does training fail?",
    source="our own",
    published="none",
    how_known="unknown",
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
    findings=findings,
    table=table,
    reads=("failure-map",),
)
