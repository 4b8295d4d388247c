"""The subjects of faults: the commands of a small study, from its text to its measurements, and their records."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from preln.config import EmbeddedCorpus, EmbeddedTask, EnglishText, Study, validate
from preln.pretraining import runs as pretrainings
from preln.translation.runs import expand
from tests.conftest import CORPUS, PRETRAINING, TASK, TEXT, bert_content, study_content

RESULTS = "results/tiny"
PREPARED = ("corpus", "english", "task", "resources")
TIMES = {"seconds", "tokens_per_second"}
OF_TRAINING = ("run.json", "curve.csv", "metrics.json")


@dataclass(frozen=True)
class Step:
    """A command of the workflow, called in a workspace.

    Attributes:
        command: the arguments of `preln`.
        outputs: the files or folders that it makes.
        place: the folder whose growth tells how far it is.
        continues: whether it continues from what it leaves on its way.
    """

    command: tuple[str, ...]
    outputs: tuple[str, ...]
    place: str
    continues: bool = False


@dataclass(frozen=True)
class Subject:
    """A command that is disturbed.

    Attributes:
        name: for the report.
        step: the command that is disturbed.
        after: the subjects whose results it needs.
        appearing: patterns of the files that its command makes on the way.
    """

    name: str
    step: Step
    after: tuple[Subject, ...] = ()
    appearing: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """All commands up to its own, in the order of a workflow."""
        return (*dict.fromkeys(step for previous in self.after for step in previous.steps), self.step)

    @property
    def state(self) -> str:
        """A pattern for a training's state."""
        return f"{self.step.place}/state/*"

    def write_study(self, folder: Path) -> None:
        """Write the study to a new workspace."""
        path = folder / RESULTS / "study.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content()), encoding="utf-8")


TRAINING: dict[str, Any] = {"placement": "post", "warmup": 5, "batch_tokens": 1024, "beam": 1, "bleu_sentences": 4}
TRANSLATIONS: dict[str, dict[str, Any]] = {
    "translation": {},
    "translation in bf16": {"precision": "bf16"},
    "translation that diverges": {
        "placement": "pre",
        "optimizer": "sgd",
        "learning_rate": 10,
        "warmup": 0,
        "width": 64,
    },
    "another translation": {"seed": 2},
}
PRETRAININGS: dict[str, dict[str, Any]] = {
    "pre-training": {},
    "pre-training in bf16": {"precision": "bf16"},
    "another pre-training": {"seed": 2},
}
KEPT_UPDATE = 6


@functools.cache
def content() -> dict[str, Any]:
    """The study's file: all trainings, the fine-tuning of a checkpoint, and the gradients after a warm-up."""
    runs = [{**TRAINING, **changes} for changes in TRANSLATIONS.values()]
    described = study_content(*runs, execution={"log_interval": 1})
    post = expand(validate(described, "study"))[0]
    described["theory"] = {"seeds": 2, "gradients": {"runs": [post.id], "depths": [1], "batches": 2}}
    return {**bert_content(*PRETRAININGS.values(), checkpoints=(0, KEPT_UPDATE, 12)), **described}


@functools.cache
def study() -> Study:
    """The study."""
    return validate(content(), "study")


def _prepare(command: str, out: str, *options: str) -> Step:
    return Step((command, *options, "--out", out), (out,), str(Path(out).parent))


DOWNLOADS = ("--downloads", "downloads")
_CORPUS, _ENGLISH, _TASK = (
    EmbeddedCorpus.model_validate(CORPUS),
    EnglishText.model_validate(TEXT),
    EmbeddedTask.model_validate(TASK),
)
TEXT_OF_CORPUS = Subject(
    "text", _prepare("prepare-text", "corpus/text", "--corpus", _CORPUS.model_dump_json(), *DOWNLOADS)
)
PIECES = Subject(
    "pieces",
    _prepare("prepare-bpe", "corpus/bpe", "--text", "corpus/text", "--vocabulary", str(_CORPUS.vocabulary)),
    (TEXT_OF_CORPUS,),
)
BINARISED = Subject(
    "binarised text",
    _prepare("binarise", "corpus/binary", "--pieces", "corpus/bpe", "--source", "de", "--target", "en"),
    (PIECES,),
)
ENGLISH = Subject(
    "English text", _prepare("prepare-english", "english/text", "--text", _ENGLISH.model_dump_json(), *DOWNLOADS)
)
ENGLISH_PIECES = Subject(
    "English pieces",
    _prepare("prepare-english-bpe", "english/bpe", "--text", "english/text", "--vocabulary", str(_ENGLISH.vocabulary)),
    (ENGLISH,),
)
ENGLISH_BINARISED = Subject(
    "binarised English", _prepare("binarise-english", "english/binary", "--pieces", "english/bpe"), (ENGLISH_PIECES,)
)
TASK_PIECES = Subject(
    "task",
    _prepare(
        "prepare-task",
        "task/pieces",
        "--task",
        _TASK.model_dump_json(),
        *DOWNLOADS,
        "--model",
        "english/bpe/bpe.model",
        "--longest",
        str(PRETRAINING["sequence_length"]),
    ),
    (ENGLISH_PIECES,),
)
TASK_BINARISED = Subject(
    "binarised task",
    _prepare("binarise-task", "task/binary", "--pieces", "task/pieces", "--dictionary", "english/binary/dict.txt"),
    (TASK_PIECES, ENGLISH_BINARISED),
)

