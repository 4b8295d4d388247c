"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from preln.files import replaced, replaced_folder, write_json, write_text


def test_a_file_takes_the_place_of_the_old_one_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    write_text(path, "old")
    write_text(path, "new")
    assert path.read_text() == "new"
    assert [entry.name for entry in path.parent.iterdir()] == ["a.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(OSError), replaced(path) as partial:
        partial.write_text("half")
        raise OSError
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_a_failure_leaves_the_old_folder(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    with replaced_folder(path) as partial:
        (partial / "a").touch()
    with pytest.raises(OSError), replaced_folder(path) as partial:
        (partial / "b").touch()
        raise OSError
    assert [entry.name for entry in tmp_path.rglob("*")] == ["folder", "a"]


def test_json_keeps_umlauts_readable(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"ä": 1})
    assert "ä" in (tmp_path / "a.json").read_text(encoding="utf-8")
