"""A process of a distributed training; it is started with its assignment, and ends with the process that started it."""

import json
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

from preln.errors import PrelnError
from preln.fairseq_plugin.interruption import interruption
from preln.training.interruption import SIGNALS

STARTED_BY = "PRELN_STARTED_BY"
"""The environment variable with the number of the process that started this one, on one node."""

FROM_SLURM = {"RANK": "SLURM_PROCID", "LOCAL_RANK": "SLURM_LOCALID", "WORLD_SIZE": "SLURM_NTASKS"}
"""torch's environment variables, and srun's for the same values. On one node, the parent sets torch's."""


def end_with(parent: int) -> None:
    """End this process as soon as its parent has ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


if __name__ == "__main__":
    # A signal to stop, or the parent's death, may come during the import of fairseq, which takes seconds.
    for number in SIGNALS:
        signal.signal(number, interruption.request)
    parent = int(os.environ.get(STARTED_BY, os.getppid()))
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    from preln.fairseq_plugin.launch import work

    if "RANK" not in os.environ:
        os.environ.update({name: os.environ[slurm_name] for name, slurm_name in FROM_SLURM.items()})
    logging.raiseExceptions = False
    try:
        work(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), is_one_of_several=True)
    except PrelnError as error:
        sys.exit(f"preln: {error}")