_OF_STATE = ("checkpoints/*.pt.tmp", "checkpoints/checkpoint*", "record.jsonl", "owner.json")


def _training(name: str, command: str, room: str, run: str, prepared: str, after: Subject, *appearing: str) -> Subject:
    folder = f"{RESULTS}/{room}/{run}"
    step = Step(
        (command, RESULTS, run, "--prepared", prepared, "--out", folder),
        tuple(f"{folder}/{name}" for name in OF_TRAINING),
        folder,
        continues=True,
    )
    return Subject(
        name,
        step,
        (after,),
        (*(f"{folder}/state/*/{path}" for path in (*_OF_STATE, *appearing)), *(f"{folder}/*{n}" for n in OF_TRAINING)),
    )


TRANSLATION, BF16, DIVERGING, ANOTHER = (
    _training(name, "train", "translation", run.id, "corpus", BINARISED, "translations/*", "*after-warm-up*")
    for name, run in zip(TRANSLATIONS, expand(study()), strict=True)
)
BERT, BERT_BF16, ANOTHER_BERT = (
    _training(name, "pretrain", "pretraining", run.id, "english", ENGLISH_BINARISED, "*weights-*")
    for name, run in zip(PRETRAININGS, pretrainings.expand(study()), strict=True)
)

_FINETUNING = next(
    job.id
    for job in pretrainings.finetunings(study())
    if job.update == KEPT_UPDATE and f"{RESULTS}/pretraining/{job.run.id}" == BERT.step.place
)
FINETUNING = Subject(
    "fine-tuning",
    Step(
        (
            "finetune",
            RESULTS,
            _FINETUNING,
            "--prepared",
            "english",
            "--task",
            "task",
            "--runs",
            f"{RESULTS}/pretraining",
            "--out",
            f"{RESULTS}/finetuning/{_FINETUNING}",
        ),
        tuple(f"{RESULTS}/finetuning/{_FINETUNING}/{name}" for name in ("run.json", "scores.csv")),
        f"{RESULTS}/finetuning/{_FINETUNING}",
        continues=True,
    ),
    (BERT, TASK_BINARISED),
    (f"{RESULTS}/finetuning/*/state/*/record.jsonl", f"{RESULTS}/finetuning/*/*scores*"),
)
_PART = f"{RESULTS}/theory/post-1-after-warm-up"
THEORY = Subject(
    "theory",
    Step(
        (
            "measure",
            RESULTS,
            Path(_PART).name,
            "--prepared",
            "corpus",
            "--runs",
            f"{RESULTS}/translation",
            "--out",
            _PART,
        ),
        tuple(f"{_PART}/{name}" for name in ("run.json", "measurements.csv")),
        _PART,
    ),
    (TRANSLATION,),
    (f"{_PART}/*",),
)


def _table(name: str, of: Subject) -> Subject:
    out = f"{RESULTS}/tables/{name}.csv"
    return Subject(
        f"records of {of.name}", Step(("table", RESULTS, name, "--out", out), (out,), f"{RESULTS}/tables"), (of,)
    )


RECORDS = _table("runs", TRANSLATION)
BERT_RECORDS = _table("pretraining", BERT)


def records(workspace: Path) -> dict[str, Any]:
    """The records that must be equal, by file: prepared data and results, without times and numbers of attempts."""
    return {str(path.relative_to(workspace)): value for path, value in _records(workspace)}


def _records(workspace: Path) -> Iterator[tuple[Path, Any]]:
    for path in sorted(path for folder in PREPARED for path in workspace.glob(f"{folder}/**/*")):
        hidden = any(part.startswith(".") for part in path.relative_to(workspace).parts)
        if not path.is_dir() and not hidden and path.name != "preprocess.log":
            yield path, _readable(path, _digest)
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
                yield state.parent / "translations" / file.name, _readable(file, _digest)
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


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
