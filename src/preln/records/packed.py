"""The records of a whole study in one file, `records.jsonl`, with which they come in a clone.

The first line has the blocks that several jobs share, such as the corpus. Each further line is a job: its folder, and
its files by their names, JSON as it is and tables as lists of lines. The long tables lie beside it, in one CSV for all
jobs of a kind. The files of a job that are laid out from there are the same to the byte: the checksums in its run.json
still hold.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from preln.records.files import Damaged, json_text, replaced, sha256, write_text

FILE = "records.jsonl"
RUN = "run.json"
LONG_TABLES = ("measurements.csv", "updates.csv")
"""Tables of a job that stand in a file of their own, in the folder of the study's results."""
_COPY = ".copy"
"""A file beside what was laid out: the SHA-256 of the run.json there."""
_JOB = "job"
"""The first column of a long table, and the key of a line: the job's folder in the study's results."""
_BLOCKS, _BLOCK, _COLUMNS = "blocks", "block", "columns"

Files = dict[str, str]
"""The text of each of a job's files by its name."""


def read_bytes(path: Path) -> bytes:
    """The content of a job's file, from its folder, or else from the file of its study. A copy in the folder
    gives way to a newer record in the file.

    Raises:
        OSError: if it is in neither.
    """
    # A shorter path has no folder of a study.
    is_of_study = len(path.parents) > 2
    if not (is_of_study and _is_outdated(path.parent)):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            if not is_of_study:
                raise
    text = _study(path.parents[2]).text(_name(path.parent), path.name)
    if text is None:
        raise FileNotFoundError(2, "No such file or directory", str(path))
    return text.encode()


def exists(path: Path) -> bool:
    """A job's file is in its folder, or in the file of its study."""
    if len(path.parents) < 3 or (path.exists() and not _is_outdated(path.parent)):
        return path.exists()
    study, job = _study(path.parents[2]), _name(path.parent)
    return job in study.jobs and (path.name in study.jobs[job] or job in study.rows(path.name))


def is_packed(folder: Path) -> bool:
    """The job of a folder has a line in the file of its study."""
    return _name(folder) in _study(folder.parents[1]).jobs


def recorded(results: Path) -> list[Path]:
    """The run.json of each job that is recorded in the results of a study, in either form."""
    laid_out = {_name(path.parent): path for path in sorted(results.glob(f"*/*/{RUN}"))}
    return list(({job: results / job / RUN for job in _study(results).jobs} | laid_out).values())


def lay_out(folder: Path) -> None:
    """Write the files of a job to its folder, from the file of its study.

    Raises:
        FileNotFoundError: if the job is not in it.
    """
    study, job = _study(folder.parents[1]), _name(folder)
    if job not in study.jobs:
        raise FileNotFoundError(2, f"has no {job}", str(folder.parents[1] / FILE))
    # The record comes after what it is of, and the note of it last: whatever is cut short is laid out again.
    for name in sorted({*study.jobs[job], *LONG_TABLES}, key=lambda name: name == RUN):
        text = study.text(job, name)
        if text is not None:
            write_text(folder / name, text)
    if (checksum := study.checksum(job)) is not None:
        write_text(folder / _COPY, checksum)


def _is_outdated(folder: Path) -> bool:
    """The folder has a copy of a record in whose place the file of the study has another."""
    try:
        copied = (folder / _COPY).read_text()
    except FileNotFoundError:
        return False
    recorded = _study(folder.parents[1]).checksum(_name(folder))
    return recorded not in (None, copied) and (folder / RUN).is_file() and sha256(folder / RUN) == copied


