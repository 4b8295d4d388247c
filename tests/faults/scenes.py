"""The scene of a fault: a workspace, from its initial content to the check of its records."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.jobs import SHELL, Circumstances, Job, copy
from tests.faults.subjects import Step, Subject, records

EXECUTED = "EXECUTED"
"""The file that foreign code makes if it is executed."""

LINE = "preln: "
"""The beginning of a refusal."""

LOOK_SECONDS = 0.002

HALF = 0.7
"""The share of its output that a command has written when it gets a signal to stop."""

_PATH = re.compile(r"[\w.+-]*/[\w./+-]*[\w+-]")
_PREPARE = re.compile(r"\bprepare .*\bagain\b")
_REMOVE = re.compile(r"\b(?:move|remove|delete) (\S+)")


class Wrong(Exception):
    """A check failed; the message says which."""


class NotHere(Exception):
    """This machine, or this scene, cannot have the fault; the message says why."""


@dataclass(frozen=True)
class Undisturbed:
    """A subject without faults.

    Attributes:
        fresh: a workspace in which all but its command was run.
        half: one in which its command was told to stop on its way; like `fresh` where it leaves nothing to go on from.
        done: one in which all was run.
        records: what is found in that.
        growth: bytes that its place and its output grow by.
        seconds: that its command took.
    """

    fresh: Path
    half: Path
    done: Path
    records: dict[str, Any]
    growth: int
    seconds: float


class Workshop:
    """The undisturbed ends of subjects, which are made when they are asked for.

    Args:
        folder: where they are.
        given: folders of a workspace that are prepared already, by the subject whose end they are.
    """

    def __init__(self, folder: Path, given: dict[Subject, dict[str, Path]] | None = None) -> None:
        self._folder = folder
        self._given = given or {}
        self._made: dict[Subject, Undisturbed] = {}

    def undisturbed(self, subject: Subject) -> Undisturbed:
        """The subject without faults."""
        if subject not in self._made:
            self._made[subject] = self._make(subject)
        return self._made[subject]

    def _make(self, subject: Subject) -> Undisturbed:
        folder = self._folder / subject.name.replace(" ", "-")
        fresh, half, done = (folder / name for name in ("fresh", "half", "done"))
        fresh.mkdir(parents=True)
        subject.ready(fresh)
        if subject in self._given:
            for name, prepared in self._given[subject].items():
                copy(prepared, fresh / name)
            return Undisturbed(fresh, fresh, fresh, records(fresh), 0, 0.0)
        for before in subject.after:
            copy(self.undisturbed(before).done, fresh)
        copy(fresh, done)
        before_it = size(done / subject.step.place)
        started = time.monotonic()
        job = Job(subject.step.command, done, folder / "said.txt")
        assert job.wait() == 0, job.text()
        seconds = time.monotonic() - started
        growth = size(done / subject.step.place) - before_it + size(job.output)
        content = records(done)
        copy(fresh, half)
        if subject.step.goes_on:
            wanted = before_it + HALF * growth
            job = Job(subject.step.command, half, folder / "stopped.txt")
            while job.code is None and size(half / subject.step.place) + size(job.output) < wanted:
                time.sleep(LOOK_SECONDS)
            job.send(signal.SIGTERM)
            job.wait()
        return Undisturbed(fresh, half, done, content, growth, seconds)


def size(path: Path) -> int:
    """Bytes of a file, or of what a folder holds without weights, whose size says nothing of how far a job is."""
    if path.is_file():
        return path.stat().st_size
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            if not name.endswith((".pt", ".tmp")):
                try:
                    total += os.stat(os.path.join(folder, name), follow_symlinks=False).st_size
                except FileNotFoundError:
                    continue
    return total


@dataclass
class Scene:
    """A workspace in which something goes wrong.

    Attributes:
        folder: its folder; the workspace is in it, beside what the jobs say.
        subject: whose command is disturbed.
        undisturbed: how that is without faults.
        random: what draws all that is not said.
        another: a workspace with the same of another seed; None where none is needed.
        after_the_end: whether what should have come on the way came after the end.
        refusals: the lines by which jobs have refused to go on.
    """

    folder: Path
    subject: Subject
    undisturbed: Undisturbed
    random: Random
    another: Path | None = None
    after_the_end: bool = False
    refusals: list[str] = field(default_factory=list)
    _jobs: list[Job] = field(default_factory=list)
    _is_mounted: bool = False

    @property
    def workspace(self) -> Path:
        """The folder in which the commands run."""
        return self.folder / "workspace"

    def files(self, pattern: str) -> list[Path]:
        """The files of the workspace that a pattern names.

        Raises:
            NotHere: if there are none.
        """
        paths = [path for path in sorted(self.workspace.glob(pattern)) if path.is_file()]
        if not paths:
            raise NotHere(f"there is no {pattern}")
        return paths

    def start(self, step: Step | None = None, circumstances: Circumstances | None = None) -> Job:
        """Start a command, the subject's own unless another is given."""
        output = self.folder / f"said-{len(self._jobs)}.txt"
        job = Job((step or self.subject.step).command, self.workspace, output, circumstances)
        self._jobs.append(job)
        return job

    def reaches(self, job: Job, moment: Callable[[], bool]) -> bool:
        """Wait for a moment in a job; whether it came before the job's end."""
        while not moment():
            if job.code is not None:
                return False
            time.sleep(LOOK_SECONDS)
        return job.code is None

    def on_the_way(self, job: Job, share: float = 1.0) -> bool:
        """Wait until so much has grown as is drawn, at most a share of all, and then a drawn while; whether that was
        before the job's end."""
        place = self.workspace / self.subject.step.place
        wanted = size(place) + self.random.uniform(0, share) * self.undisturbed.growth
        pause = self.random.choice([0, self.random.uniform(0, self.undisturbed.seconds / 4)])
        if not self.reaches(job, lambda: size(place) + size(job.output) >= wanted):
            return False
        time.sleep(pause)
        return job.code is None

    def interrupt(self, job: Job, number: int = signal.SIGKILL) -> None:
        """Interrupt a job, and wait for its end.

        Raises:
            Wrong: if it was told to stop and ends with a traceback.
        """
        job.send(number, to_its_children=self.subject.step.command[0] == SHELL)
        job.wait()
        if number != signal.SIGKILL:
            require_no_traceback(job)

    def mount(self) -> None:
        """Put the workspace, with what is in it, on a small disk of its own.

        Raises:
            NotHere: if this process may not.
        """
        kept = self.folder / "kept"
        self.workspace.rename(kept)
        self.workspace.mkdir()
        needed = sum(path.lstat().st_size for path in self.undisturbed.done.rglob("*"))
        options = f"size={16 + 2 * (needed >> 20)}m"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.workspace)]
        self._is_mounted = not subprocess.run(command, capture_output=True, check=False).returncode
        copy(kept, self.workspace)
        if not self._is_mounted:
            raise NotHere("only root can mount a disk")

    def heed(self, job: Job) -> None:
        """Do what a job that has refused to go on says.

        Raises:
            Wrong: if it does not say it in one line with the name of a file.
        """
        line = refusal(job)
        if line in self.refusals:
            raise Wrong(f"what it says does not help: {line}")
        self.refusals.append(line)
        # The line begins with what it is about.
        about = self.workspace / _PATH.findall(line)[0]
        if match := _REMOVE.search(line):
            self._remove(about if match[1] == "it" else self.workspace / match[1].rstrip(".,;:"))
        elif _PREPARE.search(line):
            self._remove(about.parent)

    def ended(self, job: Job) -> None:
        """Note how a job ended that was disturbed and has ended by itself: as if nothing had been, or refusing to go
        on.

        Raises:
            Wrong: as `heed`.
        """
        if job.code:
            self.heed(job)
        else:
            self.after_the_end = True

    def _remove(self, path: Path) -> None:
        if not Path(os.path.abspath(path)).is_relative_to(self.workspace):
            raise Wrong(f"it says to remove {path}")
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def settle(self) -> None:
        """Call the same commands again until they are done, and do what they say where they refuse.

        Raises:
            Wrong: if they do not come to an end, or to another.
        """
        while job := self._failed():
            self.heed(job)
        actual, wanted = records(self.workspace), self.undisturbed.records
        if different := [name for name in {**wanted, **actual} if wanted.get(name) != actual.get(name)]:
            raise Wrong(f"other records: {', '.join(different)}")

    def _failed(self) -> Job | None:
        """Call the commands as a workflow would, those before the subject's own where their outputs are gone; the one
        that failed."""
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
        """End what is still at work, and remove the workspace.

        Raises:
            Wrong: if foreign code was executed.
        """
        for job in self._jobs:
            job.send(signal.SIGKILL, to_its_children=True)
        executed = (self.workspace / EXECUTED).exists()
        if self._is_mounted:
            subprocess.run(["umount", "--lazy", str(self.workspace)], check=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        if executed:
            raise Wrong("foreign code was executed")


def refusal(job: Job) -> str:
    """The line by which a job that has failed says why, and what to do.

    Raises:
        Wrong: if there is none, more than one, a traceback, or no file is named.
    """
    require_no_traceback(job)
    lines = [line for line in re.split(r"[\r\n]+", job.text()) if line.startswith(LINE)]
    if len(lines) != 1:
        last = job.text().strip().splitlines()[-1:]
        raise Wrong(f"{len(lines)} lines that begin with {LINE!r}, exit code {job.code}; the last one: {last}")
    if not _PATH.search(lines[0]):
        raise Wrong(f"no file is named: {lines[0]}")
    return lines[0]


def require_no_traceback(job: Job) -> None:
    """See that a job said what it had to say without a traceback.

    Raises:
        Wrong: if not.
    """
    text = job.text()
    if "Traceback (most recent call last)" in text:
        raise Wrong(f"a traceback: {text.strip().splitlines()[-1][:200]}")
