"""Tables of pages in Markdown, and how their numbers are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from preln.questions.core.series import Series
from preln.report.core.statistics import Estimate, plus_minus

K = TypeVar("K")


def grid(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def interval(mean: Estimate) -> str:
    """A mean with half of its 95% interval."""
    return plus_minus(mean.mean, mean.half, ".2f", ".2f").replace("-", "−")


def rate(value: float) -> str:
    """A learning rate as one writes it: 0.0005 is 5e-4, and 1.5 is 1.5."""
    digits, exponent = f"{value:e}".split("e")
    return str(float(value)) if value >= 0.1 else f"{float(digits):g}e{int(exponent)}"


def warm_up(updates: int) -> str:
    """A length of warm-up in words."""
    return f"{updates:,} updates" if updates else "none"


def limit(highest: float | None) -> str:
    """The largest rate that trains, in words."""
    return "none" if highest is None else rate(highest)


def tokens(batches: int) -> str:
    """The tokens of an update of so many batches of 1,024."""
    return f"{batches} x 1,024" if batches > 1 else "1,024"


def losses(seeds: Iterable[float]) -> str:
    """The loss of each seed."""
    return ", ".join(f"{loss:.2f}" for loss in seeds)


def each_seed(loss: Mapping[K, Series], bleu: Mapping[K, Series]) -> dict[K, tuple[str, str]]:
    """The losses and the BLEU of all seeds of some groups of runs."""
    return {
        group: (losses(run.recorded), ", ".join(f"{score:.1f}" for score in bleu[group].recorded))
        for group, run in loss.items()
    }
