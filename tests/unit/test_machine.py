"""GPUs that several computations share: each has its own, with real processes and GPUs that are none."""

import os
import stat
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from preln.config import Execution
from preln.errors import PrelnError
from preln.training import machine
from preln.training.machine import claim, shown_gpus

pytestmark = pytest.mark.slow

# Claims GPUs and says what torch is shown then; until its input ends, it has them.
HOLDER = """
import os, sys
from pathlib import Path
from preln.training import machine
from preln.config import Execution
machine.LOCKS, machine.LOOK_SECONDS = Path(sys.argv[1]), 0.02
machine.claim(Execution(gpus=int(sys.argv[2]), runs_a_gpu=int(sys.argv[3])))
print(os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
sys.stdin.read()
"""

# The part of torch that is asked for GPUs, on a machine with those in GPUS, in CUDA_VISIBLE_DEVICES' order.
TORCH = """
import os
from types import SimpleNamespace

GPUS = os.environ["GPUS"].split()
VISIBLE = os.environ.get("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(len(GPUS)))))
SHOWN = [next((gpu for gpu in GPUS if name == f"GPU-{gpu}"), None) or GPUS[int(name)] for name in VISIBLE.split(",")]
cuda = SimpleNamespace(
    device_count=lambda: len(SHOWN), get_device_properties=lambda number: SimpleNamespace(uuid=SHOWN[number])
)
"""


@dataclass(frozen=True)
class Machine:
    """A machine with GPUs that are none."""

    folder: Path
    gpus: list[str]
    processes: list[subprocess.Popen[str]]

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(self.folder / "packages"), os.environ.get("PYTHONPATH", "")])
        clean = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
        return {**clean, "PYTHONPATH": path, "GPUS": " ".join(self.gpus)}

    def start(self, gpus: int = 1, runs: int = 1, **environment: str) -> subprocess.Popen[str]:
        """Start a process that claims so many GPUs, which it shares so that each has so many runs."""
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(self.folder), str(gpus), str(runs)],
            env={**self.environment, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.processes.append(process)
        return process

    def started(self, gpus: int = 1, runs: int = 1, **environment: str) -> tuple[subprocess.Popen[str], str]:
        """Such a process, and the GPUs that it has."""
        process = self.start(gpus, runs, **environment)
        return process, next_line(process)


def next_line(process: subprocess.Popen[str]) -> str:
    """The next line of a process: that it waits for GPUs, or those that it has, as CUDA_VISIBLE_DEVICES."""
    assert process.stdout
    return process.stdout.readline().strip()


NewMachine = Callable[[int], Machine]
WAITS = "waiting for {} of {} GPU(s), which other processes have locked: "


@pytest.fixture
def with_gpus(tmp_path: Path) -> Iterator[NewMachine]:
    processes: list[subprocess.Popen[str]] = []

    def built(number: int) -> Machine:
        (tmp_path / "packages").mkdir()
        (tmp_path / "packages" / "torch.py").write_text(TORCH, encoding="utf-8")
        return Machine(tmp_path, [str(uuid.uuid4()) for _ in range(number)], processes)

    yield built
    for process in processes:
        with process:
            process.kill()


def test_a_process_that_finds_all_gpus_taken_says_so_once_and_waits_until_one_is_killed(with_gpus: NewMachine) -> None:
    two = with_gpus(2)
    (first, _), (second, gpu) = two.started(), two.started()
    third = two.start()
    files = [str(two.folder / f"preln-gpu-{gpu}-*.lock") for gpu in two.gpus]
    assert next_line(third) == WAITS.format(1, 2) + ", ".join(files)
    second.kill()
    assert next_line(third) == gpu
    first.communicate()
    assert third.communicate()[0] == ""


def test_processes_that_want_several_gpus_have_all_of_them_or_none(with_gpus: NewMachine) -> None:
    three = with_gpus(3)
    (first, pair), (_, third_gpu) = three.started(2), three.started(1)
    assert (pair, third_gpu) == ("0,1", "2")
    second = three.start(2)
    assert next_line(second).startswith(WAITS.format(2, 3))
    # While it waits it holds none, not even the one that is free now.
    three.processes[1].communicate()
    assert three.started(1)[1] == "2"
    first.communicate()
    assert next_line(second) == "0,1"


def test_no_two_processes_wait_for_each_others_gpus(with_gpus: NewMachine) -> None:
    three = with_gpus(3)
    for process in [three.start(gpus) for gpus in (3, 2, 2, 3, 1, 2)]:
        assert process.stdin
        # It ends as soon as it has had its own.
        process.stdin.close()
    assert [process.wait() for process in three.processes] == [0] * 6


def test_runs_that_share_gpus_fill_one_after_the_other(with_gpus: NewMachine) -> None:
    two = with_gpus(2)
    assert [two.started(runs=3)[1] for _ in range(4)] == ["0", "0", "0", "1"]


def test_a_run_that_shares_no_gpu_waits_until_a_whole_one_is_free(with_gpus: NewMachine) -> None:
    single = with_gpus(1)
    (first, _), (second, _) = single.started(runs=4), single.started(runs=4)
    alone = single.start()
    assert next_line(alone).startswith(WAITS.format(1, 1))
    # It holds no part while it waits.
    third, gpu = single.started(runs=2)
    assert gpu == "0"
    for process in (first, second, third):
        process.communicate()
    assert next_line(alone) == "0"
    fourth = single.start(runs=4)
    assert next_line(fourth).startswith(WAITS.format(1, 1))


def test_gpus_that_cuda_does_not_show_are_left_alone_and_each_is_one_by_any_name(with_gpus: NewMachine) -> None:
    four = with_gpus(4)
    names = [f"GPU-{gpu}" for gpu in four.gpus]
    assert four.started(CUDA_VISIBLE_DEVICES=f"{names[3]},{names[1]}")[1] == names[3]
    assert four.started(CUDA_VISIBLE_DEVICES="3,1")[1] == "1"
    assert four.started(CUDA_VISIBLE_DEVICES=f"{names[1]},{names[3]},{names[2]}")[1] == names[2]


def test_a_lock_is_every_users(with_gpus: NewMachine) -> None:
    single = with_gpus(1)
    before = os.umask(0o077)
    try:
        single.started()
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in single.folder.glob("*.lock")}
    parts = {f"preln-gpu-{single.gpus[0]}-{part}.lock": 0o666 for part in range(machine.PARTS)}
    assert modes == {**parts, "preln-gpus.lock": 0o666}


