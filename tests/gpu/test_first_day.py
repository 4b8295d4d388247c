"""`make gpu`, tried out on a CPU with tiny models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import gpu
from tests.conftest import MakeOnce

pytestmark = pytest.mark.slow

PARTS = gpu.parts("cpu")


@pytest.fixture(scope="session")
def done(make_once: MakeOnce) -> Path:
    """The folder of a first day."""
    return make_once("a first day with a GPU", lambda folder: gpu.go_on("cpu", folder))


@pytest.mark.parametrize("name", PARTS)
def test_each_part_writes_down_what_it_found_and_on_what(name: str, done: Path) -> None:
    known = json.loads((done / f"{name}.json").read_text())
    assert "failed" not in known, (done / f"{name}.log").read_text()[-3000:]
    assert {"found", "seconds", "hardware", "versions", "commit"} <= known.keys()


def test_the_page_tells_of_every_part(done: Path) -> None:
    page = (done / "README.md").read_text()
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == list(PARTS)
    assert "Not done" not in page


def test_what_is_done_is_not_done_again_and_what_failed_is(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PARTS:
        (tmp_path / f"{name}.json").write_text((done / f"{name}.json").read_text())
    (tmp_path / "waits.json").write_text(json.dumps({"failed": "the machine went away"}))
    (tmp_path / "profile-tiny.json").unlink()
    tried: list[str] = []

    def fail(device: str, out: Path, name: str, limit: float) -> str:
        tried.append(name)
        return "no time"

    monkeypatch.setattr(gpu, "_in_process", fail)
    assert gpu.go_on("cpu", tmp_path) == ["waits", "profile-tiny"]
    assert tried == ["waits", "profile-tiny"]
    assert (tmp_path / "README.md").read_text().count("Not done: no time.") == 2


def test_a_part_that_takes_too_long_is_ended_and_says_so(tmp_path: Path) -> None:
    assert "took more than 0.1 seconds" in gpu._in_process("cpu", tmp_path, "waits", 0.1)
