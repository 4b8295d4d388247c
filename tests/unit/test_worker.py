"""A process of several that train a run together, where the system is not Linux."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.moments import PATIENCE

# The platform is changed once torch is imported, which is another one there.
ELSEWHERE = """
import ctypes, os, runpy, sys
import preln.fairseq_plugin.launch
os.environ["RANK"] = "0"
sys.platform = "darwin"
ctypes.CDLL = lambda name: object()
sys.argv = ["worker", sys.argv[1]]
runpy.run_module("preln.fairseq_plugin.worker", run_name="__main__")
"""


def test_where_the_system_has_no_prctl_a_worker_reads_its_job_without_it(tmp_path: Path) -> None:
    job = tmp_path / "job.json"
    command = [sys.executable, "-c", ELSEWHERE, str(job)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    # It gets as far as the description of its job, which is not there.
    assert outcome.stderr.strip().endswith(f"No such file or directory: '{job}'"), outcome.stderr


def test_there_it_ends_soon_after_the_process_that_started_it(tmp_path: Path) -> None:
    os.mkfifo(job := tmp_path / "job.json")
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {ELSEWHERE!r}, {str(job)!r}])"
    starter = subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE)
    # This waits until the worker reads its job, of which no more comes.
    with job.open("w"):
        starter.kill()
        # The worker has this output too, so it is open until both have ended.
        starter.communicate(timeout=PATIENCE)
