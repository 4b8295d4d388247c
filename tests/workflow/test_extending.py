"""The recipes of docs/extending.md do what they say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import study_content
from tests.workflow.conftest import Workspace

PAGE = Path("docs/extending.md")
BLOCK = re.compile(r"^```(diff|python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def recipe(heading: str) -> dict[str, str]:
    """The blocks of code of a section, by their languages, and the commands that the page gives for all sections."""
    page = PAGE.read_text(encoding="utf-8")
    blocks = BLOCK.findall(page.partition("\n## ")[0] + page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0])
    assert len({kind for kind, _ in blocks}) == len(blocks)
    return dict(blocks)


@pytest.mark.slow
def test_a_corpus_is_its_settings_and_a_module_of_its_own(fresh: Workspace) -> None:
    blocks = recipe("A corpus")
    (fresh.folder / "corpus.diff").write_text(blocks["diff"], encoding="utf-8")
    (fresh.folder / "src/preln/corpora/parallel/proverbs.py").write_text(blocks["python"], encoding="utf-8")
    outcome = fresh.run("bash", "-e", "-c", f"patch --strip 1 --input corpus.diff\n{blocks['sh']}")
    assert outcome.code == 0, outcome.output
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
    (fresh.folder / "src/preln/corpora/parallel/proverbs.py").write_text("", encoding="utf-8")
    outcome = fresh.snakemake("--dry-run")
    assert outcome.code != 0
    assert "proverbs.py: defines no SOURCE; see the other modules there" in outcome.output
