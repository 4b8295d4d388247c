"""Fills the generated blocks of a page.

A block stands between `<!-- generated: NAME -->` and `<!-- end -->`; its name may be followed by arguments, such as a
study.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from preln.errors import PrelnError
from preln.report.pages import bench, ledger, runs, theory
from preln.report.pages.committed import Committed

BLOCK = re.compile(r"(<!-- generated: )([^>]+?)( -->\n).*?(<!-- end -->)", re.DOTALL)
BLOCKS: dict[str, Callable[..., str]] = {
    block.__name__.replace("_", "-"): block
    for block in (
        *(ledger.claims, ledger.claims_counts, ledger.claims_by_study, ledger.claims_reasons, ledger.claims_rules),
        *(ledger.claims_changes, ledger.errata, ledger.claims_of_others, ledger.questions, ledger.rule),
        *(runs.runs, runs.paper_size, runs.findings, runs.rate_budgets, runs.own_budgets),
        *(theory.cosines, theory.lemmas, theory.variants, bench.placements, bench.bench, bench.published_orders),
        *(bench.published_language_orders, bench.depth, bench.real_text, bench.cost, bench.cards),
    )
}
"""The blocks by name; one of each of our own questions has the question's."""


def pages(root: Path) -> list[Path]:
    """The pages of a clone that may have blocks."""
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def update(page: Path, root: Path) -> None:
    """Write the blocks of a page."""
    text = page.read_text(encoding="utf-8")
    page.write_text(current(text, Committed(root), page.name), encoding="utf-8")


def current(text: str, committed: Committed, page: str = "") -> str:
    """A page's text with its blocks as the committed results have them.

    Raises:
        PrelnError: if a block is not known, or its numbers are not there.
    """

    def filled(block: re.Match[str]) -> str:
        start, name, close, end = block.groups()
        kind, *arguments = name.split()
        try:
            make = BLOCKS.get(kind)
            content = make(committed, *arguments) if make else ledger.question(committed, kind)
        except (KeyError, TypeError, ValueError, FileNotFoundError, PrelnError) as error:
            raise PrelnError(f"{page}: {name}: {error}") from error
        return f"{start}{name}{close}\n{content}\n{end}"

    return BLOCK.sub(filled, text)
