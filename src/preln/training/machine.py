"""Claiming a machine for a computation: Slurm for several nodes, and leased GPUs."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path

from preln.config import Execution
from preln.errors import PrelnError
from preln.libraries import filelock

LOCKS = Path("/tmp")
"""The folder of GPUs' locks: local to the machine, and shared by all users and clones."""
LOOK_SECONDS = 2.0
PARTS = 12
"""Locks for each GPU. A computation takes all of them, or some if it shares the GPU."""
LOCK_MODE = 0o666
"""Permissions of a lock, which other users take too."""

# In a process of its own: CUDA reads CUDA_VISIBLE_DEVICES once, when a process first uses it.
_LIST_GPUS = """
import torch
for number in range(torch.cuda.device_count()):
    print(torch.cuda.get_device_properties(number).uuid)
"""

_held: list[filelock.FileLock] = []
"""The locks of this process's GPUs, which the kernel frees when the process ends in any way."""

logger = logging.getLogger(__name__)


def claim(execution: Execution) -> None:
    """Check the requested nodes and GPUs, and lease the GPUs for this process until its end.

    torch then sees only these, in this process and its children, unless it has used CUDA before. Leased GPUs are waited
    for, so any number of computations may be started at once. With `runs_a_gpu`, several share a GPU. On several nodes,
    Slurm assigns the GPUs.

    Raises:
        PrelnError: if several nodes are requested outside of a Slurm job, or GPUs are missing, or they cannot be
            leased.
    """
    if execution.nodes > 1 and "SLURM_JOB_ID" not in os.environ:
        raise PrelnError(
            f"the study asks for {execution.nodes} nodes a training (execution.nodes), and this is no Slurm job: run "
            "it with --profile slurm, or set execution.nodes to 1"
        )
    if not execution.gpus or _held:
        return
    gpus = shown_gpus()
    if execution.on_each_node > len(gpus):
        raise PrelnError(
            f"the study asks for {execution.gpus} GPU(s) a training (execution.gpus) on {execution.nodes} node(s), and "
            f"this one shows {len(gpus)}: run it where they are, or set execution.gpus to 0 to train on the CPU"
        )
    if execution.nodes == 1:
        _lease(gpus, execution.gpus, PARTS // execution.runs_a_gpu)


def shown_gpus() -> list[str]:
    """The UUIDs of the GPUs that CUDA shows to a process in this environment, in CUDA's order.

    Raises:
        PrelnError: if CUDA fails.
    """
    process = subprocess.run([sys.executable, "-P", "-c", _LIST_GPUS], capture_output=True, text=True, check=False)
    if process.returncode:
        messages = process.stderr.strip().splitlines() or ["no message"]
        raise PrelnError(
            f"torch cannot list the GPUs: {messages[-1]}; check that nvidia-smi lists them, or set execution.gpus to 0 "
            "to train on the CPU"
        )
    return process.stdout.split()


def _lease(gpus: list[str], number: int, parts: int) -> None:
    """Lease `parts` parts of `number` GPUs, waiting for them, and show torch no others."""
    is_waiting = False
    while not (places := _lock_gpus(gpus, number, parts)):
        if not is_waiting:
            locks = ", ".join(str(LOCKS / f"preln-gpu-{gpu}-*.lock") for gpu in gpus)
            logger.warning(
                "waiting for %d of %d GPU(s), which other processes have locked: %s", number, len(gpus), locks
            )
        is_waiting = True
        time.sleep(LOOK_SECONDS)
    # Numbers, or the names in CUDA_VISIBLE_DEVICES.
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",") if visible else [str(place) for place in range(len(gpus))]
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(names[place] for place in places)


def _lock_gpus(gpus: list[str], number: int, parts: int) -> list[int]:
    """Lock `parts` parts of `number` GPUs, and return the GPUs' places; or lock none."""
    locked: dict[int, list[filelock.FileLock]] = {}
    try:
        # One process at a time: two at once might each lock too few.
        with filelock.FileLock(LOCKS / "preln-gpus.lock", mode=LOCK_MODE, fallback_to_soft=False):
            for place, gpu in enumerate(gpus):
                files = [LOCKS / f"preln-gpu-{gpu}-{part}.lock" for part in range(PARTS)]
                if locks := _lock_files(files, parts):
                    locked[place] = locks
                if len(locked) == number:
                    _held.extend(chain(*locked.values()))
                    return list(locked)
            _release(chain(*locked.values()))
    except OSError as error:
        raise PrelnError(
            f"{error.filename or LOCKS}: cannot be locked ({error.strerror}), so no GPU can be leased: have its owner "
            "delete it, or free disk space"
        ) from error
    return []


def _lock_files(files: list[Path], number: int) -> list[filelock.FileLock]:
    """Lock `number` of the files, or none."""
    locks: list[filelock.FileLock] = []
    for file in files:
        lock = filelock.FileLock(file, mode=LOCK_MODE, fallback_to_soft=False)
        with suppress(filelock.Timeout):
            lock.acquire(blocking=False)
            locks.append(lock)
        if len(locks) == number:
            return locks
    _release(locks)
    return []


def _release(locks: Iterable[filelock.FileLock]) -> None:
    for lock in locks:
        lock.release()