def pack(results: Path, jobs: Mapping[str, Iterable[str]]) -> None:
    """Write the file of a study, and its long tables, from the names of the files of each job by its folder; a job that
    has none of them is left out. `results` is the folder of the study's results."""
    contents = {
        job: {name: read_bytes(results / job / name).decode() for name in names if exists(results / job / name)}
        for job, names in jobs.items()
    }
    recorded = {job: files for job, files in contents.items() if files}
    tables = {
        name: LongTable.of({job: files[name] for job, files in recorded.items() if name in files})
        for name in LONG_TABLES
    }
    written = {job: _values(files, tables) for job, files in recorded.items()}
    blocks = _shared(files[RUN] for files in written.values() if isinstance(files.get(RUN), dict))
    lines: list[dict[str, Any]] = [{_BLOCKS: dict(blocks.values())}]
    for job, files in written.items():
        lines.append({_JOB: job, **files, **_with_blocks(files, blocks)})
    for name, table in tables.items():
        if table:
            write_text(results / name, table.text)
        else:
            (results / name).unlink(missing_ok=True)
    with replaced(results / FILE) as partial:
        partial.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def _values(files: Files, tables: Mapping[str, LongTable | None]) -> dict[str, Any]:
    """The line of a job, without the job: its files; of one in a long table, its columns if it lacks some."""
    values: dict[str, Any] = {}
    for name, text in files.items():
        head, _, rows = text.partition("\n")
        columns = head.split(",")
        table = tables.get(name)
        if table is None or not rows:
            values[name] = _value(text)
        elif columns != table.columns:
            values[name] = {_COLUMNS: columns}
    return values


def _value(text: str) -> Any:
    """A file as a value of JSON from which its text can be had again: JSON, a list of lines, or else the text."""
    try:
        value = json.loads(text)
    except ValueError:
        pass
    else:
        if isinstance(value, dict) and json_text(value) == text:
            return value
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else text


def _text(value: Any) -> str:
    """The text of a file by its value in a line."""
    if isinstance(value, dict):
        return json_text(value)
    return value if isinstance(value, str) else "".join(f"{line}\n" for line in value)


def _shared(records: Iterable[dict[str, Any]]) -> dict[str, tuple[str, Any]]:
    """The name and the value of each block that several records have under one key, by its key and its JSON."""
    values = [(key, value) for record in records for key, value in record.items() if isinstance(value, dict)]
    counts = Counter(_key(key, value) for key, value in values)
    blocks: dict[str, tuple[str, Any]] = {}
    numbers: Counter[str] = Counter()
    for key, value in values:
        text = _key(key, value)
        if counts[text] > 1 and text not in blocks:
            numbers[key] += 1
            blocks[text] = (f"{key}-{numbers[key]}", value)
    return blocks


def _key(key: str, value: Any) -> str:
    # The order of the keys is a part of a file's text.
    return f"{key} {json.dumps(value)}"


