"""A record is current by what it says, and not by its age."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from preln.records.files import write_json
from preln.records.record import checksums, is_current, is_of_text

IDENTITY = {"width": 16, "depths": (1, 2)}
PARALLEL = {
    "parts": {"train": {"files": {"train.de": {"sha256": "a"}}}, "test": {"files": {"test.de": {"sha256": "b"}}}}
}
ENGLISH = {"sha256": {"train.txt": "a", "valid.txt": "b"}}


@pytest.fixture
def outputs(tmp_path: Path) -> list[Path]:
    """The records of a job that has the identity."""
    write_json(tmp_path / "run.json", {"identity": IDENTITY})
    (tmp_path / "metrics.json").write_text("{}")
    return [tmp_path / "run.json", tmp_path / "metrics.json"]


def test_a_record_of_the_same_identity_is_current(outputs: list[Path]) -> None:
    assert is_current(outputs, IDENTITY)


@pytest.mark.parametrize("identity", [{}, {**IDENTITY, "width": 32}, {**IDENTITY, "heads": 2}], ids=str)
def test_a_record_of_another_identity_is_not(identity: dict[str, Any], outputs: list[Path]) -> None:
    assert not is_current(outputs, identity)


@pytest.mark.parametrize("number", [0, 1])
def test_a_record_that_is_not_whole_is_not(number: int, outputs: list[Path]) -> None:
    outputs[number].unlink()
    assert not is_current(outputs, IDENTITY)


@pytest.mark.parametrize("content", ["", "[1]", '{"identity": '])
def test_a_damaged_record_is_not(content: str, outputs: list[Path]) -> None:
    outputs[0].write_text(content)
    assert not is_current(outputs, IDENTITY)


def test_the_checksums_of_a_text_are_those_of_its_files() -> None:
    assert checksums(PARALLEL) == {"train.de": "a", "test.de": "b"}
    assert checksums(ENGLISH) == {"train.txt": "a", "valid.txt": "b"}


@pytest.mark.parametrize(("key", "text"), [("corpus", PARALLEL), ("text", ENGLISH)])
def test_a_training_is_of_the_text_whose_files_it_had(key: str, text: dict[str, Any], tmp_path: Path) -> None:
    run, prepared, source = (tmp_path / name for name in ("run.json", "text.json", "source.txt"))
    source.write_text("as it is")
    write_json(run, {key: text})
    assert not is_of_text(run, prepared, [source]), "it is not prepared"

    write_json(prepared, text)
    os.utime(source, (0, 0))
    assert is_of_text(run, prepared, [source])

    os.utime(source)
    os.utime(prepared, (0, 0))
    assert not is_of_text(run, prepared, [source]), "it is to be prepared again"

    write_json(prepared, {"sha256": {"train.txt": "another"}})
    os.utime(source, (0, 0))
    assert not is_of_text(run, prepared, [source]), "it is another"
