"""Tasks of pairs of sentences with one of two labels: read, checked line by line, and cut into the model's pieces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from io import BufferedReader
from pathlib import Path
from random import Random
from typing import NamedTuple

import sentencepiece
from tqdm import tqdm

from preln.config import EmbeddedTask, MrpcTask, RteTask, Task
from preln.corpora import CorpusError, data
from preln.corpora.english.sentences import normalised
from preln.corpora.registry import GLUES_DEV_IDS, MRPC_DEV_IDS, MRPC_PAIRS, RTE
from preln.corpora.streams import member
from preln.corpora.text import lines_of, unusable, write_lines
from preln.records.files import replaced_folder, require_stage, write_json

PARTS = ("train", "dev")
SIDES = ("input0", "input1", "label")
"""The files of a part of a prepared task: the pieces of the first and the second sentences, and 0 or 1."""
MRPC_COLUMNS = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
RTE_COLUMNS = ("index", "sentence1", "sentence2", "label")
MRPC_LABELS = {"0": False, "1": True}
RTE_LABELS = {"not_entailment": False, "entailment": True}

SPECIAL = 4
"""Symbols beside the pieces of a pair: <s> first </s> </s> second </s>."""


class SentencePair(NamedTuple):
    """Two sentences, and whether the second says the same as the first, or follows from it."""

    first: str
    second: str
    holds: bool


Parts = dict[str, list[SentencePair]]


def read(task: Task, downloads: Path) -> Parts:
    """The pairs of train and dev.

    Raises:
        CorpusError: if a file is missing or malformed, naming it and the line.
    """
    match task:
        case EmbeddedTask():
            return _embedded(task)
        case MrpcTask():
            folder = task.folder or downloads
            ids = next((p for p in (folder / MRPC_DEV_IDS, folder / GLUES_DEV_IDS) if p.exists()), None)
            return mrpc(folder / MRPC_PAIRS, ids or folder / MRPC_DEV_IDS)
        case RteTask():
            folder = task.folder or downloads
            return {part: rte(folder, part) for part in PARTS}


def prepare_task(task: Task, downloads: Path, model: Path, longest: int, out: Path) -> None:
    """Write `out`/{train,dev}.{input0,input1,label}, the pieces of the sentences by the BPE `model` of the text that is
    pre-trained on, and 0 or 1; and task.json. A pair of more than `longest` tokens, which the pre-trained model reads,
    loses pieces at the end of its longer sentence.

    Raises:
        Damaged: if the model is not as it was prepared.
        CorpusError: as `read`.
    """
    require_stage(model.parent, {model.name}.__contains__)
    parts = read(task, downloads)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    counts: dict[str, dict[str, int]] = {}
    with replaced_folder(out) as folder:
        for part in PARTS:
            pairs = parts[part]
            rows: list[tuple[str, str, str]] = []
            too_long = 0
            for pair in tqdm(pairs, desc=f"prepare {part}", unit=" pairs", delay=2):
                encoded = [processor.encode(normalised(side), out_type=str) for side in (pair.first, pair.second)]
                kept = shortened(encoded[0], encoded[1], longest - SPECIAL)
                rows.append((" ".join(kept[0]), " ".join(kept[1]), str(int(pair.holds))))
                too_long += kept != tuple(encoded)
            for side, lines in zip(SIDES, zip(*rows, strict=True), strict=True):
                write_lines(folder / f"{part}.{side}", lines)
            positive = sum(pair.holds for pair in pairs)
            counts[part] = {"pairs": len(pairs), "positive": positive, "shortened": too_long}
        write_json(
            folder / "task.json", {"settings": task.model_dump(mode="json"), "longest": longest, "parts": counts}
        )


def shortened(first: list[str], second: list[str], most: int) -> tuple[list[str], list[str]]:
    """Two sentences of at most `most` pieces together: the longer one loses its end, then both."""
    half = most // 2
    spare = max(half, most - len(second))
    first = first[:spare]
    return first, second[: most - len(first)]


def mrpc(pairs: Path, dev_ids: Path) -> Parts:
    """Train and dev of MRPC's original file; `dev_ids` lists the pairs of ids that are dev.

    Raises:
        CorpusError: if a file is missing or malformed, or a pair of dev is not in the other file.
    """
    held = {tuple(ids) for _, ids in _rows(dev_ids, 2)}
    parts: Parts = {"train": [], "dev": []}
    dev = set()
    for where, (label, *ids, first, second) in _rows(pairs, len(MRPC_COLUMNS), MRPC_COLUMNS):
        pair = _pair(where, first, second, label, MRPC_LABELS)
        if tuple(ids) in held:
            dev.add(tuple(ids))
        parts["dev" if tuple(ids) in held else "train"].append(pair)
    if missing := held - dev:
        raise CorpusError(
            f"{dev_ids}: {len(missing)} of its pairs are not in {pairs}, such as {' '.join(min(missing))}"
        )
    return _not_empty(parts, pairs)


def rte(folder: Path, part: str) -> list[SentencePair]:
    """A part of RTE, from GLUE's RTE.zip or from its files in a folder.

    Raises:
        CorpusError: if the file is missing or malformed.
    """
    archive, name = folder / RTE, f"RTE/{part}.tsv"
    is_packed = archive.exists()
    path = archive / name if is_packed else folder / f"{part}.tsv"
    rows = _rows(path, len(RTE_COLUMNS), RTE_COLUMNS, member(archive, name) if is_packed else None)
    pairs = [_pair(where, first, second, label, RTE_LABELS) for where, (_, first, second, label) in rows]
    return _not_empty({part: pairs}, path)[part]


def _embedded(task: EmbeddedTask) -> Parts:
    pairs = [SentencePair(*pair) for pair in data.task(task.relation)]
    chosen = Random(task.seed).sample(pairs, task.dev + task.pairs)
    return {"dev": chosen[: task.dev], "train": chosen[task.dev :]}


def _rows(
    path: Path,
    columns: int,
    header: tuple[str, ...] | None = None,
    opened: AbstractContextManager[BufferedReader] | None = None,
) -> Iterator[tuple[str, list[str]]]:
    """The fields of each line, parted by tabs, with where the line stands. A line that has another number of fields, or
    is another header, is an error."""
    if opened is None and not path.is_file():
        raise CorpusError(f"{path}: is missing; the task's `folder` must hold the official files")
    for number, line in enumerate(lines_of(path, opened=opened), start=1):
        where, fields = f"{path}, line {number}", line.split("\t")
        if header is not None and number == 1:
            if tuple(fields) != header:
                raise CorpusError(f"{where}: the header is {fields}; it should be {list(header)}, parted by tabs")
            continue
        if not line:
            continue
        if len(fields) != columns:
            raise CorpusError(f"{where}: {len(fields)} fields parted by tabs, it should be {columns}")
        yield where, fields


def _pair(where: str, first: str, second: str, label: str, labels: dict[str, bool]) -> SentencePair:
    if label not in labels:
        raise CorpusError(f"{where}: the label {label!r}; allowed: {', '.join(labels)}")
    for side in (first, second):
        if reason := unusable(side):
            raise CorpusError(f"{where}: a sentence cannot be used ({reason.replace('_', ' ')})")
    return SentencePair(first, second, labels[label])


def _not_empty(parts: Parts, origin: Path) -> Parts:
    for part, pairs in parts.items():
        if not pairs:
            raise CorpusError(f"{origin}: no pairs of {part}")
    return parts
