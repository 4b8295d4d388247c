"""Where numbers come from: what every record says of the code, the packages and the machine that made it."""

from __future__ import annotations

import json
import logging
import os
import platform
import re
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from preln import DISTRIBUTION, __version__
from preln.config import Execution

PACKAGES = ("torch", "fairseq-fixed", "sentencepiece", "sacrebleu", "numpy")

PROCESSORS = Path("/proc/cpuinfo")
"""Where Linux says which processors there are; other systems have no such file."""
HERE = Path(__file__).parent
CODE = (":/src", ":/workflow")
"""The folders of code, as git names them from the top of the working tree. A new file in them is a change."""
SOURCES = (*CODE, ":/config", ":/Snakefile", ":/requirements*.txt", ":/locks")
"""The folders and files from which numbers are made."""
LIBRARIES = ("ATEN_", "DNNL_", "MKL_", "ONEDNN_", "OPENBLAS_")
"""The beginnings of environment variables by which the libraries of a CPU's products compute other digits."""
THREADS = "_NUM_THREADS"
"""The ending of variables that are left out: Snakemake sets each job's number of threads, and a training its own."""

logger = logging.getLogger(__name__)


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that compute; a language model needs no fairseq."""
    installed = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return {"preln": __version__, **installed, "python": platform.python_version()}


def commit() -> dict[str, Any]:
    """The commit of this code, and whether files that git tracks differ from it, or may differ: of the working tree
    that has it, or of the address from which pip installed it."""

    # A hook or an alias of git sets these for its own repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    # The code of a clone that another user owns runs all the same.
    program = ["git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false"]

    def git(*arguments: str) -> str | None:
        command = [*program, *arguments]
        try:
            done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout.strip()

    # An installed package may lie in somebody else's working tree.
    if not git("ls-files", "."):
        installed = None
        # A copy of the code on Python's path is not installed.
        with suppress(PackageNotFoundError):
            # PEP 610: what pip says of what it did not install from an index.
            origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
            installed = origin.get("vcs_info", {}).get("commit_id")
        if installed is None:
            logger.warning("%s: git knows no commit of it, so that records do not say which code made them", HERE)
        return {"commit": installed, "commit_changed": None if installed is None else False}
    changed = git("status", "--porcelain", "--untracked-files=no", "--", *SOURCES)
    new = git("ls-files", "--others", "--exclude-standard", "--", *CODE)
    # A file that git is told to assume unchanged, or to skip (`S`), may be changed; a sparse checkout lacks it.
    hidden = any(
        Path(HERE, path).exists()
        for path in re.findall("^[a-zS] (.*)", git("ls-files", "-v", "--", *SOURCES) or "", re.M)
    )
    unclean = bool(changed or new or hidden)
    return {"commit": git("rev-parse", "HEAD"), "commit_changed": None if changed is None else unclean}


def hardware(execution: Execution) -> dict[str, Any]:
    """The processor and the GPUs that computed, and the settings of the libraries that did, where the environment has
    any."""
    import torch

    from preln.fused import native, products

    processor = platform.processor() or platform.machine()
    if PROCESSORS.exists():
        lines = PROCESSORS.read_text().splitlines()
        models = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
        processor = models[0] if models else processor
    gpus = [torch.cuda.get_device_name(i) for i in range(min(execution.gpus, torch.cuda.device_count()))]
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "cores_used": execution.cores,
        "loops": native.loops(),
        "bf16_products_in": "fp32" if products.IN_FP32 and not gpus else "bf16",
        "gpus": gpus,
        **({"runs_a_gpu": execution.runs_a_gpu} if execution.runs_a_gpu > 1 else {}),
        **({"libraries": settings} if (settings := library_settings()) else {}),
    }


def library_settings() -> dict[str, str]:
    """The variables of the environment that may change the digits of numbers, such as MKL_CBWR."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(LIBRARIES) and not name.endswith(THREADS)
    }
