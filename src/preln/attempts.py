"""What a long computation is continued from: its state's folder, and the attempts that it took."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from preln.config import Execution, Study
from preln.errors import PrelnError
from preln.files import append_json, read_json_lines, write_json, write_text
from preln.provenance import commit, hardware, versions
from preln.runs import digest

ATTEMPTS = "attempts.jsonl"
LOOK_SECONDS = 2.0
LOCK = "lock"
OWNER = "owner.json"

logger = logging.getLogger(__name__)


class RecordLost(PrelnError):
    """A training that is done has no record of a part of it."""


def state_folder(identity: dict[str, Any], content: Iterable[Path], folder: Path) -> Path:
    """Where a run's state is: named after all that its numbers depend on (its identity, and the content of files), so
    that a run of which any has changed begins anew and never goes on with another's weights."""
    checksums = {}
    for path in content:
        with path.open("rb") as file:
            checksums[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return folder / "state" / digest({"run": identity, "content": checksums})[:12]


@contextmanager
def exclusive(state: Path) -> Iterator[None]:
    """Be the only process at work on a state. Another one's end is waited for, however it ends: the lock is the
    kernel's, which frees it with its owner."""
    state.mkdir(parents=True, exist_ok=True)
    lock = FileLock(state / LOCK)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        owner = (state / OWNER).read_text(encoding="utf-8") if (state / OWNER).exists() else "unknown"
        logger.warning("%s: waiting, for another process is at work on it: %s", state, " ".join(owner.split()))
        lock.acquire(poll_interval=LOOK_SECONDS)
    try:
        job = os.environ.get("SLURM_JOB_ID")
        write_json(state / OWNER, {"host": socket.gethostname(), "process": os.getpid(), "slurm_job": job})
        yield
    finally:
        lock.release()


def begin(state: Path, how: Execution, **before: int) -> None:
    """Note in the state that an attempt begins, on what machine, and what was done `before` it."""
    state.mkdir(parents=True, exist_ok=True)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    append_json(
        state / ATTEMPTS, {"started": started, "workers": how.workers, **before, **commit(), "hardware": hardware(how)}
    )


def note_gpus(state: Path, gpus: list[str]) -> None:
    """Note in the state on which GPUs the attempt that has begun computes: those of all its nodes."""
    lines = read_json_lines(state / ATTEMPTS)
    lines[-1]["hardware"]["gpus"] = gpus
    write_text(state / ATTEMPTS, "".join(json.dumps(line) + "\n" for line in lines))


def origin(study: Study, name: str, identity: dict[str, Any], state: Path) -> dict[str, Any]:
    """What run.json says of where numbers come from: among it, the folder under state/ that they are of. Commit and
    hardware are those of the last attempt."""
    attempts = read_json_lines(state / ATTEMPTS)
    return {
        "id": name,
        "study": study.study,
        "identity": identity,
        "state": state.name,
        "versions": versions(),
        **{key: attempts[-1][key] for key in ("commit", "commit_changed", "hardware")},
        "attempts": attempts,
    }


def divergence(state: Path) -> dict[str, Any] | None:
    """When and why the training diverged, if it did."""
    path = state / "diverged.json"
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def newest_state(folder: Path) -> Path | None:
    """The state of a job's folder that was begun or continued last."""
    attempts = sorted(folder.glob(f"state/*/{ATTEMPTS}"), key=lambda path: path.stat().st_mtime)
    return attempts[-1].parent if attempts else None
