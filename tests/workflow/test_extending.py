"""The recipes of docs/how-it-is-built.md, and docs/placements.md for a placement of one's own, do what they say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import MakeOnce, study_content
from tests.workflow.conftest import ROOT, Outcome, Workspace, copy_with_tests
from tests.workflow.recipes import blocks, files, section

EXTENDING = section(Path("docs/how-it-is-built.md").read_text(encoding="utf-8"), "Extending")
PLACEMENT = section(Path("docs/placements.md").read_text(encoding="utf-8"), "A placement of your own")
ADDED = [path for path in {**files(EXTENDING), **files(PLACEMENT)} if path.endswith(".py")]
STUDY = "iwslt14-theory"
PROVERBS = "src/preln/corpora/parallel/proverbs.py"
# The tests that go through every schedule, setting, figure or table.
OF_ALL = ("schedules", "config", "config_schema", "identity", "report_catalogue")


def follow(workspace: Workspace, heading: str = "") -> None:
    """Do what the page tells for all recipes and, of the recipes, what the one with a heading does, or all do."""
    preamble, _, recipes = EXTENDING.partition("\n### ")
    recipe = section(EXTENDING, heading) if heading else recipes
    for path, content in files(recipe).items():
        (workspace.folder / path).write_text(content, encoding="utf-8")
    (change,) = (content for kind, content, _ in blocks(recipe) if kind == "diff")
    (workspace.folder / "change.diff").write_text(change, encoding="utf-8")
    (commands,) = (content for kind, content, _ in blocks(preamble) if kind == "sh")
    outcome = workspace.run("bash", "-e", "-c", f"patch --strip 1 --input change.diff\n{commands}")
    assert outcome.code == 0, outcome.output


@pytest.fixture(scope="session")
def extended(make_once: MakeOnce) -> Workspace:
    """A clone with all that the pages add."""

    def fill(folder: Path) -> None:
        workspace = copy_with_tests(folder)
        for path, content in files(PLACEMENT).items():
            if path in ADDED:
                (folder / path).write_text(content, encoding="utf-8")
        follow(workspace)

    return Workspace(make_once("all that the pages add", fill))


@pytest.mark.slow
def test_all_that_the_pages_add_passes_its_tests_and_the_checks_and_breaks_no_other_test(
    extended: Workspace, type_check: Outcome
) -> None:
    tests = [path for path in ADDED if Path(path).name.startswith("test_")]
    assert len(ADDED) == 2 * len(tests) == 12
    assert type_check.code == 0, type_check.output[-3000:]
    # The cache knows the files that are as they were.
    shutil.copytree(ROOT / ".mypy_cache", extended.folder / ".mypy_cache")
    unit = [f"tests/unit/test_{name}.py" for name in OF_ALL]
    for command in (
        ["ruff", "check", *ADDED],
        ["ruff", "format", "--check", *ADDED],
        ["mypy", *ADDED],
        ["python", "-m", "pytest", "-q", "-n0", "-m", "not slow", *tests, *unit],
    ):
        outcome = extended.run(*command)
        assert outcome.code == 0, outcome.output[-5000:]


@pytest.mark.slow
def test_a_figure_and_a_table_are_made_by_their_commands_and_by_the_workflow_which_computes_nothing_for_them(
    extended: Workspace,
) -> None:
    shutil.copytree(ROOT / "results" / STUDY, extended.folder / "results" / STUDY)
    for heading in ("A figure", "A table"):
        (commands,) = (content for kind, content, _ in blocks(section(EXTENDING, heading)) if kind == "sh")
        outcome = extended.run("bash", "-e", "-c", commands)
        assert outcome.code == 0, outcome.output
    assert (extended.folder / "norms.pdf").read_bytes().startswith(b"%PDF")
    assert "Target tokens a second" in (extended.folder / "speed.md").read_text(encoding="utf-8")
    outcome = extended.snakemake("--dry-run", "--configfile", f"results/{STUDY}/study.yaml")
    assert outcome.code == 0, outcome.output
    assert outcome.computed == set()
    assert "Draw figure norms" in outcome.output
    assert "Write the table speed" in outcome.output


@pytest.mark.slow
def test_a_corpus_is_its_settings_and_a_module_of_its_own(fresh: Workspace) -> None:
    (fresh.folder / "tests" / "unit").mkdir(parents=True)
    follow(fresh, "A corpus")
    assert '"proverbs"' in (fresh.folder / "config" / "schema.json").read_text(encoding="utf-8")

    fresh.write(study_content(corpora={"tiny": {"source": "proverbs", "vocabulary": 100, "held_out": 5}}))
    assert fresh.would_run()["download"] == 1
    downloads = fresh.folder / "resources" / "downloads"
    downloads.mkdir(parents=True)
    lines = [f"Das Sprichwort {number} ist alt.\tThe proverb {number} is old.\n" for number in range(60)]
    (downloads / "proverbs.tsv").write_text("".join(lines), encoding="utf-8")
    outcome = fresh.snakemake("prepared")
    assert outcome.code == 0, outcome.output
    (corpus,) = (fresh.folder / "resources" / "corpora").iterdir()
    record = json.loads((corpus / "text" / "corpus.json").read_text(encoding="utf-8"))
    assert (record["title"], record["parts"]["train"]["pairs"]) == ("German-English proverbs", 50)
    assert (corpus / "binary" / "dict.de.txt").exists()


@pytest.mark.slow
def test_a_corpus_without_a_module_is_said(fresh: Workspace) -> None:
    (fresh.folder / PROVERBS).write_text("", encoding="utf-8")
    outcome = fresh.snakemake("--dry-run")
    assert outcome.code != 0
    assert "proverbs.py: defines no SOURCE; see the other modules there" in outcome.output


@pytest.mark.slow
def test_a_placement_of_ones_own_is_trained_as_the_page_says(tmp_path: Path) -> None:
    clone = copy_with_tests(tmp_path / "a clone")
    jobs = []
    for _, content, path in blocks(PLACEMENT)[1:]:
        if path:
            # Less of the same: the page's study shows more than is asserted here.
            less = content.replace("documents: 1000}", "documents: 200}").replace("updates: 200\n", "updates: 100\n")
            (clone.folder / path).write_text(less, encoding="utf-8")
            continue
        outcome = clone.run("bash", "-e", "-c", content)
        assert outcome.code == 0, outcome.output[-5000:]
        jobs.append(outcome.jobs.get("train_language", 0))
    assert jobs[-1] == 4
    results = clone.folder / "results" / "pre-post"
    runs = pd.read_csv(results / "tables" / "language.csv")["run"]
    assert set(runs.str.partition("-lr")[0]) == {"post", "pre", "pre-post"}
    assert "Pre-Post-LN" in (results / "report.html").read_text(encoding="utf-8")
