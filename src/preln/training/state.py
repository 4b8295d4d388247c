"""The state of a long computation: all that it is continued from, and what its records are made of."""

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
from preln.jobs.runs import digest
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
"""Raised when a training cannot go on from older states. Unfinished trainings then begin anew, and finished records
stay."""

LOOK_SECONDS = 2.0

Unit = Literal["epochs", "updates"]
"""What a training counts in."""

KEYS: dict[Unit, str] = {"epochs": "epoch", "updates": "updates"}
"""The key of a record's lines under which the number is."""

logger = logging.getLogger(__name__)
# While a process waits, filelock would log a line at each look. Our own line says what is waited for.
logging.getLogger("filelock").setLevel(logging.INFO)


class RecordLost(PrelnError):
    """A training that is done has no record of a part of it."""


@dataclass(frozen=True)
class RunState:
    """The state of a training, or of a checkpoint's fine-tunings.

    The folder holds the record, the attempts, the mark of a divergence, fairseq's log and checkpoints, the weights that
    are kept, and the lock of the process that is at work on it. It lies in `state/` of the job's folder, and is named
    after all that the numbers depend on: a run of which any has changed begins anew, and never goes on with another's
    weights.
    """

    folder: Path

    @classmethod
    def of(cls, identity: dict[str, Any], content: Iterable[Path], job: Path) -> RunState:
        """The state of a job.

        Args:
            identity: what the job's numbers depend on, as plain JSON values.
            content: the files that they depend on as well.
            job: the job's folder.
        """
        checksums = {path.name: sha256(path) for path in content}
        name = digest({"run": identity, "content": checksums, "version": STATE_VERSION})[:12]
        return cls(job / "state" / name)

    @classmethod
    def newest(cls, job: Path) -> RunState | None:
        """The state of a job's folder that was begun or continued last."""
        states = [cls(path) for path in job.glob("state/*") if cls(path).attempts_file.exists()]
        return max(states, key=lambda state: state.attempts_file.stat().st_mtime, default=None)

    @property
    def name(self) -> str:
        """The name of the folder, which checkpoints and kept weights bear too."""
        return self.folder.name

    @property
    def job(self) -> Path:
        """The folder of the job, where its records are."""
        return self.folder.parent.parent

    @property
    def record(self) -> Path:
        """The file with a line for each thing that is done: a part of an epoch, a validation, or a fine-tuning."""
        return self.folder / "record.jsonl"

    @property
    def attempts_file(self) -> Path:
        """The file with a line for each attempt."""
        return self.folder / "attempts.jsonl"

    @property
    def log(self) -> Path:
        """fairseq's log of all attempts."""
        return self.folder / "training.log"

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.folder / "checkpoints"

    def translations(self, subset: str, epoch: int) -> Path:
        """The file with the translations of `subset` (valid or test) after an epoch, a sentence a line."""
        return self.folder / "translations" / f"{subset}.{epoch}.txt"

    @property
    def mark(self) -> Path:
        """The file that says of a training that it diverged."""
        return self.folder / "diverged.json"

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Be the only process at work on the state.

        The end of another one is waited for, however it ends: the lock is the kernel's, which frees it with its owner.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        lock, owner = filelock.FileLock(self.folder / "lock"), self.folder / "owner.json"
        try:
            lock.acquire(blocking=False)
        except filelock.Timeout:
            who = owner.read_text("utf-8", "replace") if owner.exists() else "unknown"
            logger.warning("%s: waiting, for another process is at work on it: %s", self.folder, " ".join(who.split()))
            lock.acquire(poll_interval=LOOK_SECONDS)
        try:
            job = os.environ.get("SLURM_JOB_ID")
            write_json(owner, {"host": socket.gethostname(), "process": os.getpid(), "slurm_job": job})
            yield
        finally:
            lock.release()

    def begin(self, execution: Execution, **before: int) -> None:
        """Note that an attempt begins, on what machine, and what was done `before` it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        about = {"started": started, "workers": execution.workers, **before}
        origin = {**commit(), "versions": versions(), "hardware": hardware(execution)}
        append_json(self.attempts_file, {**about, **origin})

    def attempts(self) -> list[dict[str, Any]]:
        """The attempts, in their order."""
        return read_json_lines(self.attempts_file)

    def take_back(self) -> None:
        """Take the last attempt back, which has computed nothing, if there is another."""
        attempts = self.attempts()
        write_json_lines(self.attempts_file, attempts[:-1] or attempts)

    def note_gpus(self, gpus: list[str]) -> None:
        """Note on which GPUs the attempt that has begun computes: those of all its nodes."""
        attempts = self.attempts()
        attempts[-1]["hardware"]["gpus"] = gpus
        write_json_lines(self.attempts_file, attempts)

    def entries(self) -> list[dict[str, Any]]:
        """The lines of the record that are whole."""
        return read_json_lines(self.record)

    def add(self, entry: dict[str, Any]) -> None:
        """Append a line to the record."""
        append_json(self.record, entry)

    def require_recorded(self, unit: Unit, wanted: Iterable[int], found: Collection[int]) -> None:
        """See that a training that is done has recorded all that it was to.

        Raises:
            RecordLost: with the epochs or updates that are missing.
        """
        if missing := sorted(set(wanted) - set(found)):
            raise RecordLost(
                f"{self.record}: {unit} {', '.join(map(str, missing))} are not in it, though they are trained; run the "
                "same command, which trains them again"
            )

    def origin(self, study: Study, job_id: str, identity: dict[str, Any]) -> dict[str, Any]:
        """What run.json says of where numbers come from; commit, versions and hardware are those of the last
        attempt."""
        attempts = self.attempts()
        last = attempts[-1]
        return {
            "id": job_id,
            "study": study.study,
            "identity": identity,
            "state": self.name,
            # An attempt of an older version has none of its own.
            "versions": last.get("versions") or versions(),
            **{key: last[key] for key in ("commit", "commit_changed", "hardware")},
            "attempts": attempts,
        }

    def note_divergence(self, update: int, reason: str) -> None:
        """Leave the mark of a training that diverged, with the length of the record that it is of."""
        write_sealed(self.mark, {"update": update, "reason": reason, "recorded": len(self.entries())})

    def divergence(self) -> dict[str, Any] | None:
        """When and why the training diverged, if it did.

        Raises:
            Damaged: if what says so is not as it was written.
        """
        if not self.mark.exists():
            return None
        found = read_sealed(self.mark)
        return {key: found[key] for key in ("update", "reason")}

    def mend_lines(self) -> bool:
        """Leave out the lines of the record and of the attempts that are damaged.

        Returns:
            Whether the record had any.
        """
        damaged = {path: mend_lines(path) for path in (self.record, self.attempts_file)}
        for path, lines in damaged.items():
            if lines:
                logger.warning("%s: damaged in line(s) %s, which are left out", path, ", ".join(map(str, lines)))
        return bool(damaged[self.record])

    def shorten(self, unit: Unit, last: int) -> None:
        """Leave out the lines of the record that follow the `last` epoch or update."""
        write_json_lines(self.record, [entry for entry in self.entries() if entry[KEYS[unit]] <= last])

    def mend_mark(self) -> None:
        """Set the mark of a divergence aside, unless it is of the record as it is."""
        try:
            is_of_record = not self.mark.exists() or read_sealed(self.mark)["recorded"] == len(self.entries())
        except (Damaged, KeyError, OSError):
            is_of_record = False
        if not is_of_record:
            logger.warning(
                "%s: set aside, for it or the record is damaged; the training goes on from the newest checkpoint",
                set_aside(self.mark),
            )

    def silence(self, file: Path, now: float) -> float:
        """Seconds at the time `now`, in seconds since the epoch, since a file of the state was written, or an attempt
        began."""
        return now - max(path.stat().st_mtime for path in (self.attempts_file, file) if path.exists())
