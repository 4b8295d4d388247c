"""The state of a long computation, from which it continues and its records are written."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from preln.config import Execution, Study
from preln.errors import PrelnError
from preln.jobs.base import digest
from preln.libraries import filelock
from preln.records.files import (
    Damaged,
    append_json,
    mend_lines,
    read_json_lines,
    read_sealed,
    set_aside,
    sha256,
    write_json,
    write_json_lines,
    write_sealed,
)
from preln.records.provenance import commit, hardware, versions

STATE_VERSION = 2
"""Raised when a training cannot continue from older states. Unfinished trainings then start over; finished records
stay."""

LOOK_SECONDS = 2.0

Unit = Literal["epochs", "updates"]
"""The unit that a training counts in."""

KEYS: dict[Unit, str] = {"epochs": "epoch", "updates": "updates"}
"""The key of the number in a record's lines."""

logger = logging.getLogger(__name__)
# filelock would log each attempt to lock; our own line says what the process waits for.
logging.getLogger("filelock").setLevel(logging.INFO)


@dataclass(frozen=True)
class RunState:
    """The state of a training, or of a checkpoint's fine-tunings.

    The folder holds the `record`, with a line for each finished part of an epoch, validation, or fine-tuning, the
    attempts, the mark of a divergence, fairseq's log of all attempts, checkpoints, kept weights, and the lock of the
    process that works on it. It lies in `state/` of the job's folder, and its name, which is also in checkpoints and
    kept weights, is a digest of everything the numbers depend on: a run in which any of it changed starts over, and
    never continues from foreign weights.
    """

    folder: Path

    @classmethod
    def of(cls, identity: dict[str, Any], content: Iterable[Path], job: Path) -> RunState:
        """The state of the job in a folder, whose numbers depend on its identity and on the content of these files."""
        checksums = {path.name: sha256(path) for path in content}
        name = digest({"run": identity, "content": checksums, "version": STATE_VERSION})[:12]
        return cls(job / "state" / name)

    @classmethod
    def newest(cls, job: Path) -> RunState | None:
        """The state in a job's folder that was started or continued last."""
        states = [cls(path) for path in job.glob("state/*") if cls(path).attempts_file.exists()]
        return max(states, key=lambda state: state.attempts_file.stat().st_mtime, default=None)

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name

    @property
    def job(self) -> Path:
        """The folder of the job, where its records are."""
        return self.folder.parent.parent

    @property
    def record(self) -> Path:
        """The file of the record."""
        return self.folder / "record.jsonl"

    @property
    def attempts_file(self) -> Path:
        """The file with a line for each attempt."""
        return self.folder / "attempts.jsonl"

    @property
    def log(self) -> Path:
        """fairseq's log."""
        return self.folder / "training.log"

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.folder / "checkpoints"

    @property
    def mark(self) -> Path:
        """The file that marks a diverged training."""
        return self.folder / "diverged.json"

    def translations(self, subset: str, epoch: int) -> Path:
        """The file with the translations of `subset` (valid or test) after an epoch, a sentence a line."""
        return self.folder / "translations" / f"{subset}.{epoch}.txt"

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Work on the state exclusively, after waiting for the process that works on it.

        The lock is the kernel's, which frees it when its owner ends in any way.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        lock, owner = filelock.FileLock(self.folder / "lock", fallback_to_soft=False), self.folder / "owner.json"
        try:
            lock.acquire(blocking=False)
        except filelock.Timeout:
            description = owner.read_text("utf-8", "replace") if owner.exists() else "unknown"
            logger.warning("%s: waiting for another process: %s", self.folder, " ".join(description.split()))
            lock.acquire(poll_interval=LOOK_SECONDS)
        try:
            job = os.environ.get("SLURM_JOB_ID")
            write_json(owner, {"host": socket.gethostname(), "process": os.getpid(), "slurm_job": job})
            yield
        finally:
            lock.release()

    def begin(self, execution: Execution, **before: int) -> None:
        """Note the beginning of an attempt, its machine, and the progress `before` it. An attempt that continues under
        other settings of libraries, or with another `graphs`, is neither the training under the one nor that under the
        other, which is logged."""
        self.folder.mkdir(parents=True, exist_ok=True)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        attempt = {"started": started, "workers": execution.workers, "graphs": execution.graphs, **before}
        origin = {**commit(), "versions": versions(), "hardware": hardware(execution)}
        for previous in self.attempts()[-1:]:
            earlier, now = (entry["hardware"].get("libraries", {}) for entry in (previous, origin))
            if earlier != now:
                logger.warning(
                    "%s: begun with %s, and continued with %s: its numbers differ in their last digits from those of "
                    "an uninterrupted run",
                    self.folder,
                    _spelt(earlier),
                    _spelt(now),
                )
            if previous.get("graphs", False) != execution.graphs:
                logger.warning(
                    "%s: begun with graphs: %s, and continued with graphs: %s: compiled passes round otherwise, and "
                    "dropout drops other elements of packed batches, so that its numbers are not those of an "
                    "uninterrupted run",
                    self.folder,
                    *(str(graphs).lower() for graphs in (not execution.graphs, execution.graphs)),
                )
        append_json(self.attempts_file, {**attempt, **origin}, self.name)

    def attempts(self) -> list[dict[str, Any]]:
        return read_json_lines(self.attempts_file, self.name)

    def take_back(self) -> None:
        """Remove the last attempt, which has computed nothing, if there is an earlier one."""
        attempts = self.attempts()
        write_json_lines(self.attempts_file, attempts[:-1] or attempts, self.name)

    def note_gpus(self, gpus: list[str]) -> None:
        """Note the GPUs of the current attempt, on all its nodes."""
        attempts = self.attempts()
        attempts[-1]["hardware"]["gpus"] = gpus
        write_json_lines(self.attempts_file, attempts, self.name)

    def entries(self) -> list[dict[str, Any]]:
        """The intact lines of the record that are this state's."""
        return read_json_lines(self.record, self.name)

    def add(self, entry: dict[str, Any]) -> None:
        append_json(self.record, entry, self.name)

    def require_recorded(self, unit: Unit, expected: Iterable[int], recorded: Collection[int]) -> None:
        """Check that the record of a finished training is complete.

        Raises:
            PrelnError: with the missing epochs or updates.
        """
        if missing := sorted(set(expected) - set(recorded)):
            raise PrelnError(
                f"{self.record}: {unit} {', '.join(map(str, missing))} are missing; run the same command, which trains "
                "them again"
            )

    def origin(self, study: Study, job_id: str, identity: dict[str, Any]) -> dict[str, Any]:
        """The origin of the numbers, for run.json; commit, versions and hardware are the last attempt's."""
        attempts = self.attempts()
        last = attempts[-1]
        return {
            "id": job_id,
            "study": study.study,
            "identity": identity,
            "state": self.name,
            # Attempts of an older version have no versions.
            "versions": last.get("versions") or versions(),
            **{key: last[key] for key in ("commit", "commit_changed", "hardware")},
            "attempts": attempts,
        }

    def note_divergence(self, update: int, reason: str) -> None:
        """Mark the training as diverged, with the length of its record."""
        mark = {"update": update, "reason": reason, "recorded": len(self.entries())}
        write_sealed(self.mark, mark, self.name)

    def divergence(self) -> dict[str, Any] | None:
        """When and why the training diverged, if it did.

        Raises:
            Damaged: if the mark is damaged.
        """
        if not self.mark.exists():
            return None
        mark = read_sealed(self.mark, self.name)
        return {key: mark[key] for key in ("update", "reason")}

    def mend_lines(self) -> bool:
        """Remove lines that are damaged or another run's from the record and the attempts.

        Returns:
            Whether the record had such lines.
        """
        damaged = {path: mend_lines(path, self.name) for path in (self.record, self.attempts_file)}
        for path, lines in damaged.items():
            if lines:
                numbers = ", ".join(map(str, lines))
                logger.warning("%s: removed line(s) that are damaged or another run's: %s", path, numbers)
        return bool(damaged[self.record])

    def shorten(self, unit: Unit, last: int) -> None:
        """Remove the record's lines after the `last` epoch or update."""
        kept = [entry for entry in self.entries() if entry[KEYS[unit]] <= last]
        write_json_lines(self.record, kept, self.name)

    def mend_mark(self) -> None:
        """Move the mark of a divergence aside, unless it matches the record."""
        try:
            matches = not self.mark.exists() or read_sealed(self.mark, self.name)["recorded"] == len(self.entries())
        except (Damaged, KeyError, OSError):
            matches = False
        if not matches:
            logger.warning(
                "%s: moved aside: this file or %s is damaged; continuing from the newest checkpoint",
                set_aside(self.mark),
                self.record.name,
            )

    def silence(self, file: Path, now: float) -> float:
        """Seconds from the last write to a file of the state, or from the attempt's start, to `now`, in seconds since
        the epoch."""
        return now - max(path.stat().st_mtime for path in (self.attempts_file, file) if path.exists())


def _spelt(settings: dict[str, str]) -> str:
    """Settings of the environment as a shell has them."""
    return " ".join(f"{name}={value}" for name, value in settings.items()) or "no settings of MKL, oneDNN or OpenBLAS"
