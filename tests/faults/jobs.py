"""Commands as processes that can be killed. Those of `preln` are copies of a process that has imported everything, so
that a job takes a second and not ten; others are started as a shell would."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

PRELN = "preln"
"""The first word of the commands that are such copies."""

SHELL = "sh"
"""The first word of a command of several processes, which are killed together."""

LONGEST_SECONDS = 300.0
"""A net for what hangs; on an idle core no job takes more than twenty."""

MOST_MEMORY = 8 << 30
"""Bytes that a job may ask for: one that reads a file without an end must not take the machine's."""

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
        "preln.translation.report.tables",
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
        self._code: Callable[[], int | None]
        self._deadline = time.monotonic() + LONGEST_SECONDS
        self._drain: threading.Thread | None = None
        output.touch()
        circumstances = circumstances or Circumstances()
        if command[0] == PRELN:
            if circumstances.largest_file is not None:
                # The limit on files must not apply to the output.
                output = output.with_suffix(".pipe")
                os.mkfifo(output)
                self._drain = threading.Thread(target=_copy_pipe, args=(output, self.output), daemon=True)
                self._drain.start()
            process = _CONTEXT.Process(target=_preln, args=(list(command), folder, output, circumstances))
            with _LOCK:
                process.start()
            self._code = lambda: process.exitcode
            assert process.pid is not None
            self.number = process.pid
        else:
            started = _shell(command, folder, output)
            self._code = started.poll
            self.number = started.pid

    @property
    def code(self) -> int | None:
        """Its return code, or minus the signal that killed it; None while it is running.

        Raises:
            Hung: if it has run for too long, when it is killed.
        """
        with _LOCK:
            code = self._code()
        if code is None and time.monotonic() > self._deadline:
            self.send(signal.SIGKILL, to_its_children=True)
            raise Hung
        return code

    def send(self, number: int, to_its_children: bool = False) -> None:
        """Send it a signal, unless it has ended."""
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if to_its_children else os.kill)(self.number, number)

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


def _shell(command: Sequence[str], folder: Path, output: Path) -> subprocess.Popen[bytes]:
    # The copy of the code that a workflow is run in is its own.
    code = folder / "src"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **({"PYTHONPATH": str(code)} if code.exists() else {}),
    }
    with open(output, "ab") as file:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=file, stderr=file, start_new_session=True)


def _preln(command: list[str], folder: Path, output: Path, circumstances: Circumstances) -> None:
    """Be the command: its words, its folder, its output, a session of its own."""
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
    sys.argv = command
    from preln.commands.cli import main

    main()


def leave_partial(path: Path, process: int) -> None:
    """Leave beside a file or a folder what a process of the number would have of it when it is killed."""
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
