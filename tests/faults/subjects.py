"""The subjects of faults: the commands of a small study, from its text to its measurements, and their records."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from preln.config import validate
from preln.pretraining import runs as pretrainings
from preln.records.files import sha256
from preln.translation.runs import expand
from tests.conftest import CORPUS, PRETRAINING, TASK, TEXT, bert_content, study_content

RESULTS = "results/tiny"
PREPARED = ("corpus", "english", "task")
TIMES = {"seconds", "tokens_per_second"}


@dataclass(frozen=True)
class Step:
    """A command of the workflow, called in a workspace."""

    command: tuple[str, ...]  # The arguments of `preln`.
    outputs: tuple[str, ...]  # The files or folders that it makes.
    place: str  # The folder whose growth tells how far it is.
    continues: bool = False  # True if it goes on from the files that it leaves on its way.


@dataclass(frozen=True)
class Subject:
    """A command that is disturbed."""

    name: str  # For the report.
    step: Step  # The command that is disturbed.
    after: tuple[Subject, ...] = ()  # The subjects whose results it needs.

    @property
    def steps(self) -> tuple[Step, ...]:
        """All commands up to its own, in the order of a workflow."""
        return (*dict.fromkeys(step for previous in self.after for step in previous.steps), self.step)

    @property
    def state(self) -> str:
        """A pattern for a training's state."""
        return f"{self.step.place}/state/*"


TRAINING: dict[str, Any] = {"placement": "post", "warmup": 5, "batch_tokens": 1024, "beam": 1, "bleu_sentences": 4}
TRANSLATIONS: dict[str, dict[str, Any]] = {
    "translation": {},
    "translation in bf16": {"precision": "bf16"},
    "diverging translation": {"placement": "pre", "optimizer": "sgd", "learning_rate": 10, "warmup": 0, "width": 64},
    "another translation": {"seed": 2},
}
PRETRAININGS: dict[str, dict[str, Any]] = {
    "pre-training": {},
    "pre-training in bf16": {"precision": "bf16"},
    "another pre-training": {"seed": 2},
}
KEPT_UPDATE = 6


def content() -> dict[str, Any]:
    """The study's file: all trainings, the fine-tuning of a checkpoint, and the gradients after a warm-up."""
    runs = [{**TRAINING, **changes} for changes in TRANSLATIONS.values()]
    described = study_content(*runs, execution={"log_interval": 1})
    post = expand(validate(described, "study"))[0]
    described["theory"] = {"seeds": 2, "gradients": {"runs": [post.id], "depths": [1], "batches": 2}}
    return {**bert_content(*PRETRAININGS.values(), checkpoints=(0, KEPT_UPDATE, 12)), **described}


def _subject(
    name: str, command: str, out: str, *after: Subject, files: Sequence[str] = (), continues: bool = False
) -> Subject:
    """A command that makes `out` at once, or these files in it one by one."""
    outputs = tuple(f"{out}/{file}" for file in files) or (out,)
    place = out if files else str(Path(out).parent)
    return Subject(name, Step((*shlex.split(command), "--out", out), outputs, place, continues), after)


TEXT_OF_CORPUS = _subject("text", f"prepare-text --corpus '{json.dumps(CORPUS)}' --downloads downloads", "corpus/text")
PIECES = _subject(
    "pieces", f"prepare-bpe --text corpus/text --vocabulary {CORPUS['vocabulary']}", "corpus/bpe", TEXT_OF_CORPUS
)
BINARISED = _subject("binarised text", "binarise --pieces corpus/bpe --source de --target en", "corpus/binary", PIECES)
ENGLISH = _subject("English text", f"prepare-english --text '{json.dumps(TEXT)}' --downloads downloads", "english/text")
ENGLISH_PIECES = _subject(
    "English pieces",
    f"prepare-english-bpe --text english/text --vocabulary {TEXT['vocabulary']}",
    "english/bpe",
    ENGLISH,
)
ENGLISH_BINARISED = _subject(
    "binarised English", "binarise-english --pieces english/bpe", "english/binary", ENGLISH_PIECES
)
TASK_PIECES = _subject(
    "task",
    f"prepare-task --task '{json.dumps(TASK)}' --downloads downloads --model english/bpe/bpe.model "
    f"--longest {PRETRAINING['sequence_length']}",
    "task/pieces",
    ENGLISH_PIECES,
)
TASK_BINARISED = _subject(
    "binarised task",
    "binarise-task --pieces task/pieces --dictionary english/binary/dict.txt",
    "task/binary",
    TASK_PIECES,
    ENGLISH_BINARISED,
)
STAGES = (
    *(TEXT_OF_CORPUS, PIECES, BINARISED, ENGLISH, ENGLISH_PIECES, ENGLISH_BINARISED),
    *(TASK_PIECES, TASK_BINARISED),
)


