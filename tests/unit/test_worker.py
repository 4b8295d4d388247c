"""A process of several that train a run together, as it begins."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from preln.fairseq_plugin.interruption import Interruption
from preln.fairseq_plugin.worker import STARTED_BY
from preln.training.interruption import SIGNALS
from tests.moments import PATIENCE, wait


def catches(process: int, number: int) -> bool:
    """True if a process has a handler for a signal."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    return bool(int(status["SigCgt"], 16) >> (number - 1) & 1)


def reads(fifo: Path) -> bool:
    """True if a process reads the pipe, which is empty."""
    try:
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which signals a process catches")
def test_a_worker_that_is_told_to_stop_before_it_trains_does_not_die_of_it(tmp_path: Path) -> None:
    os.mkfifo(assignment := tmp_path / "assignment.json")
    command = [sys.executable, "-m", "preln.fairseq_plugin.worker", str(assignment)]
    worker = subprocess.Popen(command, env={**os.environ, "RANK": "0"}, stderr=subprocess.PIPE, text=True)
    wait(lambda: all(catches(worker.pid, stop) for stop in SIGNALS))
    for number in SIGNALS:
        worker.send_signal(number)
    wait(lambda: worker.poll() is not None or reads(assignment))
    assert "JSONDecodeError" in worker.communicate(timeout=PATIENCE)[1]


def test_a_worker_whose_parent_died_before_it_began_ends(tmp_path: Path) -> None:
    (parent := subprocess.Popen([sys.executable, "-c", ""])).wait()
    os.mkfifo(assignment := tmp_path / "assignment.json")
    command = [sys.executable, "-m", "preln.fairseq_plugin.worker", str(assignment)]
    worker = subprocess.Popen(command, env={**os.environ, "RANK": "0", STARTED_BY: str(parent.pid)})
    # Otherwise it would wait for its assignment, of which nothing comes.
    assert worker.wait(PATIENCE) == 1


def test_what_was_told_before_a_training_is_heeded_in_it_and_not_in_the_next() -> None:
    own = Interruption()
    own.request(signal.SIGUSR1, None)
    with own.heeded(object()):
        assert own.requested
    with own.heeded(object()):
        assert not own.requested
