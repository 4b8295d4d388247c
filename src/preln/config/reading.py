"""Reading, checking and writing a study; a wrong one is told with file, key, value and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import YAMLError
from ruamel.yaml.reader import ReaderError

from preln.config.base import FORMS, RECORDED, meant, shown
from preln.config.grid import Grid
from preln.config.lines import document, line_of
from preln.config.study import Study
from preln.errors import PrelnError
from preln.records.files import write_text

MOST_LINES = 50
"""Most lines of a message."""


@dataclass(frozen=True)
class Mistake:
    """A thing that is wrong with a study: what a message says of it, from its place on (`my.yaml:12: language: ...`),
    and the line of the file, 0 where it has none."""

    told: str
    line: int = 0


class StudyError(PrelnError):
    """A study that cannot be run; the message, which has the first of very many mistakes, is written for the person who
    wrote the file."""

    def __init__(self, message: str, mistakes: Sequence[Mistake] = ()) -> None:
        super().__init__(message)
        self.mistakes = mistakes or (Mistake(message),)


class NoResults(StudyError):
    """A folder that holds no results of a study."""


Origin = Path | str
"""Where a study is from, for messages: its file, or the name of what is no file as it stands, and has no lines."""


def placed(origin: Origin, told: Iterable[str]) -> list[Mistake]:
    """The mistakes in a study, each behind its place: `my.yaml:12: ` for line 12 of a file. The lines begin with the
    dotted key."""
    lines = list(told)
    if not lines or isinstance(origin, str):
        return [Mistake(f"{origin}: {line}") for line in lines]
    content = document(_text(origin))
    numbered = [(line_of(content, line), line) for line in lines]
    return [Mistake(f"{origin}:{number}: {line}", number) for number, line in numbered]


def refuse(mistakes: Iterable[Mistake]) -> None:
    """End with what is wrong, a line for each thing, in the order of the file. Nothing happens where nothing is wrong.

    Raises:
        StudyError: with all mistakes; its message has the lines, or the first of very many.
    """
    wrong = sorted(dict.fromkeys(mistakes), key=lambda mistake: mistake.line)
    if not wrong:
        return
    lines = [mistake.told for mistake in wrong[:MOST_LINES]]
    if len(wrong) > MOST_LINES:
        lines.append(f"and {len(wrong) - MOST_LINES:,} more like these")
    raise StudyError("\n".join(lines), wrong)


def _where(problem: ErrorDetails, content: Any) -> str:
    """The dotted key of a problem in the content. Its location has the branches of unions too, which are no keys."""
    parts = []
    for part in problem["loc"]:
        in_list = isinstance(content, list | tuple) and isinstance(part, int) and part < len(content)
        if in_list or (isinstance(content, dict) and part in content):
            parts.append(str(part))
            content = content[part]
    if problem["type"] == "missing":
        parts.append(str(problem["loc"][-1]))
    elif problem["type"] == "union_tag_invalid":
        parts.append(problem["ctx"]["discriminator"].strip("'"))
    return ".".join(parts)


def describe(error: ValidationError, content: Any, kind: Any) -> list[str]:
    """One readable line for each problem of the content, which is not of the kind: the key, the value, what is
    allowed."""
    lines = []
    for problem in error.errors(include_url=False):
        value, context = problem["input"], problem.get("ctx", {})
        if problem["type"] == "too_short" and len(value) >= context["min_length"]:
            # Long enough, but for the items that are wrong, of which each has a line of its own.
            continue
        where = _where(problem, content)
        match problem["type"]:
            case "extra_forbidden":
                *section, key = problem["loc"]
                allowed = _known(kind, section)
                message = f"unknown key{meant(str(key), allowed) or '; allowed: ' + ', '.join(allowed)}"
            case "missing":
                message = "missing"
            case "tuple_type":
                message = f"{shown(value)}: must be a list"
            case "dict_type" | "model_type" | "model_attributes_type":
                message = f"{shown(value)}: must have keys of its own"
            case "too_short":
                message = f"needs {context['min_length']} or more"
            case "int_type" | "int_parsing":
                message = f"{shown(value)}: must be a whole number, such as 1000"
            case "string_type" if isinstance(value, bool | int | float):
                # YAML takes no, off, yes and on for truth values, and 2024 for a number.
                message = f"{shown(value)}: must be text; put what you wrote in quotes"
            case "string_pattern_mismatch":
                message = f"{shown(value)}: {FORMS[context['pattern']]}"
            case "union_tag_not_found":
                message = f"{context['discriminator'].strip(chr(39))}: missing"
            case "union_tag_invalid":
                tag, tags = context["tag"], context["expected_tags"]
                message = f"{shown(tag)}{_guess(tag, tags)}: Input should be one of {tags}"
            case _:
                message = problem["msg"].removeprefix("Value error, ")
                if not isinstance(value, dict | list | tuple | BaseModel):
                    guess = _guess(value, context.get("expected", "")) if isinstance(value, str) else ""
                    message = f"{shown(value)}{guess}: {message}"
        lines += [f"{where}: {line}" if where else line for line in message.split("\n")]
    return lines


def _known(kind: Any, place: Sequence[int | str]) -> list[str]:
    """The keys that the data model knows in a section: `kind` is the type of what is checked, such as `Study`, and
    `place` where in it the section stands, as pydantic tells places: with the branches of unions."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if not place:
            return list(kind.model_fields)
        field = kind.model_fields.get(str(place[0]))
        of_runs = list(kind.run.model_fields) if issubclass(kind, Grid) else []
        return [*(_known(field.annotation, place[1:]) if field else []), *of_runs]
    parts = get_args(kind)
    origin = get_origin(kind)
    if origin is Annotated:
        return _known(parts[0], place)
    if origin in (dict, tuple):
        return _known(parts[-1] if origin is dict else parts[0], place[1:])
    if origin in (Union, UnionType):
        branches = [part for part in parts if part is not NoneType]
        if len(branches) == 1:
            return _known(branches[0], place)
        return [key for branch in branches if place and _is(branch, place[0]) for key in _known(branch, place[1:])]
    return []


