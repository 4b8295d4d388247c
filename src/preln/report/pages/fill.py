"""Fills the generated blocks and values of a page.

A block stands between `<!-- generated: NAME -->` and `<!-- end -->`; its name may be followed by arguments, such as a
study. A value stands between `<!-- n: NAME -->` and `<!-- / -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from preln.errors import PrelnError
from preln.questions import QUESTIONS
from preln.report.pages import bench, ledger, runs, theory
from preln.report.pages.committed import Committed

BLOCK = re.compile(r"(<!-- generated: )([^>]+?)( -->\n).*?(<!-- end -->)", re.DOTALL)
VALUE = re.compile(r"(<!-- n: )([^>]+?)( -->).*?(<!-- / -->)", re.DOTALL)
Block = Callable[..., str]

BLOCKS: dict[str, Block] = {
    "claims": ledger.claims,
    "claims-counts": ledger.claims_counts,
    "claims-by-study": ledger.claims_by_study,
    "claims-reasons": ledger.claims_reasons,
    "claims-rules": ledger.claims_rules,
    "claims-changes": ledger.claims_changes,
    "errata": ledger.paper_errata,
    "claims-of-others": ledger.claims_of_others,
    "explanations": ledger.explanations,
    "questions": ledger.questions,
    "rule": ledger.rule,
    "runs": runs.runs,
    "pretraining": runs.pretraining,
    "paper-size": runs.paper_size,
    "findings": runs.findings,
    "rate-budgets": runs.rate_budgets,
    "own-budgets": runs.own_budgets,
    "cosines": theory.cosines,
    "theorem": theory.theorem,
    "lemmas": theory.lemmas,
    "variants": theory.variants,
    "placements": bench.placements,
    "bench": bench.table,
    "published-orders": bench.published_orders,
    "depth": bench.depth,
    "real-text": bench.real_text,
    "cost": bench.cost,
    "cards": bench.cards,
}
"""The blocks by name; one of each of our own questions has the question's."""
VALUES: dict[str, Block] = {
    "answer": ledger.answer,
    "count": ledger.count,
    "run": runs.value,
}
"""The values by the word before their arguments; a verdict and a finding are told by their form."""


def pages(root: Path) -> list[Path]:
    """The pages of a clone that may have blocks."""
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def update(page: Path, root: Path) -> None:
    """Write the blocks and values of a page."""
    text = page.read_text(encoding="utf-8")
    page.write_text(current(text, Committed(root), page.name), encoding="utf-8")


def current(text: str, committed: Committed, page: str = "") -> str:
    """A page's text with its blocks and values as the committed results have them.

    Raises:
        PrelnError: if a block or a value is not known, or its numbers are not there.
    """

    def filled(make: Callable[[Committed, str], str], name: str) -> str:
        try:
            return make(committed, name)
        except (KeyError, TypeError, ValueError, FileNotFoundError) as error:
            raise PrelnError(f"{page}: {name}: {error}") from error

    text = BLOCK.sub(lambda found: f"{found[1]}{found[2]}{found[3]}\n{filled(block, found[2])}\n{found[4]}", text)
    return VALUE.sub(lambda found: f"{found[1]}{found[2]}{found[3]}{filled(value, found[2])}{found[4]}", text)


def block(committed: Committed, name: str) -> str:
    """The content of a block."""
    kind, *arguments = name.split()
    if kind in QUESTIONS and QUESTIONS[kind].kind == "own":
        return ledger.question(committed, kind)
    return BLOCKS[kind](committed, *arguments)


def value(committed: Committed, name: str) -> str:
    """The text of a value."""
    kind, *arguments = name.split()
    if kind == "verdict":
        label, *study = arguments
        return ledger.verdict(committed, label, *study) if study else str(ledger.overall(committed, label))
    if "@" in kind:
        return ledger.finding(committed, kind, *arguments)
    return VALUES[kind](committed, *arguments)
