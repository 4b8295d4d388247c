"""Reading, checking and writing a study; a wrong one is told with file, key, value and what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from preln.config.study import Study
from preln.errors import PrelnError
from preln.files import write_text


class StudyError(PrelnError):
    """A study that cannot be run; the message is written for the person who wrote the file."""


def _where(problem: ErrorDetails, content: Any) -> str:
    """The dotted key of a problem in the content. Its location has the branches of unions too, which are no keys."""
    parts = []
    for part in problem["loc"]:
        in_list = isinstance(content, list | tuple) and isinstance(part, int)
        if in_list or (isinstance(content, dict) and part in content):
            parts.append(str(part))
            content = content[part]
    if problem["type"] == "missing":
        parts.append(str(problem["loc"][-1]))
    return ".".join(parts)


def describe(error: ValidationError, content: Any) -> list[str]:
    """One readable line for each problem of the content: the key, the value, what is allowed."""
    lines = []
    for problem in error.errors():
        if problem["type"] == "too_short" and len(problem["input"]) >= problem["ctx"]["min_length"]:
            # Long enough, but for the items that are wrong, of which each has a line of its own.
            continue
        where = _where(problem, content)
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
        raise StudyError("\n".join(f"{origin}: {line}" for line in describe(error, content))) from None


def of_results(path: Path) -> Study:
    """The study of a results folder's study.yaml, named as that folder, which may be a copy of another.

    Raises:
        StudyError: if there is none, or it cannot be read.
    """
    if not path.exists():
        raise StudyError(f"{path.parent}: holds no results; name a folder of results, such as results/quick")
    return load(path).model_copy(update={"study": path.resolve().parent.name})


def require_local_paths(study: Study, origin: str) -> None:
    """See that the files and folders which the study names are there.

    Raises:
        StudyError: with a line for each that is not.
    """
    missing = [
        f"{origin}: {key}: {path} does not exist" for key, path in study.local_paths.items() if not path.exists()
    ]
    if missing:
        raise StudyError("\n".join(missing))


def load(path: Path) -> Study:
    """Read and check the study file at `path`.

    Raises:
        StudyError: if the file is missing, is not YAML, or is not a study.
    """
    return validate(read(path), str(path))


def read(path: Path) -> Any:
    """The content of the YAML file at `path`, in which each key stands once.

    Raises:
        StudyError: if the file is missing, is not YAML, or has a key twice.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _EachKeyOnce)
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise StudyError(f"{path}: line {line}: not UTF-8; save it as UTF-8") from None
    except yaml.YAMLError as error:
        raise StudyError(f"{path}: not YAML: {error}") from None


class _EachKeyOnce(yaml.SafeLoader):
    """YAML's reader, which would take the last of several values of a key."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        # As the text has it: what a key takes over from another section (`<<`) is added later.
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        found: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in found:
                    raise yaml.composer.ComposerError(None, None, f"the key {key.value} is given twice", key.start_mark)
                found.add(key.value)
        return node


def write(study: Study, path: Path) -> None:
    """Write the study with every default filled in; `load` reads it back."""
    content = yaml.safe_dump(study.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    write_text(path, content)
