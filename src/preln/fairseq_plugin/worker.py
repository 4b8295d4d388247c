"""One of the processes that train a run together; it is started with its assignment, and ends with the process
that started it."""

import ctypes
import json
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

from preln.errors import PrelnError
from preln.fairseq_plugin.interruption import SIGNALS, interruption

STARTED_BY = "PRELN_STARTED_BY"
"""The variable that tells a process of several, on one node, which process started it."""

PR_SET_PDEATHSIG = 1
"""Linux's number for: tell me when my parent has died."""

FROM_SLURM = {"RANK": "SLURM_PROCID", "LOCAL_RANK": "SLURM_LOCALID", "WORLD_SIZE": "SLURM_NTASKS"}
"""What torch asks a process of several, as srun says it. On one node, the process that started it says it."""


def end_with(parent: int) -> None:
    """End this process as soon as its parent has ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    # It may be told to stop, and the process that started it may die, before fairseq is imported, which takes seconds.
    for number in SIGNALS:
        signal.signal(number, interruption.request)
    parent = int(os.environ.get(STARTED_BY, os.getppid()))
    # Only Linux has this call.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit(1)
    else:
        threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    from preln.fairseq_plugin.launch import Assignment, work

    if "RANK" not in os.environ:
        os.environ.update({name: os.environ[slurms] for name, slurms in FROM_SLURM.items()})
    logging.raiseExceptions = False
    try:
        work(Assignment(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), is_one_of_several=True)
    except PrelnError as error:
        sys.exit(f"preln: {error}")
