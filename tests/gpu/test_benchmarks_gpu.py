"""`make gpu`, rehearsed on a CPU with tiny models."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks import gpu
from tests import forks
from tests.conftest import MakeOnce

PARTS = gpu.parts("cpu")


@pytest.fixture(scope="session")
def done(make_once: MakeOnce) -> Path:
    """The folder of a first day. Each part, and each side that is timed, is a process, which would import torch."""

    def fill(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "executable", str(forks.binaries() / forks.MODULES))
            # One of them runs pytest, which would rewrite some of what is imported.
            patch.setenv("PYTEST_ADDOPTS", "-W ignore::pytest.PytestAssertRewriteWarning")
            gpu.go_on("cpu", folder)

    return make_once("a first day with a GPU", fill)


@pytest.mark.parametrize("name", PARTS)
def test_each_part_writes_its_results_and_their_origin(name: str, done: Path) -> None:
    assert (done / f"{name}.json").exists(), (done / f"{name}.log").read_text()[-3000:]
    written = json.loads((done / f"{name}.json").read_text())
    assert written.keys() >= {"results", "seconds", "hardware", "versions", "commit"}


def test_a_part_that_has_results_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = ["waits", "profile-tiny"]
    for name in PARTS.keys() - left:
        (tmp_path / f"{name}.json").touch()
    monkeypatch.setattr(gpu, "_in_process", lambda *part: "no time")
    assert gpu.go_on("cpu", tmp_path) == left


def test_a_part_that_takes_too_long_is_ended_and_says_so(tmp_path: Path) -> None:
    assert "took more than 0.1 seconds" in gpu._in_process("cpu", tmp_path, "waits", 0.1)