def _with_blocks(files: Mapping[str, Any], blocks: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
    """A job's run.json with the names of blocks in their place."""
    record = files.get(RUN)
    if not isinstance(record, dict):
        return {}
    named = {key: blocks.get(_key(key, value)) for key, value in record.items()}
    return {RUN: {key: {_BLOCK: name[0]} if (name := named[key]) else value for key, value in record.items()}}


@dataclass(frozen=True)
class LongTable:
    """The tables of several jobs as one: every column that any of them has, and of each job its rows as they stand in
    the file, without the job."""

    columns: list[str]
    rows: dict[str, list[str]]

    @classmethod
    def of(cls, texts: Files) -> LongTable | None:
        """The long table of the tables of some jobs, by their folders; None where there is none."""
        heads = [text.partition("\n")[0].split(",") for text in texts.values()]
        columns = list(dict.fromkeys(name for head in sorted(heads, key=len, reverse=True) for name in head))
        if not columns:
            return None
        rows = {}
        for (job, text), head in zip(texts.items(), heads, strict=True):
            _, *lines = text.split("\n")[:-1]
            if head != columns:
                cells = (dict(zip(head, row, strict=True)) for row in csv.reader(lines))
                lines = _csv([row.get(name, "") for name in columns] for row in cells)
            rows[job] = lines
        return cls(columns, rows)

    @classmethod
    def read(cls, lines: list[str]) -> LongTable:
        """The long table in the lines of a file.

        Raises:
            ValueError: if a line is of no table, such as git's marks of a conflict.
        """
        first, *columns = lines[0].split(",")
        if first != _JOB:
            raise ValueError(f"line 1 has no column {_JOB}")
        rows: dict[str, list[str]] = {}
        for number, line in enumerate(lines[1:], start=2):
            job, comma, row = line.partition(",")
            if not comma:
                raise ValueError(f"line {number} is no row")
            rows.setdefault(job, []).append(row)
        return cls(columns, rows)

    @property
    def text(self) -> str:
        """The content of its file."""
        head = ",".join([_JOB, *self.columns])
        return _text([head, *(f"{job},{row}" for job, rows in self.rows.items() for row in rows)])

    def of_job(self, job: str, columns: list[str] | None) -> str:
        """The table of one job, which has these columns, or all."""
        lines = self.rows[job]
        if columns is not None:
            places = [self.columns.index(name) for name in columns]
            lines = _csv([row[place] for place in places] for row in csv.reader(lines))
        return _text([",".join(columns or self.columns), *lines])


def _csv(rows: Iterable[list[str]]) -> list[str]:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().split("\n")[:-1]


class _Study:
    """The file of a study, with its long tables; `jobs` has the content of each job's line, by its folder."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._tables: dict[str, LongTable] = {}
        self._checksums: dict[str, str] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        if not (results / FILE).is_file():
            return
        try:
            head, *lines = [json.loads(line) for line in _rows(results / FILE)]
            blocks = head[_BLOCKS]
            for line in lines:
                job = line.pop(_JOB)
                if isinstance(line.get(RUN), dict):
                    line[RUN] = {
                        key: blocks[value[_BLOCK]] if isinstance(value, dict) and value.keys() == {_BLOCK} else value
                        for key, value in line[RUN].items()
                    }
                self.jobs[job] = line
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _damaged(results / FILE, error) from None

    def rows(self, name: str) -> dict[str, list[str]]:
        """The rows of each job in a long table; none of another file."""
        if name not in LONG_TABLES or not (self._results / name).is_file():
            return {}
        if name not in self._tables:
            try:
                self._tables[name] = LongTable.read(_rows(self._results / name))
            except ValueError as error:
                raise _damaged(self._results / name, error) from None
        return self._tables[name].rows

    def text(self, job: str, name: str) -> str | None:
        """The text of a job's file; None if there is none."""
        value = self.jobs.get(job, {}).get(name)
        if job in self.jobs and job in self.rows(name):
            try:
                return self._tables[name].of_job(job, value[_COLUMNS] if value else None)
            except (ValueError, IndexError) as error:
                raise _damaged(self._results / name, error) from None
        return None if value is None else _text(value)

    def checksum(self, job: str) -> str | None:
        """The SHA-256 of a job's run.json; None if there is none."""
        text = None if job in self._checksums else self.text(job, RUN)
        if text is not None:
            self._checksums[job] = hashlib.sha256(text.encode()).hexdigest()
        return self._checksums.get(job)


def _damaged(path: Path, error: Exception) -> Damaged:
    return Damaged(f"{path}: damaged ({error}); restore it, for example by git checkout")


def _name(folder: Path) -> str:
    """The folder of a job in the folder of the study's results."""
    return f"{folder.parent.name}/{folder.name}"


def _study(results: Path) -> _Study:
    """The file of a study, which is read again when it or a long table has changed."""
    paths = [path for name in (FILE, *LONG_TABLES) if (path := results / name).is_file()]
    return _read(results, *((status.st_mtime_ns, status.st_size) for status in map(Path.stat, paths)))


@lru_cache(maxsize=32)
def _read(results: Path, *_ages: tuple[int, int]) -> _Study:
    return _Study(results)


def _rows(path: Path) -> list[str]:
    """The lines of a file. `str.splitlines` would split at more signs than those that end a line."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]))
