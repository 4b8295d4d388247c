"""The scene of a fault: a workspace, from its initial content to the check of its records."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.jobs import Job, Wrong
from tests.faults.subjects import RESULTS, Step, Subject, content, records

EXECUTED = "EXECUTED"
"""The file that foreign code makes if it is executed."""

LINE = "preln: "
"""The beginning of a refusal."""

HALF = 0.7
"""The share of its output that a command has written when it gets a signal to stop."""

_PATH = re.compile(r"[\w.+-]*/[\w./+-]*[\w+-]")
_PREPARE = re.compile(r"\bprepare .*\bagain\b")
_REMOVE = re.compile(r"\b(?:move|remove|delete) (\S+)")


class NotHere(Exception):
    """The fault cannot be made on this machine; the message says why."""


@dataclass(frozen=True)
class Undisturbed:
    """A subject without faults."""

    fresh: Path  # A workspace in which all commands but its own were run.
    half: Path  # One in which its command was stopped on its way; as `fresh` where it leaves nothing to continue from.
    done: Path  # One in which all were run.
    records: dict[str, Any]  # The records in `done`.
    growth: int  # Bytes that its folder and its output grow by.
    seconds: float  # The duration of its command.


class Workshop:
    """Undisturbed subjects, which are made in a folder when they are first needed; folders that are `prepared` already
    are given by the subject that prepares them."""

    def __init__(self, folder: Path, prepared: dict[Subject, dict[str, Path]] | None = None) -> None:
        self._folder = folder
        self._prepared = prepared or {}
        self._made: dict[Subject, Undisturbed] = {}

    def undisturbed(self, subject: Subject) -> Undisturbed:
        if subject not in self._made:
            self._made[subject] = self._make(subject)
        return self._made[subject]

    def _make(self, subject: Subject) -> Undisturbed:
        folder = self._folder / subject.name.replace(" ", "-")
        fresh, half, done = (folder / name for name in ("fresh", "half", "done"))
        (fresh / RESULTS).mkdir(parents=True)
        (fresh / RESULTS / "study.yaml").write_text(json.dumps(content()), encoding="utf-8")
        if subject in self._prepared:
            for name, stages in self._prepared[subject].items():
                copy(stages, fresh / name)
            return Undisturbed(fresh, fresh, fresh, records(fresh), 0, 0.0)
        for previous in subject.after:
            copy(self.undisturbed(previous).done, fresh)
        copy(fresh, done)
        size_before = size(done / subject.step.place)
        started = time.monotonic()
        job = Job(subject.step.command, done, folder / "output.txt")
        assert job.wait() == 0, job.text()
        seconds = time.monotonic() - started
        growth = size(done / subject.step.place) - size_before + size(job.output)
        copy(fresh, half)
        if subject.step.continues:
            wanted = size_before + HALF * growth
            job = Job(subject.step.command, half, folder / "stopped.txt")
            job.wait(lambda: size(half / subject.step.place) + size(job.output) >= wanted)
            job.send(signal.SIGTERM)
            job.wait()
        return Undisturbed(fresh, half, done, records(done), growth, seconds)


def size(path: Path) -> int:
    """Bytes of a file, or of a folder without weights, whose size does not tell how far a job is."""
    if path.is_file():
        return path.stat().st_size
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            if not name.endswith((".pt", ".tmp")):
                with suppress(FileNotFoundError):
                    total += os.lstat(os.path.join(folder, name)).st_size
    return total


def copy(folder: Path, to: Path) -> None:
    """Copy a folder into another, links as links."""
    shutil.copytree(folder, to, symlinks=True, dirs_exist_ok=True)


@dataclass
class Scene:
    """A workspace in which something goes wrong."""

    folder: Path  # The scene's folder, with the workspace and the jobs' outputs.
    subject: Subject  # The subject that is disturbed.
    undisturbed: Undisturbed  # The subject without faults.
    random: Random  # The source of random choices.
    another: Path | None = None  # A workspace of the same commands with another seed; None if none is needed.
    refusals: list[str] = field(default_factory=list)  # The lines by which jobs have refused to continue.
    _jobs: list[Job] = field(default_factory=list)
    _is_mounted: bool = False

    @property
    def workspace(self) -> Path:
        """The folder in which the commands run."""
        return self.folder / "workspace"

    def files(self, pattern: str) -> list[Path]:
        """The files of the workspace that match a pattern; raises `NotHere` if there are none."""
        paths = [path for path in sorted(self.workspace.glob(pattern)) if path.is_file()]
        if not paths:
            raise NotHere(f"there is no {pattern}")
        return paths

    def start(self, step: Step | None = None, leftovers: Sequence[str] = ()) -> Job:
        """Start a command, by default the subject's own."""
        output = self.folder / f"output-{len(self._jobs)}.txt"
        job = Job((step or self.subject.step).command, self.workspace, output, leftovers)
        self._jobs.append(job)
        return job

    def wait_on_the_way(self, job: Job, share: float = 1.0) -> None:
        """Wait until a random part of the output, at most this share of it, is written, and then for a random time."""
        place = self.workspace / self.subject.step.place
        wanted = size(place) + self.random.uniform(0, share) * self.undisturbed.growth
        pause = self.random.choice([0, self.random.uniform(0, self.undisturbed.seconds / 4)])
        job.wait(lambda: size(place) + size(job.output) >= wanted)
        time.sleep(pause)

    def interrupt(self, job: Job, number: int = signal.SIGKILL) -> None:
        """Send a job a signal, and wait for its end; one that was asked to stop has no traceback."""
        job.send(number)
        job.wait()
        if number != signal.SIGKILL:
            require_no_traceback(job)

    def mount(self) -> None:
        """Move the workspace to a small disk of its own; raises `NotHere` if this process may not."""
        kept = self.folder / "kept"
        self.workspace.rename(kept)
        self.workspace.mkdir()
        needed = sum(path.lstat().st_size for path in self.undisturbed.done.rglob("*"))
        options = f"size={16 + 2 * (needed >> 20)}m"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.workspace)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            raise NotHere("only root can mount a disk")
        self._is_mounted = True
        copy(kept, self.workspace)

    def heed(self, job: Job) -> None:
        """Wait for a job's end, and do what it asks for, as `refusal` reads it, if it refused to continue."""
        if not job.wait():
            return
        line = refusal(job)
        if line in self.refusals:
            raise Wrong(f"the advice does not help: {line}")
        self.refusals.append(line)
        # The line begins with the file.
        about = self.workspace / _PATH.findall(line)[0]
        if match := _REMOVE.search(line):
            self._remove(about if match[1] == "it" else self.workspace / match[1].rstrip(".,;:"))
        elif _PREPARE.search(line):
            self._remove(about.parent)

    def _remove(self, path: Path) -> None:
        if not Path(os.path.abspath(path)).is_relative_to(self.workspace):
            raise Wrong(f"the advice is to remove {path}")
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def settle(self) -> None:
        """Call the same commands again until they are done, heed their refusals, and require equal records."""
        while job := self._failed():
            self.heed(job)
        actual, wanted = records(self.workspace), self.undisturbed.records
        if different := [name for name in {**wanted, **actual} if wanted.get(name) != actual.get(name)]:
            raise Wrong(f"other records: {', '.join(different)}")

    def _failed(self) -> Job | None:
        """Call the commands as a workflow would, those before the subject's own where their outputs are missing; return
        the one that failed."""
        again = False
        for step in self.subject.steps:
            if again or step is self.subject.step or not all((self.workspace / path).exists() for path in step.outputs):
                job = self.start(step)
                if job.wait():
                    return job
                require_no_traceback(job)
                again = True
        return None

    def close(self) -> None:
        """End the remaining jobs, remove the workspace, and require that no foreign code was executed."""
        for job in self._jobs:
            job.send(signal.SIGKILL)
        executed = (self.workspace / EXECUTED).exists()
        if self._is_mounted:
            subprocess.run(["umount", "--lazy", str(self.workspace)], check=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        if executed:
            raise Wrong("foreign code was executed")


def refusal(job: Job) -> str:
    """The one line by which a job that failed says why and what to do, with a file, and without a traceback."""
    require_no_traceback(job)
    lines = [line for line in re.split(r"[\r\n]+", job.text()) if line.startswith(LINE)]
    if len(lines) != 1:
        last = job.text().strip().splitlines()[-1:]
        raise Wrong(f"{len(lines)} lines that begin with {LINE!r}, exit code {job.code}; the last one: {last}")
    if not _PATH.search(lines[0]):
        raise Wrong(f"no file is named: {lines[0]}")
    return lines[0]


def require_no_traceback(job: Job) -> None:
    text = job.text()
    if "Traceback (most recent call last)" in text:
        raise Wrong(f"a traceback: {text.strip().splitlines()[-1][:200]}")
