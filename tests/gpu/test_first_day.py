"""`make gpu`, tried out with tiny models: on a CPU, and on a fake GPU as far as that goes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gpu
from benchmarks.interleaved import ROOT
from tests.conftest import MakeOnce
from tests.gpu.first_day_on_a_fake import SIZES

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


def test_steps_are_timed_on_a_gpu_in_each_precision_beside_stock_fairseq_in_fp16(library: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "tests.gpu.first_day_on_a_fake", str(library), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    for size in SIZES:
        result = json.loads((tmp_path / f"speed-{size}.json").read_text())
        assert result["baseline"] == "stock fairseq, fp16"
        assert [row["precision"] for row in result["rows"]] == ["bf16", "fp16", "fp32"]
        assert all(row["ratio"] > 0 and row["share_of_peak"] > 0 for row in result["rows"])


@pytest.mark.parametrize(("size", "goal"), [("B", 3.0), ("base", 2.5), ("bert-base", 1.4)])
@pytest.mark.parametrize(("short_of_it", "said"), [(0.0, "reached"), (0.01, "**not reached**")])
def test_the_page_holds_the_fastest_precision_against_the_goal(
    size: str, goal: float, short_of_it: float, said: str
) -> None:
    assert gpu.FASTER[size] == goal
    row: dict[str, Any] = {"low": 1.0, "high": 9.0, "tokens_per_second": 1.0, "tflops": 1.0, "share_of_peak": 0.1}
    rows = [{**row, "precision": "bf16", "ratio": goal - short_of_it}, {**row, "precision": "fp32", "ratio": 1.0}]
    lines = gpu._of_speed({"baseline": "stock fairseq, fp16", "goal": goal, "rows": rows})
    assert lines[-1] == f"The goal is {goal} times in the fastest precision: {said}."


@pytest.mark.parametrize(("bleu", "said"), [(10.0, "10.0% of an epoch"), (10.1, "10.1% of an epoch")])
def test_the_page_says_what_share_of_an_epoch_bleu_takes_and_holds_it_against_a_tenth(bleu: float, said: str) -> None:
    (line,) = gpu._of_bleu({"training": 100.0 - bleu, "bleu": bleu, "sentences": 2200})
    assert said in line
    assert ("at most 10%: reached" in line) == (bleu <= 10.0)
    assert ("at most 10%: **not reached**" in line) == (bleu > 10.0)
