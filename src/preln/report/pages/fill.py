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
    "claims": ledger.claims,
    "claims-counts": ledger.claims_counts,
    "claims-by-study": ledger.claims_by_study,
    "claims-reasons": ledger.claims_reasons,
    "claims-rules": ledger.claims_rules,
    "claims-changes": ledger.claims_changes,
    "errata": ledger.paper_errata,
    "claims-of-others": ledger.claims_of_others,
    "questions": ledger.questions,
    "rule": ledger.rule,
    "runs": runs.runs,
    "paper-size": runs.paper_size,
    "findings": runs.findings,
    "rate-budgets": runs.rate_budgets,
    "own-budgets": runs.own_budgets,
    "cosines": theory.cosines,
    "lemmas": theory.lemmas,
    "variants": theory.variants,
    "placements": bench.placements,
    "bench": bench.table,
    "published-orders": bench.published_orders,
    "published-language-orders": bench.published_language_orders,
    "depth": bench.depth,
    "real-text": bench.real_text,
    "cost": bench.cost,
    "cards": bench.cards,
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