def _training(name: str, command: str, out: str, text: Subject) -> Subject:
    return _subject(name, command, out, text, files=("run.json", "curve.csv", "metrics.json"), continues=True)


_STUDY = validate(content(), "study")
TRANSLATION, BF16, DIVERGING, ANOTHER = (
    _training(name, f"train {RESULTS} {run.id} --prepared corpus", f"{RESULTS}/translation/{run.id}", BINARISED)
    for name, run in zip(TRANSLATIONS, expand(_STUDY), strict=True)
)
BERT, BERT_BF16, ANOTHER_BERT = (
    _training(
        name, f"pretrain {RESULTS} {run.id} --prepared english", f"{RESULTS}/pretraining/{run.id}", ENGLISH_BINARISED
    )
    for name, run in zip(PRETRAININGS, pretrainings.expand(_STUDY), strict=True)
)
_FINETUNING = f"{Path(BERT.step.place).name}-u{KEPT_UPDATE}-pairs"
FINETUNING = _subject(
    "fine-tuning",
    f"finetune {RESULTS} {_FINETUNING} --prepared english --task task --runs {RESULTS}/pretraining",
    f"{RESULTS}/finetuning/{_FINETUNING}",
    BERT,
    TASK_BINARISED,
    files=("run.json", "scores.csv"),
    continues=True,
)
_MEASUREMENT = "post-1-after-warm-up"
THEORY = _subject(
    "theory",
    f"measure {RESULTS} {_MEASUREMENT} --prepared corpus --runs {RESULTS}/translation",
    f"{RESULTS}/theory/{_MEASUREMENT}",
    TRANSLATION,
    files=("run.json", "measurements.csv"),
)
RECORDS, BERT_RECORDS = (
    _subject(f"records of {of.name}", f"table {RESULTS} {name}", f"{RESULTS}/tables/{name}.csv", of)
    for name, of in (("runs", TRANSLATION), ("pretraining", BERT))
)

ANOTHER_OF = {TRANSLATION: ANOTHER, THEORY: ANOTHER, BERT: ANOTHER_BERT, FINETUNING: ANOTHER_BERT}
"""The subject that is the same with another seed, or whose weights are."""


def records(workspace: Path) -> dict[str, Any]:
    """The records that must be equal, by file: prepared data and results, without times and numbers of attempts."""
    return {str(path.relative_to(workspace)): value for path, value in _records(workspace)}


def _records(workspace: Path) -> Iterator[tuple[Path, Any]]:
    for path in sorted(path for folder in PREPARED for path in workspace.glob(f"{folder}/**/*")):
        hidden = any(part.startswith(".") for part in path.relative_to(workspace).parts)
        if not path.is_dir() and not hidden and path.name != "preprocess.log":
            yield path, _readable(path, sha256)
    for path in sorted(workspace.glob("results/*/**/*")):
        # A state's name depends on the text; a state with another name may have the same content.
        if path.name.startswith(".") or "state" in path.parts or path.is_dir():
            continue
        if path.name == "run.json":
            record = _readable(path, _json)
            yield path, {key: record.get(key) for key in ("id", "study", "identity", "corpus", "text", "task")}
            state = path.parent / "state" / str(record.get("state"))
            # The translations and the kept weights.
            for file in sorted(state.glob("translations/[!.]*")):
                yield state.parent / "translations" / file.name, _readable(file, sha256)
            for file in sorted(state.glob("[!.]*.pt")):
                yield state.parent / file.name, _readable(file, _weights)
        elif path.name == "metrics.json":
            yield path, _without_times(_readable(path, _json))
        elif path.suffix == ".csv":
            yield path, _readable(path, _table_without_times)


def _readable(path: Path, read: Callable[[Path], Any]) -> Any:
    """A file's value, or the error of a file that is damaged or not regular."""
    if path.is_symlink() or not path.is_file():
        return {"error": "no file"}
    try:
        return read(path)
    except Exception as error:
        return {"error": str(error)}


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(inner) for key, inner in value.items() if key not in TIMES}
    return value


def _table_without_times(path: Path) -> str:
    """A table as text, without the columns of times and their origin."""
    table = pd.read_csv(path, dtype=str)
    return str(table.drop(columns=[*TIMES, "commit", "hardware"], errors="ignore").to_csv(index=False))


def _weights(path: Path) -> str:
    """A checksum of a file's weights, without their metadata."""
    digest = hashlib.sha256()
    for name, tensor in sorted(_tensors(torch.load(path, map_location="cpu", weights_only=True))):
        digest.update(name.encode() + tensor.contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _tensors(value: Any, name: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield name, value.reshape(-1)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _tensors(inner, str(key))
