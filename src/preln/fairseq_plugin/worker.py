"""One of the processes that train a run together; it is started with the description of the job, and ends with the
process that started it."""

import ctypes
import json
import logging
import os
import signal
import sys
from pathlib import Path

from preln.errors import PrelnError
from preln.fairseq_plugin.launch import Job, work

PR_SET_PDEATHSIG = 1
"""Linux's number for: tell me when my parent has died."""

FROM_SLURM = {"RANK": "SLURM_PROCID", "LOCAL_RANK": "SLURM_LOCALID", "WORLD_SIZE": "SLURM_NTASKS"}
"""What torch asks a process of several, as srun says it."""

if __name__ == "__main__":
    if "RANK" not in os.environ:
        os.environ.update({name: os.environ[slurms] for name, slurms in FROM_SLURM.items()})
    logging.raiseExceptions = False
    # Other systems have no such call: there, it outlives a parent that was killed.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        work(Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    except PrelnError as error:
        sys.exit(f"preln: {error}")
