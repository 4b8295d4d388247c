"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from preln.files import append_json, read_json_lines, replaced, replaced_folder, write_json, write_text


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


def test_lines_that_were_appended_are_read_back(tmp_path: Path) -> None:
    for number in range(3):
        append_json(tmp_path / "lines", {"number": number})
    assert read_json_lines(tmp_path / "lines") == [{"number": 0}, {"number": 1}, {"number": 2}]


def test_a_line_that_was_cut_off_takes_no_other_with_it(tmp_path: Path) -> None:
    append_json(tmp_path / "lines", {"number": 0})
    with open(tmp_path / "lines", "a", encoding="utf-8") as file:
        file.write('{"numb')
    append_json(tmp_path / "lines", {"number": 1})
    assert read_json_lines(tmp_path / "lines") == [{"number": 0}, {"number": 1}]


def test_no_file_has_no_lines(tmp_path: Path) -> None:
    assert read_json_lines(tmp_path / "lines") == []
