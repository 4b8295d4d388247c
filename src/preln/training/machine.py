"""What a computation asks of the machine that it runs on: Slurm for several nodes, and GPUs that are its own."""

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
"""Where GPUs are leased: a folder of the machine's own, which all its users and all their clones share."""
LOOK_SECONDS = 2.0
PARTS = 12
"""Locks of a GPU. A computation that shares it with others takes a part of them, and one that does not takes all."""
EVERYBODYS = 0o666
"""Permissions of a lock: other users take it too."""

# CUDA looks at CUDA_VISIBLE_DEVICES once in a process, when it is first used.
_ASK = """
import torch
for number in range(torch.cuda.device_count()):
    print(torch.cuda.get_device_properties(number).uuid)
"""

_held: list[filelock.FileLock] = []
"""The locks of this process's GPUs. They are the kernel's, which frees them with the process, however it ends."""

logger = logging.getLogger(__name__)


class MachineRefused(PrelnError):
    """A machine without what the study asks for."""


def claim(execution: Execution) -> None:
    """See that what a computation asks for is here, and take its GPUs for this process until its end.

    torch, in this process and in those that it starts, is shown these alone, if it has not used CUDA yet. GPUs that
    others have taken are waited for, so that as many computations may be started at once as one likes. Where
    `runs_a_gpu` asks for it, several share a GPU. On several nodes GPUs are Slurm's to give.

    Raises:
        MachineRefused: if it asks for several nodes outside of a Slurm job, or for GPUs that are not here, or if GPUs
            cannot be leased.
    """
    if execution.nodes > 1 and "SLURM_JOB_ID" not in os.environ:
        raise MachineRefused(
            f"the study asks for {execution.nodes} nodes a training (execution.nodes), and this is no Slurm job: run "
            "it with --profile slurm, or set execution.nodes to 1"
        )
    if not execution.gpus or _held:
        return
    gpus = shown_gpus()
    if execution.on_each_node > len(gpus):
        raise MachineRefused(
            f"the study asks for {execution.gpus} GPU(s) a training (execution.gpus) on {execution.nodes} node(s), and "
            f"this one shows {len(gpus)}: run it where they are, or set execution.gpus to 0 to train on the CPU"
        )
    if execution.nodes == 1:
        _lease(gpus, execution.gpus, PARTS // execution.runs_a_gpu)


def shown_gpus() -> list[str]:
    """The GPUs that CUDA shows to a process with this one's environment, by their UUIDs, in CUDA's order.

    Raises:
        MachineRefused: if CUDA fails.
    """
    asked = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True, check=False)
    if asked.returncode:
        said = asked.stderr.strip().splitlines() or ["it said nothing"]
        raise MachineRefused(
            f"torch cannot tell which GPUs there are: {said[-1]}; see that nvidia-smi lists them, or set "
            "execution.gpus to 0 to train on the CPU"
        )
    return asked.stdout.split()


def _lease(gpus: list[str], number: int, parts: int) -> None:
    """Take so many of the GPUs that are shown, of each so many parts, and show torch no others."""
    waits = False
    while not (taken := _taken(gpus, number, parts)):
        if not waits:
            which = ", ".join(str(LOCKS / f"preln-gpu-{gpu}-*.lock") for gpu in gpus)
            logger.warning(
                "waiting for %d of %d GPU(s), which other processes have locked: %s", number, len(gpus), which
            )
        waits = True
        time.sleep(LOOK_SECONDS)
    # As they are called here: by numbers, or as CUDA_VISIBLE_DEVICES has them.
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",") if visible else [str(place) for place in range(len(gpus))]
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(names[place] for place in taken)


def _taken(gpus: list[str], number: int, parts: int) -> list[int]:
    """Lock so many parts of each of so many GPUs, or else none; the places of those GPUs."""
    taken: dict[int, list[filelock.FileLock]] = {}
    try:
        # One process after the other, or two that ask at the same time might both find too few.
        with filelock.FileLock(LOCKS / "preln-gpus.lock", mode=EVERYBODYS):
            for place, gpu in enumerate(gpus):
                files = [LOCKS / f"preln-gpu-{gpu}-{part}.lock" for part in range(PARTS)]
                if locks := _locked(files, parts):
                    taken[place] = locks
                if len(taken) == number:
                    _held.extend(chain(*taken.values()))
                    return list(taken)
            _release(chain(*taken.values()))
    except OSError as error:
        raise MachineRefused(
            f"{error.filename or LOCKS}: cannot be locked ({error.strerror}), so that no GPU can be leased: have its "
            "owner delete it, or make room for it"
        ) from error
    return []


def _locked(files: list[Path], number: int) -> list[filelock.FileLock]:
    """Lock so many of the files, or else none."""
    locks: list[filelock.FileLock] = []
    for file in files:
        lock = filelock.FileLock(file, mode=EVERYBODYS)
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