def _is(kind: Any, branch: int | str) -> bool:
    """A section is that branch of a union: it has the branch's name as its tag, or as the only value of a key."""
    if get_origin(kind) is Annotated:
        return any(isinstance(tag, Tag) and tag.tag == branch for tag in get_args(kind))
    fields = kind.model_fields.values() if isinstance(kind, type) and issubclass(kind, BaseModel) else ()
    return any(get_args(field.annotation) == (branch,) for field in fields)


@lru_cache
def _guess(value: str, allowed: str) -> str:
    """Which word was meant by a value, of those that pydantic says are allowed: `'adam', 'radam' or 'sgd'`. It is found
    once, for each run of a large grid may have the same mistake."""
    return meant(value, re.findall("'([^']+)'", allowed))


def validate(content: Any, origin: Origin) -> Study:
    """The study in `content`, which is from `origin`.

    Raises:
        StudyError: with one line for each wrong key.
    """
    try:
        return Study.model_validate(content)
    except ValidationError as error:
        refuse(placed(origin, describe(error, content, Study)))
        raise


def of_results(path: Path) -> Study:
    """The study of a results folder's study.yaml, named as that folder, which may be a copy of another.

    Raises:
        NoResults: if there is none.
        StudyError: if it cannot be read.
    """
    if not path.exists():
        raise NoResults(f"{path.parent}: holds no results; name a folder of results, such as results/quick")
    return load(path).model_copy(update={"study": path.resolve().parent.name})


def load(path: Path) -> Study:
    """Read and check the study file at `path`.

    Raises:
        StudyError: if the file is missing, is not YAML, or is not a study.
    """
    return validate(read(path), path)


_UNLIKE_ITS_NUMBER = re.compile(r"[-+]?(0[0-7_]+|[1-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)")
"""Text that YAML 1.1 takes for an octal number or for one of base 60."""


def read(path: Path) -> dict[str, Any]:
    """The content of the YAML file at `path`, in which each key stands once.

    Raises:
        StudyError: if the file is missing, is no text or not YAML, or has a key twice or a number that does not mean
            what it looks like.
    """
    text = _text(path)
    try:
        document(text)
        # As Snakemake reads it.
        content = yaml.safe_load(text)
    except (YAMLError, yaml.YAMLError) as error:
        line, problem = _problem(error, text)
        raise StudyError(f"{path}:{line}: not YAML: {problem}") from None
    except ValueError as error:
        # A value is not of the type that it has the form of, as the date 2001-99-99.
        raise StudyError(f"{path}: not YAML: {error}") from None
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and _UNLIKE_ITS_NUMBER.fullmatch(event.value):
            line = event.start_mark.line + 1 if event.start_mark else 1
            number = yaml.safe_load(event.value)
            raise StudyError(
                f"{path}:{line}: {event.value}: to YAML this is {number}; write the number, or put it in quotes"
            )
    if not isinstance(content, dict):
        value = "nothing" if content is None else shown(content)
        raise StudyError(f"{path}: holds {value}; a study has keys, of which study is the first (config/README.md)")
    return content


def _problem(error: YAMLError | yaml.YAMLError, text: str) -> tuple[int, str]:
    """The line of what is not YAML in a text, and what is wrong there."""
    if isinstance(error, ReaderError):
        return text.count("\n", 0, error.position) + 1, f"{error.reason} (U+{error.character:04X})"
    mark: Any = getattr(error, "problem_mark", None)
    line = mark.line if mark else 0
    if mark and text.split("\n")[line][mark.column :].startswith("\t"):
        return line + 1, "a tab, where YAML takes spaces alone"
    if isinstance(error, DuplicateKeyError):
        return line + 1, str(error.problem).partition(" with value ")[0]
    return line + 1, ": ".join(filter(None, (getattr(error, "context", ""), getattr(error, "problem", str(error)))))


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise StudyError(f"{path}:{line}: not UTF-8; save it as UTF-8") from None


def write(study: Study, path: Path) -> None:
    """Write the study; `load` reads the same study back."""
    write_text(path, _text_of(study))


def is_written(study: Study, path: Path) -> bool:
    """The file at `path` is what `write` makes of the study."""
    return path.is_file() and path.read_bytes() == _text_of(study).encode()


def _text_of(study: Study) -> str:
    return yaml.safe_dump(study.model_dump(mode="json", context=RECORDED), sort_keys=False, allow_unicode=True)
