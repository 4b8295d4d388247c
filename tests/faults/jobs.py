"""Commands of `preln` as processes that can be killed: copies of a process that has imported everything, so that a job
takes a second and not ten."""

import contextlib
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

LONGEST_SECONDS = 300.0
"""The time after which a job hangs; on an idle core none takes more than twenty."""

MOST_MEMORY = 8 << 30
"""Bytes that a job may allocate: one that reads a file without end must not take the machine's."""

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "preln.commands.cli",
        "preln.fairseq_plugin.launch",
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


class Hung(Exception):
    """A job that did not end."""


@dataclass(frozen=True)
class Circumstances:
    """The circumstances of a job.

    Attributes:
        leftovers: files and folders with partial ones beside them, left by an earlier process with the job's PID.
        largest_file: bytes in the largest file that it may write; None for no limit.
    """

    leftovers: tuple[str, ...] = ()
    largest_file: int | None = None


class Job:
    """A command running in a folder, with its output in the file `output`."""

    def __init__(
        self, command: Sequence[str], folder: Path, output: Path, circumstances: Circumstances | None = None
    ) -> None:
        self.output = output
        self._deadline = time.monotonic() + LONGEST_SECONDS
        self._drain: threading.Thread | None = None
        output.touch()
        circumstances = circumstances or Circumstances()
        if circumstances.largest_file is not None:
            # The limit on files must not apply to the output.
            output = output.with_suffix(".pipe")
            os.mkfifo(output)
            self._drain = threading.Thread(target=_copy_pipe, args=(output, self.output), daemon=True)
            self._drain.start()
        self._process = _CONTEXT.Process(target=_preln, args=(list(command), folder, output, circumstances))
        with _LOCK:
            self._process.start()

    @property
    def code(self) -> int | None:
        """Its return code, or minus the signal that killed it; None while it is running.

        Raises:
            Hung: if it has run for too long; it is killed then.
        """
        with _LOCK:
            code = self._process.exitcode
        if code is None and time.monotonic() > self._deadline:
            self.send(signal.SIGKILL)
            raise Hung
        return code

    def send(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        assert self._process.pid is not None
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def wait(self) -> int:
        """Wait for its end.

        Raises:
            Hung: as `code`.
        """
        while (code := self.code) is None:
            time.sleep(0.01)
        return code

    def text(self) -> str:
        """Its output so far."""
        if self._drain:
            self._drain.join()
        return self.output.read_text(encoding="utf-8", errors="replace")


def _copy_pipe(pipe: Path, to: Path) -> None:
    with open(pipe, "rb") as source, open(to, "wb") as target:
        shutil.copyfileobj(source, target)


def _preln(command: list[str], folder: Path, output: Path, circumstances: Circumstances) -> None:
    """Run a command of `preln` in this process, in a session of its own."""
    os.setsid()
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, sys.stdout.fileno())
    os.dup2(file, sys.stderr.fileno())
    for path in map(Path, circumstances.leftovers):
        leave_partial(path, os.getpid())
    if (most := circumstances.largest_file) is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
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


def copy(folder: Path, to: Path) -> None:
    """Copy a folder into another, links as links."""
    shutil.copytree(folder, to, symlinks=True, dirs_exist_ok=True)
