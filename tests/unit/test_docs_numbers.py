"""The numbers in the text of the pages are those of the committed records."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from docs.answers import quick_seeds
from docs.answers.iwslt14 import GUESS
from docs.committed import table
from tests.page_numbers import (
    benchmarks,
    claims,
    departures,
    experiments,
    explanation,
    index,
    placements_bench,
    readme,
    results,
    speed,
    theory,
    your_own_study,
)
from tests.page_numbers.records import BIG, BOUNDS, GUESSES, PAPER, Numbers

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": readme,
    "benchmarks/README.md": benchmarks,
    "docs/claims.md": claims,
    "docs/departures.md": departures,
    "docs/experiments.md": experiments,
    "docs/explanation.md": explanation,
    "docs/index.md": index,
    "docs/placements-bench.md": placements_bench,
    "docs/results.md": results,
    "docs/speed.md": speed,
    "docs/theory.md": theory,
    "docs/your-own-study.md": your_own_study,
}


@cache
def text(page: str) -> str:
    """A page as it is read: without emphasis, generated tables and blocks of code, its lines joined."""
    content = (ROOT / page).read_text(encoding="utf-8")
    content = re.sub(r"<!-- generated:.*?<!-- end -->|^```.*?^```$", "", content, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"\s+", " ", content.replace("*", ""))


def test_the_constant_guess_of_the_rules_is_that_of_the_records() -> None:
    of_iwslt14 = table(BIG, "runs")["constant_guess"].dropna()
    of_small = table("small-causes", "runs").groupby("corpus")["constant_guess"].first()

    assert (set(of_iwslt14.round(2)), round(of_small["quick"], 2)) == ({GUESS}, quick_seeds.GUESS)


@cache
def as_said(said: str, numbers: Numbers) -> str:
    """What a page says, with the records' numbers and a minus as one prints it."""
    return re.sub(r"(?<![\w-])-(?=\d)", "−", said.format(*numbers()))


@pytest.mark.numbers
@pytest.mark.parametrize(
    ("page", "said", "numbers"),
    [(page, said, numbers) for page, of_page in PAGES.items() for said, numbers in of_page.SAID],
)
def test_a_number_in_the_text_is_that_of_the_record(page: str, said: str, numbers: Numbers) -> None:
    assert as_said(said, numbers) in text(page)


@pytest.mark.numbers
@pytest.mark.parametrize("page", PAGES)
def test_a_number_in_the_text_is_held_against_a_record_or_known_to_have_none(page: str) -> None:
    assert unheld(page) - set(PAGES[page].ELSEWHERE.split()) == set()


@pytest.mark.numbers
@pytest.mark.parametrize("page", PAGES)
def test_what_is_known_to_have_no_record_is_still_on_its_page(page: str) -> None:
    of_several_pages = f"{PAPER} {GUESSES} {BOUNDS}".split()

    assert set(PAGES[page].ELSEWHERE.split()) - set(of_several_pages) - unheld(page) == set()


@cache
def unheld(page: str) -> set[str]:
    """The numbers of a page that are in none of the sentences that are held against a record."""
    rest = text(page)
    for said, numbers in PAGES[page].SAID:
        rest = rest.replace(as_said(said, numbers), " ")
    return set(re.findall(r"\d+\.\d+", rest))
