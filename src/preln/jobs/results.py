"""A study's folder of results: where it is, and the study that was run in it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from preln.config import NoResults, Study, StudyError, load, of_results, read
from preln.config.base import listed, meant, nearest

STUDY_FILE = "study.yaml"
"""The study as it was run, in the folder of its results."""


def study_file(path: Path) -> Path:
    """The file of a study that is named by its file or by a folder with study.yaml.

    Raises:
        StudyError: if there is none; the message names the file of a study of this name, or those that there are.
    """
    # `Path.is_dir` would raise for a path that is too long.
    file = path / STUDY_FILE if os.path.isdir(path) else path
    try:
        os.lstat(file)
    except OSError as error:
        known = sorted(map(str, Path("config").glob("*.yaml")))
        named = study_named(path.stem)
        hint = f"; the study {path.stem} is in {named}" if named else meant(str(path), known)
        hint = hint or (f"; there are {listed(known)}" if known else "")
        raise StudyError(f"{file}: cannot be read ({error.strerror}){hint}") from None
    return file


def of_folder(results: Path) -> Path:
    """The study.yaml of a folder of results, which may be named by it, or by the file of the study.

    Raises:
        StudyError: if that file is not there or not a study.
    """
    if results.name == STUDY_FILE:
        return results
    is_file = results.suffix in (".yaml", ".yml") or os.path.isfile(results)
    return (Path("results", load(study_file(results)).study) if is_file else results) / STUDY_FILE


def read_results(results: Path) -> tuple[Path, Study]:
    """A study's folder of results, which is named as in `of_folder`, and the study.

    Raises:
        NoResults: if there are none; the message names those that there are.
        StudyError: if a study of this name has its results elsewhere, or it cannot be read.
    """
    path = of_folder(results)
    try:
        study = of_results(path)
    except NoResults as error:
        folders = {file.parent.name: file.parent for file in files_made(f"results/*/{STUDY_FILE}", Path())}
        is_by_study = path not in (results, results / STUDY_FILE)
        if is_by_study and path.parent.name not in folders:
            raise NoResults(f"{path.parent}: holds no results yet; they come by preln run {results}") from error
        if not folders:
            raise
        near = nearest(path.parent.name, folders)
        hint = f"did you mean {folders[near]}?" if near else f"there are results in {listed(folders.values())}"
        # A study that has not begun is shown from its file (`status`). One of this very name has begun elsewhere.
        kind = StudyError if path.parent.name in folders else NoResults
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
    return [made for depth in ("", "*/", "*/*/") for made in sorted(folder.glob(depth + path))]


def prepared_for(results: Path, path: str) -> Path:
    """A path that the workflow made for the results of a study: below the folder that has `results/`, which may be that
    of a module's prefix, and otherwise below the current one."""
    below = results.parent.parent / path
    return below if below.exists() else Path(path)
