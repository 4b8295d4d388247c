"""The libraries that the workflow meets when it reads a study, and does not use then: each is imported when it is first
used."""

from __future__ import annotations

import re
import shlex
import sys
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from preln import DISTRIBUTION

if TYPE_CHECKING:
    import filelock
    import matplotlib as mpl
    import numpy as np
    import pandas as pd
    import regex
    import seaborn
    import tabulate
    import tqdm
else:

    class _Library(ModuleType):
        """A library that is imported when something of it is asked for."""

        def __getattr__(self, name: str) -> Any:
            library = import_module(self.__name__)
            try:
                return getattr(library, name)
            except AttributeError:
                # It may be a part that its package does not import itself, such as matplotlib.figure.
                try:
                    return import_module(part := f"{self.__name__}.{name}")
                except ModuleNotFoundError as error:
                    if error.name != part:
                        raise
                raise

    filelock, mpl, np, pd, regex, seaborn, tabulate, tqdm = map(
        _Library, ("filelock", "matplotlib", "numpy", "pandas", "regex", "seaborn", "tabulate", "tqdm")
    )

__all__ = ["filelock", "mpl", "np", "pd", "regex", "seaborn", "tabulate", "tqdm"]

_PACKAGES = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python", "hydra": "hydra-core"}
"""Libraries whose packages have other names."""


def missing(error: ModuleNotFoundError) -> str | None:
    """The message on a library that is not installed; None where it is none of those that the package names."""
    library = (error.name or "").partition(".")[0]
    if library.startswith("fairseq"):
        return (
            f"{library}: not installed, and translation and BERT need it; in a clone of preln, with a C++ compiler: "
            f"bash tools/install.sh {shlex.quote(sys.executable)}"
        )
    package = _PACKAGES.get(library, library).lower().replace("_", "-")
    locks = Path(__file__).parents[2] / "locks"
    extras, requirements = [], None
    # A copy of the code on Python's path is not installed.
    with suppress(PackageNotFoundError):
        requirements = requires(DISTRIBUTION)
    for requirement in requirements or []:
        extra = re.fullmatch(r"([\w.-]+)[^[]*; extra == [\"'](\w+)[\"']", requirement)
        if extra and extra[1].lower() == package:
            pinned = locks / f"requirements-{extra[2]}.txt"
            # Anything else might replace the clone's package, which pip has been told to take from where it lies.
            what = f"--no-deps --requirement {shlex.quote(str(pinned))}" if pinned.exists() else f"'.[{extra[2]}]'"
            extras.append(f"python -m pip install {what}")
    return f"{library}: not installed; in a clone of preln: {' or '.join(extras)}" if extras else None
