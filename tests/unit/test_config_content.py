"""A text is known by its checksum, which is kept while its files are as they were."""

from pathlib import Path

import pytest

from preln.config import base
from preln.config.base import content_of
from preln.records.files import sha256


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which every text is a long one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(base, "LONG_TEXT", 1)
    return tmp_path


def test_another_process_reads_the_checksum_of_a_long_text_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = folder / "text.txt"
    text.write_text("one\n", encoding="utf-8")
    expected = sha256(text)
    assert content_of(text) == expected
    base._checksum.cache_clear()
    monkeypatch.setattr(base, "sha256", lambda path: "read again")
    assert content_of(text) == expected
    text.write_text("another\n", encoding="utf-8")
    assert content_of(text) == "read again"


def test_a_file_that_changed_below_a_folder_is_another_text(folder: Path) -> None:
    text = folder / "texts" / "below" / "text.txt"
    text.parent.mkdir(parents=True)
    text.write_text("one\n", encoding="utf-8")
    before = content_of(folder / "texts")
    text.write_text("another\n", encoding="utf-8")
    assert content_of(folder / "texts") != before
