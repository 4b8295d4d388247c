"""Files appear whole or not at all, and what numbers depend on is noticed when it is damaged."""

import errno
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.errors import PrelnError
from preln.records.files import (
    _EVERYDAY,
    FAILED,
    UNWRITTEN,
    Damaged,
    append_json,
    manifest,
    mend_lines,
    not_written,
    read_json_lines,
    read_sealed,
    replaced,
    replaced_folder,
    write_json_lines,
    write_sealed,
    write_text,
)
from tests.refused import refused


def test_a_file_takes_the_place_of_the_old_one_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    for text in ("old", "new"):
        write_text(path, text)
        assert path.read_text() == text
    with pytest.raises(OSError), replaced(path) as partial:
        partial.write_text("half")
        raise OSError
    assert path.read_text() == "new"
    assert [entry.name for entry in path.parent.iterdir()] == ["a.txt"]


def test_a_failure_leaves_the_old_folder(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    with replaced_folder(path) as partial:
        (partial / "a").touch()
    with pytest.raises(OSError), replaced_folder(path) as partial:
        (partial / "b").touch()
        raise OSError
    assert sorted(entry.name for entry in tmp_path.rglob("*")) == ["a", "folder", "manifest.json"]


@pytest.mark.parametrize("is_new", [True, False])
def test_a_folder_knows_the_checksum_of_each_of_its_files(is_new: bool, tmp_path: Path) -> None:
    with replaced_folder(tmp_path / "text", is_new=is_new) as partial:
        (partial / "inner").mkdir()
        (partial / "inner" / "a").write_bytes(b"a")
    assert sorted(entry.name for entry in tmp_path.rglob("*")) == ["a", "inner", "manifest.json", "text"]
    assert manifest(tmp_path / "text") == {"inner/a": hashlib.sha256(b"a").hexdigest()}
    (tmp_path / "text" / "manifest.json").write_bytes(b"")
    assert manifest(tmp_path / "text") is None


def test_a_new_folder_takes_the_place_of_nothing_even_if_it_appears_meanwhile(tmp_path: Path) -> None:
    folder, file = tmp_path / "folder", tmp_path / "file"
    with (
        refused(PrelnError, str(folder), "is there already", "name a new folder"),
        replaced_folder(folder, is_new=True),
    ):
        write_text(folder / "a.txt", "of another")
    with refused(PrelnError, str(file), "is there already", "name a new folder"), replaced_folder(file, is_new=True):
        file.write_text("of another")
    assert sorted(entry.name for entry in tmp_path.rglob("*")) == ["a.txt", "file", "folder"]


RECORD = [{"epoch": epoch, "loss": 7.25 / epoch, "text": "ä"} for epoch in (1, 2, 3)]


def record(folder: Path) -> Path:
    write_json_lines(folder / "lines", RECORD)
    return folder / "lines"


@given(st.data())
def test_a_flipped_bit_of_a_record_is_noticed_wherever_it_changes_what_it_says(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = record(Path(folder))
        whole = path.read_bytes()
        position = data.draw(st.integers(0, 8 * len(whole) - 1))
        path.write_bytes(flipped(whole, position))
        entries = read_json_lines(path)
        assert entries == [entry for entry in RECORD if entry in entries], "nothing is made up"
        # Nobody can tell what the last line ended with; it counts as cut off.
        assert entries == RECORD or mend_lines(path) or position >= 8 * (len(whole) - 1)
        assert read_json_lines(path) == entries
        assert not mend_lines(path)


@given(st.integers(0, 400))
def test_a_record_that_is_cut_off_anywhere_loses_no_line_but_the_last_and_is_gone_on_with(length: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = record(Path(folder))
        whole = path.read_bytes()
        path.write_bytes(whole[:length])
        expected = RECORD[: (whole[:length] + b"\n").count(b'"}\n')]
        assert read_json_lines(path) == expected
        assert not mend_lines(path)
        append_json(path, {"epoch": 9})
        assert read_json_lines(path) == [*expected, {"epoch": 9}]
        assert not mend_lines(path)


@pytest.mark.parametrize("line", [b"5", b"null", b"[]", b"{}", b'{"epoch": 4}', b"\xff", b"", b"[" * 10_000])
def test_a_line_that_is_no_entry_of_a_record_is_noticed(line: bytes, tmp_path: Path) -> None:
    path = record(tmp_path)
    first, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([first, line + b"\n", *others]))
    assert mend_lines(path) == [2]
    assert read_json_lines(path) == RECORD
    assert line in (tmp_path / "lines.damaged").read_bytes()


@given(st.data())
def test_a_flipped_bit_of_a_sealed_file_is_noticed_or_changes_nothing(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mark.json"
        write_sealed(path, {"update": 12, "reason": "a gradient is not finite"})
        whole = path.read_bytes()
        path.write_bytes(flipped(whole, data.draw(st.integers(0, 8 * len(whole) - 1))))
        try:
            assert read_sealed(path) == {"update": 12, "reason": "a gradient is not finite"}
        except Damaged as error:
            assert str(error).startswith(f"{path}: damaged")


@pytest.mark.parametrize("content", [b"", b"5", b"null", b"{}", b"\xff", b'{"update": 12}'])
def test_a_sealed_file_with_other_content_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "mark.json").write_bytes(content)
    with pytest.raises(Damaged, match=r"mark\.json: damaged"):
        read_sealed(tmp_path / "mark.json")


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_what_a_killed_process_of_the_same_number_left_is_no_obstacle(tmp_path: Path) -> None:
    left = tmp_path / f".text.{os.getpid()}"
    left.mkdir()
    (left / "half").touch()
    (tmp_path / f".a.{os.getpid()}.json").write_text("half of a longer text")
    with replaced_folder(tmp_path / "text") as partial:
        (partial / "whole").touch()
    write_text(tmp_path / "a.json", "whole")
    assert sorted(entry.name for entry in tmp_path.rglob("*")) == ["a.json", "manifest.json", "text", "whole"]
    assert (tmp_path / "a.json").read_text() == "whole"


def test_what_is_renamed_into_place_is_on_the_disk_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    inodes: dict[int, str] = {}

    def noted(call: Callable[..., Any], said: Callable[..., str]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            done.append(said(*arguments))
            return call(*arguments)

        return wrapped

    def flush(descriptor: int) -> str:
        return f"flush {inodes.get(os.fstat(descriptor).st_ino, 'folder')}"

    monkeypatch.setattr(os, "fsync", noted(os.fsync, flush))
    for owner, name in ((os, "replace"), (Path, "rename")):
        monkeypatch.setattr(owner, name, noted(getattr(owner, name), lambda _, new: f"rename {Path(new).name}"))
    with replaced(tmp_path / "a") as partial:
        partial.touch()
        inodes[partial.stat().st_ino] = "a"
    assert done == ["flush a", "rename a", "flush folder"]
    done.clear()
    with replaced_folder(tmp_path / "text") as partial:
        (partial / "b").touch()
        inodes[(partial / "b").stat().st_ino] = "b"
    assert done.index("flush b") < done.index("rename text") == len(done) - 2
    done.clear()
    append_json(tmp_path / "lines", {"epoch": 1})
    assert done == ["flush folder", "flush folder"], "of the file, whose number is not known, and of its folder"


WORDS = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "quota is used up", errno.EROFS: "is read-only"}


SAID = {
    **{number: f"not written, for {what}" for number, what in UNWRITTEN.items()},
    **{number: f"{os.strerror(number)}: {what}" for number, what in FAILED.items()},
}


@pytest.mark.parametrize("number", SAID, ids=errno.errorcode.get)
def test_each_failure_of_the_file_system_is_said_with_the_file_and_what_to_do(number: int, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with pytest.raises(OSError) as raised, replaced(path):
        raise OSError(number, os.strerror(number))
    told = str(not_written(raised.value))
    assert WORDS.get(number, "") in told
    assert told.startswith(f"{path}: {SAID[number]} and run the same command")
    # One that a program deals with every day says nothing of the error after it.
    after = RuntimeError("unexpected pos 64 vs 0")
    after.__context__ = raised.value
    assert (not_written(after) is None) == (number in _EVERYDAY)
    assert not_written(ValueError("of something else")) is None


def test_a_disk_that_turned_read_only_is_said_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **_: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(OSError) as raised, replaced(tmp_path / "run.json"):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))
    assert str(not_written(raised.value)).startswith(f"{tmp_path / 'run.json'}: ")


OWNED = st.lists(st.tuples(st.sampled_from(["aaa", "bbb"]), st.integers()), max_size=8)


@given(OWNED)
def test_of_lines_those_of_another_state_are_refused_wherever_they_stand(lines: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.jsonl"
        for owner, number in lines:
            append_json(path, {"number": number}, owner)
        own = [{"number": number} for owner, number in lines if owner == "aaa"]
        assert read_json_lines(path, "aaa") == own
        assert mend_lines(path, "aaa") == [at for at, (owner, _) in enumerate(lines, start=1) if owner == "bbb"]
        assert read_json_lines(path, "aaa") == own
        assert read_json_lines(path, "bbb") == []


def test_lines_of_an_older_version_which_name_no_state_are_taken(tmp_path: Path) -> None:
    append_json(tmp_path / "record.jsonl", {"epoch": 1})
    append_json(tmp_path / "record.jsonl", {"epoch": 2}, "aaa")
    assert read_json_lines(tmp_path / "record.jsonl", "aaa") == [{"epoch": 1}, {"epoch": 2}]
    assert not mend_lines(tmp_path / "record.jsonl", "aaa")


def test_a_mark_is_read_back_as_json_has_it_and_that_of_another_state_is_refused(tmp_path: Path) -> None:
    write_sealed(tmp_path / "diverged.json", {"parts": {2: "two", 10: "ten"}}, "aaa")
    assert read_sealed(tmp_path / "diverged.json", "aaa") == {"parts": {"2": "two", "10": "ten"}}
    with refused(Damaged, str(tmp_path / "diverged.json"), "of another run"):
        read_sealed(tmp_path / "diverged.json", "bbb")


@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_failure_names_the_file_being_written(function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(OSError) as raised:
        write_text(tmp_path / "a.json", "text")
    assert str(not_written(raised.value)).startswith(f"{tmp_path / 'a.json'}: {os.strerror(errno.ESTALE)}")
