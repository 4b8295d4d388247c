"""The recipes of docs/how-it-is-built.md, and docs/placements.md for a placement of one's own, do what they say."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import MakeOnce
from tests.reading import FENCE
from tests.workflow.conftest import ROOT, Workspace, check_types, copy_with_tests

HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_NAMED = re.compile(r"# ([\w/]+\.py)\n")
_SAVED = re.compile(r"[Ss]ave\s+this\s+\w+\s+as\s+`([\w/.-]+)`[^`]*\Z")


def section(page: str, heading: str) -> str:
    """A section of a page, up to the next heading of its level or above it."""
    # Without code, whose comments look like headings.
    prose = FENCE.sub(lambda code: " " * len(code[0]), page)
    headings = [(match.start(), len(match[1]), match[2]) for match in HEADING.finditer(prose)]
    ((start, level),) = ((at, level) for at, level, text in headings if text == heading)
    ends = (at for at, other_level, _ in headings if at > start and other_level <= level)
    return page[start : next(ends, None)]


def blocks(page: str) -> list[tuple[str, str, str | None]]:
    """The blocks of code of a page or of a section, in order: language, content, and the file that it is, if it is one.
    Its name is the first line, or stands in the sentence above it."""
    parts = []
    for block in FENCE.finditer(page):
        language, content = block.groups()
        if named := _NAMED.match(content):
            parts.append((language, content[named.end() :], named[1]))
        else:
            saved = _SAVED.search(page, 0, block.start())
            parts.append((language, content, saved and saved[1]))
    return parts


def files(page: str) -> dict[str, str]:
    """The files that a page or a section has its reader make, by their paths."""
    return {path: content for _, content, path in blocks(page) if path}


EXTENDING = section(Path("docs/how-it-is-built.md").read_text(encoding="utf-8"), "Extending")
PLACEMENT = section(Path("docs/placements.md").read_text(encoding="utf-8"), "A placement of your own")
ADDED = [path for path in {**files(EXTENDING), **files(PLACEMENT)} if path.endswith(".py")]
STUDY = "iwslt14-theory"
# The tests that go through every schedule, setting, figure or table.
OF_ALL = ("schedules", "config", "config_schema", "identity", "report_catalogue")


@pytest.fixture(scope="session")
def extended(make_once: MakeOnce) -> Workspace:
    """A clone with all that the pages add."""

    def fill(folder: Path) -> None:
        workspace = copy_with_tests(folder)
        for path, content in {**files(PLACEMENT), **files(EXTENDING)}.items():
            if path in ADDED:
                (folder / path).write_text(content, encoding="utf-8")
        (commands,) = (content for kind, content, _ in blocks(EXTENDING.partition("\n### ")[0]) if kind == "sh")
        workspace.run("bash", "-e", "-c", commands)

    return Workspace(make_once("all that the pages add", fill))


def test_all_that_the_pages_add_passes_its_tests_and_the_checks_and_breaks_no_other_test(
    extended: Workspace, make_once: MakeOnce
) -> None:
    tests = [path for path in ADDED if Path(path).name.startswith("test_")]
    assert len(ADDED) == 2 * len(tests) == 10
    check_types(make_once)
    # The cache knows the files that are as they were.
    shutil.copytree(ROOT / ".mypy_cache", extended.folder / ".mypy_cache")
    unit = [f"tests/unit/test_{name}.py" for name in OF_ALL]
    for command in (
        ["ruff", "check", *ADDED],
        ["ruff", "format", "--check", *ADDED],
        ["mypy", *ADDED],
        ["python", "-m", "pytest", "-q", "-n0", "-m", "not slow", *tests, *unit],
    ):
        extended.run(*command)


def test_a_figure_and_a_table_are_made_by_their_commands_and_by_the_workflow_which_computes_nothing_for_them(
    extended: Workspace,
) -> None:
    shutil.copytree(ROOT / "results" / STUDY, extended.folder / "results" / STUDY)
    for heading in ("A figure", "A table"):
        (commands,) = (content for kind, content, _ in blocks(section(EXTENDING, heading)) if kind == "sh")
        extended.run("bash", "-e", "-c", commands)
    assert (extended.folder / "norms.pdf").read_bytes().startswith(b"%PDF")
    assert "Target tokens a second" in (extended.folder / "speed.md").read_text(encoding="utf-8")
    outcome = extended.snakemake("--dry-run", "--configfile", f"results/{STUDY}/study.yaml")
    assert outcome.computed == set()
    assert "Draw figure norms" in outcome.output
    assert "Write the table speed" in outcome.output


def test_a_placement_of_ones_own_is_trained_as_the_page_says(tmp_path: Path) -> None:
    clone = copy_with_tests(tmp_path / "a clone")
    jobs = []
    for _, content, path in blocks(PLACEMENT)[1:]:
        if path:
            # Less of the same: the page's study shows more than is asserted here.
            less = content.replace("documents: 1000}", "documents: 200}").replace("updates: 200\n", "updates: 50\n")
            less = less.replace("warmup: 100}", "warmup: 25}")
            (clone.folder / path).write_text(less, encoding="utf-8")
            continue
        jobs.append(clone.run("bash", "-e", "-c", content).jobs.get("train_language", 0))
    assert jobs[-1] == 4
    results = clone.folder / "results" / "pre-post"
    runs = pd.read_csv(results / "tables" / "language.csv")["run"]
    assert set(runs.str.partition("-lr")[0]) == {"post", "pre", "pre-post"}
    assert "Pre-Post-LN" in (results / "report.html").read_text(encoding="utf-8")
