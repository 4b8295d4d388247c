"""Commands of `preln` as processes that can be killed: copies of a process that has imported everything, so that a job
takes a second and not ten."""

import contextlib
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tqdm import tqdm

LOOK_SECONDS = 0.002

LONGEST_SECONDS = 300.0
"""The time after which a job hangs; on an idle core none takes more than twenty."""

MOST_MEMORY = 8 << 30
"""Bytes that a job may allocate: one that reads a file without end must not take the machine's."""

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "preln.commands.cli",
        "preln.fairseq_plugin.translation",
        "preln.fairseq_plugin.probe",
        "preln.fairseq_plugin.masked_lm",
        "preln.fairseq_plugin.sentence_prediction",
        "preln.theory.measuring",
        "preln.corpora.prepare",
        "preln.corpora.english.prepare",
        "preln.corpora.tasks",
        "preln.translation.report.runs",
        "preln.pretraining.report.tables",
        "sacremoses",
        "spacy.lang.en",
        "torch._dynamo",
    ]
)
_LOCK = threading.Lock()
"""Guards multiprocessing's list of processes, which is not thread-safe."""


class Wrong(Exception):
    """A traceback, other numbers, a process that hangs, or foreign code that is executed; the message says which."""


class Job:
    """A command running in a folder, with its output in the file `output`. Beside its `leftovers`, files and folders,
    are partial ones of an earlier process with its PID."""

    def __init__(self, command: Sequence[str], folder: Path, output: Path, leftovers: Sequence[str] = ()) -> None:
        self.output = output
        self._deadline = time.monotonic() + LONGEST_SECONDS
        output.touch()
        self._process = _CONTEXT.Process(target=_preln, args=(command, folder, output, leftovers))
        with _LOCK:
            self._process.start()

    @property
    def code(self) -> int | None:
        """Its return code, or minus the signal that killed it; None while it is running, but not for too long."""
        with _LOCK:
            code = self._process.exitcode
        if code is None and time.monotonic() > self._deadline:
            self.send(signal.SIGKILL)
            raise Wrong("it hangs")
        return code

    def send(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        assert self._process.pid is not None
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def wait(self, moment: Callable[[], bool] = lambda: False) -> int | None:
        """Wait for its end, or for a moment before it; returns its code."""
        while (code := self.code) is None and not moment():
            time.sleep(LOOK_SECONDS)
        return code

    def text(self) -> str:
        """Its output so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")


def _preln(command: Sequence[str], folder: Path, output: Path, leftovers: Sequence[str]) -> None:
    """Run a command of `preln` in this process, in a session of its own."""
    os.setsid()
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, sys.stdout.fileno())
    os.dup2(file, sys.stderr.fileno())
    for path in map(Path, leftovers):
        leave_partial(path, os.getpid())
    # Its lock is the machine's, and a kill would leave it behind.
    tqdm.set_lock(threading.RLock())
    sys.argv = ["preln", *command]
    from preln.commands.cli import main

    main()


def leave_partial(path: Path, process: int) -> None:
    """Leave beside a file or folder what a process with this PID leaves of it when it is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix:
        path.with_name(f".{path.stem}.{process}{path.suffix}").write_bytes(b"half")
    else:
        partial = path.with_name(f".{path.name}.{process}")
        partial.mkdir()
        (partial / "half").write_bytes(b"half")
