"""What a long computation is continued from: its state's folder, and the attempts that it took."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from preln.config import Execution, Study
from preln.errors import PrelnError
from preln.files import (
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
from preln.provenance import commit, hardware, versions
from preln.runs import digest

if TYPE_CHECKING:
    from preln.fairseq_plugin.checkpoints import Moment

ATTEMPTS = "attempts.jsonl"
DIVERGED = "diverged.json"
LOOK_SECONDS = 2.0
LOCK = "lock"
OWNER = "owner.json"
RECORD = "record.jsonl"

STATE_VERSION = 2
"""Raised when a training cannot go on from older states. Unfinished trainings then begin anew, and finished records
stay."""

logger = logging.getLogger(__name__)
# While a process waits, a line each look would bury the one that says for what.
logging.getLogger("filelock").setLevel(logging.INFO)


class RecordLost(PrelnError):
    """A training that is done has no record of a part of it."""


def state_folder(identity: dict[str, Any], content: Iterable[Path], folder: Path) -> Path:
    """Where a run's state is: named after all that its numbers depend on (its identity, and the content of files), so
    that a run of which any has changed begins anew and never goes on with another's weights."""
    checksums = {path.name: sha256(path) for path in content}
    return folder / "state" / digest({"run": identity, "content": checksums, "version": STATE_VERSION})[:12]


@contextmanager
def exclusive(state: Path) -> Iterator[None]:
    """Be the only process at work on a state. Another one's end is waited for, however it ends: the lock is the
    kernel's, which frees it with its owner."""
    state.mkdir(parents=True, exist_ok=True)
    lock = FileLock(state / LOCK)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        owner = (state / OWNER).read_text("utf-8", "replace") if (state / OWNER).exists() else "unknown"
        logger.warning("%s: waiting, for another process is at work on it: %s", state, " ".join(owner.split()))
        lock.acquire(poll_interval=LOOK_SECONDS)
    try:
        job = os.environ.get("SLURM_JOB_ID")
        write_json(state / OWNER, {"host": socket.gethostname(), "process": os.getpid(), "slurm_job": job})
        yield
    finally:
        lock.release()


def begin(state: Path, execution: Execution, **before: int) -> None:
    """Note in the state that an attempt begins, on what machine, and what was done `before` it."""
    state.mkdir(parents=True, exist_ok=True)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    append_json(
        state / ATTEMPTS,
        {"started": started, "workers": execution.workers, **before, **commit(), "hardware": hardware(execution)},
    )


def note_gpus(state: Path, gpus: list[str]) -> None:
    """Note in the state on which GPUs the attempt that has begun computes: those of all its nodes."""
    lines = of(state)
    lines[-1]["hardware"]["gpus"] = gpus
    write_json_lines(state / ATTEMPTS, lines)


def of(state: Path) -> list[dict[str, Any]]:
    """The attempts that a state took, in their order."""
    return read_json_lines(state / ATTEMPTS)


def origin(study: Study, name: str, identity: dict[str, Any], state: Path) -> dict[str, Any]:
    """What run.json says of where numbers come from: among it, the folder under state/ that they are of. Commit and
    hardware are those of the last attempt."""
    attempts = of(state)
    return {
        "id": name,
        "study": study.study,
        "identity": identity,
        "state": state.name,
        "versions": versions(),
        **{key: attempts[-1][key] for key in ("commit", "commit_changed", "hardware")},
        "attempts": attempts,
    }


def note_divergence(state: Path, update: int, reason: str) -> None:
    """Leave the mark of a training that diverged, with the length of the record that it is of."""
    recorded = len(read_json_lines(state / RECORD))
    write_sealed(state / DIVERGED, {"update": update, "reason": reason, "recorded": recorded})


def divergence(state: Path) -> dict[str, Any] | None:
    """When and why the training diverged, if it did.

    Raises:
        Damaged: if what says so is not as it was written.
    """
    path = state / DIVERGED
    if not path.exists():
        return None
    found = read_sealed(path)
    return {key: found[key] for key in ("update", "reason")}


def mend(state: Path, key: str, done: Callable[[], int], needed: Callable[[Moment], float]) -> None:
    """Make a training's state consistent before it goes on: with what of the record is whole, the checkpoints that go
    no further, and the mark of a divergence that is of this record. What is set aside is trained again.

    Args:
        state: the folder of the state.
        key: what the record counts in: `epoch` or `updates`.
        done: up to where the record is whole.
        needed: up to where it must be, for a checkpoint to be gone on from.
    """
    # Importing torch takes seconds, which the other commands should not wait for.
    from preln.fairseq_plugin.checkpoints import SET_ASIDE, set_aside_unrecorded

    damaged = {path: mend_lines(path) for path in (state / RECORD, state / ATTEMPTS)}
    for path, lines in damaged.items():
        if lines:
            logger.warning("%s: damaged in line(s) %s, which are left out", path, ", ".join(map(str, lines)))
    last = done()
    trained_again = set_aside_unrecorded(state, lambda moment: needed(moment) <= last)
    if trained_again:
        logger.warning(
            "%s: has no record of what follows %s %d: it is trained again, from the newest checkpoint before that or "
            "from the beginning; the checkpoints that follow are in %s",
            *(state, key.removesuffix("s"), last, state / SET_ASIDE),
        )
    if trained_again or damaged[state / RECORD]:
        write_json_lines(state / RECORD, [entry for entry in read_json_lines(state / RECORD) if entry[key] <= last])
    mark = state / DIVERGED
    try:
        is_of_record = not mark.exists() or read_sealed(mark)["recorded"] == len(read_json_lines(state / RECORD))
    except (Damaged, KeyError, OSError):
        is_of_record = False
    if not is_of_record:
        logger.warning(
            "%s: set aside, for it or the record is damaged; the training goes on from the newest checkpoint",
            set_aside(mark),
        )


def newest_state(folder: Path) -> Path | None:
    """The state of a job's folder that was begun or continued last."""
    attempts = sorted(folder.glob(f"state/*/{ATTEMPTS}"), key=lambda path: path.stat().st_mtime)
    return attempts[-1].parent if attempts else None
