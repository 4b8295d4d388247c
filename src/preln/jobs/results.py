"""A study's folder of results: where it is, and the study that was run in it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from preln.config import NoResults, Study, StudyError, of_results, read
from preln.config.base import listed, meant, nearest

STUDY_FILE = "study.yaml"
"""The study as it was run, in the folder of its results."""


def study_file(path: Path) -> Path:
    """The file of a study that is named by its file or by a folder with study.yaml.

    Raises:
        StudyError: if there is none; the message names the file of a study of this name, or those that there are.
    """
    # A path that the system refuses, such as one that is too long, is no folder; `Path.is_dir` would raise.
    found = path / STUDY_FILE if os.path.isdir(path) else path
    try:
        os.lstat(found)
    except OSError as error:
        raise StudyError(f"{found}: cannot be read ({error.strerror}){_hint(path)}") from None
    return found


def _hint(path: Path) -> str:
    """Which study may be meant by a path at which there is none."""
    if named := study_named(path.stem):
        return f"; the study {path.stem} is in {named}"
    known = sorted(map(str, Path("config").glob("*.yaml")))
    return meant(str(path), known) or (f"; there are {listed(known)}" if known else "")


def of_folder(results: Path) -> Path:
    """The study.yaml of a folder of results, which may be named by it."""
    return results if results.name == STUDY_FILE else results / STUDY_FILE


def read_results(results: Path) -> tuple[Path, Study]:
    """A study's folder of results (or its study.yaml), and the study.

    Raises:
        NoResults: if there are none; the message names those that there are.
        StudyError: if a study of this name has its results elsewhere, or it cannot be read.
    """
    path = of_folder(results)
    try:
        study = of_results(path)
    except NoResults as error:
        found = [other.parent for other in files_made(f"results/*/{STUDY_FILE}", Path())]
        if not found:
            raise
        name = path.parent.name
        names = [other.name for other in found]
        near = nearest(name, names)
        places = " or ".join(str(other) for other in found if other.name == near)
        if name not in names and (asked := study_named(name)):
            hint = f"`preln run {asked}` makes them"
        else:
            hint = f"did you mean {places}?" if near else f"there are results in {listed(found)}"
        # A study that has not begun is shown from its file (`status`). One of this very name has begun elsewhere.
        kind = StudyError if name in names else NoResults
        raise kind(f"{path.parent}: holds no results; {hint}") from error
    return path.resolve().parent, study


def study_named(study: str) -> Path | None:
    """The file of `config/` with the study of this name, which may not have begun."""
    for path in sorted(Path("config").glob("*.yaml")):
        with suppress(StudyError):
            if read(path).get("study") == study:
                return path
    return None


def files_made(path: str, folder: Path) -> list[Path]:
    """The files that a workflow in `folder` has made, by the path (or pattern) that the rules give them: in the folder
    itself first, then up to two folders below it, where a module with a prefix has its files."""
    return [found for depth in ("", "*/", "*/*/") for found in sorted(folder.glob(depth + path))]


def prepared_for(results: Path, path: str) -> Path:
    """What the workflow made for the results of a study: below the folder that has `results/`, which may be that of a
    module's prefix, and otherwise below the current one."""
    found = results.parent.parent / path
    return found if found.exists() else Path(path)
