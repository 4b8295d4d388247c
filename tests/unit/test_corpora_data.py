"""The text that comes with the package is never another, and the seed of a task splits it."""

import bz2
import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from preln.config import Corpus, EmbeddedCorpus, EmbeddedTask, Task, TextSource
from preln.corpora import data, prepare
from preln.corpora.tasks import read
from preln.records import packed
from tests.conftest import ROOT

CONTENT = {
    "pairs.tsv": "c64f87bc41af939c6c40d68e2299151e5350831ee5f31703fd77b579df207ac1",
    "documents.txt": "9d9fb38d827968a8fcbdf1765feb694a9715ff322b7c55f468980e89ba0d87b8",
    "paraphrase.tsv": "8a9286e82b9bb5ddf561141322f23524c6680ad2e67ce2ce54eb57378cb19e96",
    "entailment.tsv": "fca8ab691f700c3bbc514f5939c04226eb20065a4624dd3e979fd8f0960044d5",
}
"""SHA-256 of the files, uncompressed. A change of the documents or a task needs another `embedded.EMBEDDED_VERSION`."""


@pytest.mark.parametrize("name", CONTENT)
def test_the_text_is_the_one_that_the_records_are_of(name: str) -> None:
    content = bz2.decompress(resources.files(data).joinpath(f"{name}.bz2").read_bytes())
    assert hashlib.sha256(content).hexdigest() == CONTENT[name]


@pytest.mark.slow
def test_the_prepared_text_is_that_of_the_committed_records(tmp_path: Path) -> None:
    records = packed.recorded(ROOT / "results" / "quick-record")
    run = next(path for path in records if path.parent.parent.name == "translation")
    recorded = json.loads(packed.read_bytes(run))["corpus"]
    corpus = EmbeddedCorpus.model_validate(recorded["settings"])
    prepare.prepare_text(corpus, tmp_path, tmp_path / "text", processes=1)
    assert json.loads((tmp_path / "text" / "corpus.json").read_text())["parts"] == recorded["parts"]


def test_the_seed_of_a_task_splits_it(tmp_path: Path) -> None:
    first, again, other = (read(EmbeddedTask(source="embedded", seed=seed), tmp_path) for seed in (1, 1, 2))
    assert first == again and first["dev"] != other["dev"]
    assert sorted(first["train"] + first["dev"]) == sorted(other["train"] + other["dev"])


@pytest.mark.parametrize(
    ("kind", "content", "is_of_a_version"),
    [
        (Corpus, {"source": "embedded"}, False),
        (TextSource, {"source": "embedded"}, True),
        (TextSource, {"source": "wikipedia", "date": "20260101"}, True),
        (Task, {"source": "embedded"}, True),
    ],
    ids=["pairs", "documents", "articles", "task"],
)
def test_what_is_read_in_another_version_is_another_text_and_the_study_is_written_as_before(
    kind: Any, content: dict[str, str], is_of_a_version: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = TypeAdapter(kind).validate_python(content)
    before, written = section.identity, section.model_dump()
    for version in ("embedded.EMBEDDED_VERSION", "pretraining_texts.WIKIPEDIA_VERSION"):
        monkeypatch.setattr(f"preln.config.{version}", 1000)
    assert (section.identity != before) is is_of_a_version
    assert section.model_dump() == written
