"""Reading, checking and writing a study; a wrong one is told with file, key, value and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from preln.config.base import Settings
from preln.config.study import Study
from preln.errors import PrelnError
from preln.files import write_text


class StudyError(PrelnError):
    """A study that cannot be run; the message is written for the person who wrote the file."""


def _where(location: Iterable[int | str]) -> str:
    """The dotted key of a pydantic location, without the tag of the union's branch."""
    parts = [str(part) for part in location]
    tagged = {"corpora": 2, "tasks": 2, "texts": 4}.get(parts[0]) if parts else None
    if tagged is not None and len(parts) > tagged:
        del parts[tagged]
    return ".".join(parts)


def describe(error: ValidationError) -> list[str]:
    """One readable line for each problem: the key, the value, what is allowed."""
    lines = []
    for problem in error.errors():
        where = _where(problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = "unknown key (config/README.md lists every key)"
        elif problem["type"] == "missing":
            message = "missing"
        elif problem["type"] == "tuple_type":
            message = f"{problem['input']!r}: must be a list"
        elif problem["type"] == "too_short":
            message = f"needs {problem['ctx']['min_length']} or more"
        elif problem["type"] == "int_type":
            message = f"{problem['input']!r}: must be a whole number"
        elif not isinstance(problem["input"], dict | list | tuple | BaseModel):
            message = f"{problem['input']!r}: {message}"
        lines.append(f"{where}: {message}" if where else message)
    return lines


def validate(content: Any, origin: str) -> Study:
    """The study in `content`, the parsed file `origin`.

    Raises:
        StudyError: with one line for each wrong key.
    """
    try:
        return Study.model_validate(content)
    except ValidationError as error:
        raise StudyError("\n".join(f"{origin}: {line}" for line in describe(error))) from None


def of_results(path: Path) -> Study:
    """The study of a results folder's study.yaml, named as that folder, which may be a copy of another.

    Raises:
        StudyError: if it cannot be read.
    """
    return load(path).model_copy(update={"study": path.resolve().parent.name})


def require_local_paths(study: Study, origin: str) -> None:
    """See that the files and folders which the study names are there.

    Raises:
        StudyError: with a line for each that is not.
    """
    sections: dict[str, Mapping[str, Settings]]
    sections = {"corpora": study.corpora, "texts": study.texts, "tasks": study.tasks}
    missing = [
        f"{origin}: {section}.{name}: {path} does not exist"
        for section, named in sections.items()
        for name, one in named.items()
        for path in one.local_paths
        if not path.exists()
    ]
    if missing:
        raise StudyError("\n".join(missing))


def load(path: Path) -> Study:
    """Read and check the study file at `path`.

    Raises:
        StudyError: if the file is missing, is not YAML, or is not a study.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror})") from None
    except yaml.YAMLError as error:
        raise StudyError(f"{path}: not YAML: {error}") from None
    return validate(content, str(path))


def write(study: Study, path: Path) -> None:
    """Write the study with every default filled in; `load` reads it back."""
    content = yaml.safe_dump(study.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    write_text(path, content)