def test_without_gpus_nothing_is_claimed_and_cuda_not_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "LOCKS", tmp_path)
    monkeypatch.setattr(machine, "shown_gpus", lambda: pytest.fail("asked"))
    claim(Execution())
    assert not list(tmp_path.iterdir())


def test_locks_that_cannot_be_made_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "LOCKS", tmp_path / "file" / "folder")
    monkeypatch.setattr(machine, "shown_gpus", lambda: ["a-gpu"])
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(PrelnError, match="file.*: cannot be locked .*: have its owner delete it"):
        claim(Execution(gpus=1))


def test_on_several_nodes_the_gpus_are_slurms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "LOCKS", tmp_path)
    monkeypatch.setattr(machine, "shown_gpus", lambda: ["one", "other"])
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    claim(Execution(gpus=4, nodes=2))
    assert not list(tmp_path.iterdir())
    with pytest.raises(PrelnError, match=r"asks for 6 GPU\(s\) .* on 2 node\(s\), and this one shows 2"):
        claim(Execution(gpus=6, nodes=2))
    monkeypatch.delenv("SLURM_JOB_ID")
    with pytest.raises(PrelnError, match=r"asks for 3 nodes .* and this is no Slurm job"):
        claim(Execution(processes=9, nodes=3))


def test_a_cuda_that_fails_is_told_in_its_own_words(with_gpus: NewMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = with_gpus(1)
    monkeypatch.setenv("PYTHONPATH", broken.environment["PYTHONPATH"])
    (broken.folder / "packages" / "torch.py").write_text("raise RuntimeError('too old')")
    with pytest.raises(PrelnError, match="torch cannot list the GPUs: RuntimeError: too old;"):
        shown_gpus()


def test_modules_of_the_working_folder_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit('a module of the working folder')\n")
    monkeypatch.chdir(tmp_path)
    shown_gpus()
