"""The parts of every section of a study: strict settings, names, paths of this machine, and checks of lists."""

from __future__ import annotations

import hashlib
import itertools
import json
import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    WrapSerializer,
    model_validator,
)

from preln.records.files import checksums_in, sha256, write_text
from preln.values import NAME

NAMES, DATES = f"^{NAME}$", r"^\d{8}$"
FORMS = {
    NAMES: "must be of lower-case letters, digits and hyphens, and not begin with a hyphen, such as my-study",
    DATES: "must be eight digits, such as 20260101",
}
"""The form of a text in words, by the regular expression that it must match."""

Name = Annotated[str, Field(pattern=NAMES, max_length=64)]
"""Folders and files have it in their names, which are no longer than 255 bytes."""

MOST_UPDATES = 100_000_000
"""Largest number of updates of a run; the paper's longest has a million."""

WIDEST = 65_536
"""Largest model width."""

Number = TypeVar("Number", int, float)
S = TypeVar("S", bound="Settings")


_CUT = reprlib.Repr()
_CUT.maxstring = _CUT.maxother = 200
_CUT.maxlist = _CUT.maxdict = 10
_CUT.maxlevel = 3


def shown(value: object) -> str:
    """A value as messages show it, cut where it is long or deep."""
    return _CUT.repr(value)


def listed(names: Iterable[object], most: int = 20) -> str:
    """Names as messages list them: the first ones, and how many there are beside these."""
    every = list(names)
    rest = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(map(str, every[:most])) + rest


def nearest(wrong: str, known: Iterable[object]) -> str | None:
    """The name that a wrong one is most like, whatever its case and whether its words are joined by `-` or by `_`. None
    where it is like none."""
    # A key of YAML may be a number, or nothing.
    names = {_plain(str(name)): str(name) for name in known}
    return next((names[near] for near in get_close_matches(_plain(wrong), names, n=1)), None)


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")


def meant(wrong: str, known: Iterable[object]) -> str:
    """The hint behind a wrong name in a message: the nearest known name, as a question; empty if none is near."""
    near = nearest(wrong, known)
    return f" (did you mean {near}?)" if near else ""


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("there is no such home folder") from None


LocalPath = Annotated[Path, AfterValidator(_expanded)]
"""A file or folder of this machine; `~` is the user's home."""

IDENTITY = "identity"
"""The context in which a section is written as what it is."""

_NUMBERS = (int, float, int | None, float | None)


def _place(path: Path | None, plain: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
    return None if info.context == IDENTITY else plain(path)


RECORDED = "recorded"
"""The context in which a study is written beside its results: with what its texts are, which may be elsewhere then."""


def recorded(settings: S) -> S:
    """The settings with the checksums of the user's texts that they name, as these are now."""
    return type(settings).model_validate(settings.model_dump(context=RECORDED))


Copy = Annotated[LocalPath | None, WrapSerializer(_place)]
"""Where this machine has a published text, in place of a download; which is no part of what the text is."""


LONG_TEXT = 2**26
"""Bytes of a text from which on its checksum is kept."""
CHECKSUMS = Path(".snakemake/preln-checksums")
"""The checksums of long texts: a file each, named after the paths, sizes, times and inodes of the text's files."""


def content_of(path: Path) -> str:
    """The SHA-256 of a file, or of the names and the content of all files in a folder; the path of what is not there,
    without which the study is refused, or its records stay."""
    try:
        if path.is_dir():
            files = tuple(sorted(filter(Path.is_file, path.rglob("*"))))
        elif path.is_file():
            files = (path,)
        else:
            return str(path)
        states = ((status.st_size, status.st_mtime_ns, status.st_ino) for status in map(Path.stat, files))
        return _checksum(path.absolute(), files, tuple(states))
    except OSError:
        return str(path)


@cache
def _checksum(path: Path, files: tuple[Path, ...], states: tuple[tuple[int, int, int], ...]) -> str:
    """The checksum of a text whose files have these states. That of a long text is kept for other processes: each job
    on a cluster reads the study."""
    is_long = sum(size for size, *_ in states) >= LONG_TEXT
    kept = CHECKSUMS / hashlib.sha256(repr((path, files, states)).encode()).hexdigest()
    if is_long:
        with suppress(OSError):
            return kept.read_text(encoding="utf-8")
    checksum = sha256(path) if path.is_file() else hashlib.sha256(json.dumps(checksums_in(path)).encode()).hexdigest()
    if is_long:
        # The folder may not be the user's to write to.
        with suppress(OSError):
            write_text(kept, checksum)
    return checksum


def of_whole_heads(width: int, heads: int) -> list[str]:
    """A line that begins with the key if attention heads cannot share a width; none otherwise."""
    if not (over := width % heads):
        return []
    near = " and ".join(str(multiple) for multiple in (width - over, width - over + heads) if multiple)
    return [f"width: {width} is no multiple of heads, of which there are {heads}; {near} would be"]


def ascending(values: tuple[Number, ...]) -> tuple[Number, ...]:
    """The values, or an error unless each is greater than the one before."""
    if any(left >= right for left, right in itertools.pairwise(values)):
        raise ValueError(f"{shown(list(values))} must ascend, each number once")
    return values


def distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    """The values, or an error that names those that stand more than once."""
    if repeated := [value for value, count in Counter(values).items() if count > 1]:
        raise ValueError(f"given twice: {listed(repeated)}")
    return values


def later(before: Any, description: str, **bounds: Any) -> Any:
    """A field that was added when studies had been recorded already; its default is the value `before`, by which the
    code went until then.

    While it has that value the field is left out of what is written, so older records keep their identity. A field
    without this is part of every identity: whoever forgets it makes records stale, and never takes them for what they
    are not.
    """
    return Field(before, description=description, exclude_if=lambda value: bool(value == before), **bounds)


class Settings(BaseModel):
    """Base of all sections: frozen, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _numbers(cls, content: Any) -> Any:
        if not isinstance(content, dict):
            return content
        kinds = {key: cls.model_fields[key].annotation for key in content if key in cls.model_fields}
        for key, kind in kinds.items():
            # Python's True is 1, and YAML's yes and on are True.
            if isinstance(content[key], bool) and kind in _NUMBERS:
                raise ValueError(f"{key}: {content[key]}: must be a number")
        # Snakemake gives the numbers of --config as text, and pydantic looks a choice up as it stands.
        choices = ((key, number) for key, kind in kinds.items() for number in get_args(kind) if isinstance(number, int))
        return content | {key: number for key, number in choices if str(number) == content[key]}

    @classmethod
    def default_of(cls, key: str) -> Any:
        """The value of a key that is left out."""
        return cls.model_fields[key].default

    @property
    def identity(self) -> dict[str, Any]:
        """The section as plain JSON values, without the place of a published text on this machine: a run on it is the
        same run wherever the text lies."""
        return self.model_dump(mode="json", context=IDENTITY)

    @property
    def local_paths(self) -> dict[str, Path]:
        """The files and folders of this machine that the section names, by their dotted keys, in its order."""
        return dict(_paths(self))


def _paths(value: object, *keys: str) -> Iterator[tuple[str, Path]]:
    """The paths in a section's value, which stands at the keys."""
    match value:
        case Path():
            yield ".".join(keys), value
        case Settings() | dict():
            for key, entry in dict(value).items():
                yield from _paths(entry, *keys, key)
        case tuple():
            for number, entry in enumerate(value):
                yield from _paths(entry, *keys, str(number))
