"""Programs of Debian's and Ubuntu's packages that some tests run; they are installed where that is possible."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock


class Unavailable(Exception):
    """This machine cannot have the programs; the message says why."""


def install(packages: Iterable[str], programs: Iterable[str]) -> None:
    """Install packages, unless the programs that are wanted of them are there; raises `Unavailable` if it cannot."""
    # apt-get lets no second one in, and the tests that need it are in several processes.
    with FileLock(Path(tempfile.gettempdir()) / f"preln-tests-{os.getuid()}.lock"):
        missing = [program for program in programs if not shutil.which(program)]
        if not missing:
            return
        if os.geteuid() != 0 or not shutil.which("apt-get"):
            raise Unavailable(f"{', '.join(missing)} not found, and only root can install them, with apt-get")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
            done = subprocess.run(["apt-get", *command], env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Unavailable(f"apt-get {command[0]} failed: {done.stderr.strip()[-300:]}")
