"""The subjects of faults: the commands of a small study, from its text to its measurements, and their records."""

from __future__ import annotations

import functools
import hashlib
import json
import pickle
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from preln.config import EmbeddedCorpus, EmbeddedTask, EnglishText, Study, validate
from preln.pretraining import runs as pretrainings
from preln.translation.runs import expand
from tests.conftest import CORPUS, PRETRAINING, TASK, TEXT, bert_content, study_content
from tests.faults.jobs import PRELN, SHELL
from tests.workflow.conftest import copy_repository

RESULTS = "results/tiny"
PREPARED = ("corpus", "english", "task", "resources")
TIMES = {"seconds", "tokens_per_second"}
OF_TRAINING = ("run.json", "curve.csv", "metrics.json")


@dataclass(frozen=True)
class Step:
    """A command of the workflow, called in a workspace.

    Attributes:
        command: its words.
        outputs: the files or folders that it makes.
        place: the folder whose growth tells how far it is.
        goes_on: whether it leaves something on its way that it goes on from.
    """

    command: tuple[str, ...]
    outputs: tuple[str, ...]
    place: str
    goes_on: bool = False


def _with_study(folder: Path) -> None:
    """Make a workspace: a study of which nothing is computed."""
    path = folder / RESULTS / "study.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content()), encoding="utf-8")


def _with_workflow(folder: Path) -> None:
    """Make a workspace with the workflow, and a study of one training."""
    copy_repository(folder).write_study(TRAINING)


@dataclass(frozen=True)
class Subject:
    """A command that is disturbed.

    Attributes:
        name: what the table calls it.
        step: the command that is disturbed.
        after: the subjects whose undisturbed ends it begins with.
        appearing: the files that its command makes on the way, as patterns.
        ready: what makes a workspace of an empty folder.
    """

    name: str
    step: Step
    after: tuple[Subject, ...] = ()
    appearing: tuple[str, ...] = ()
    ready: Callable[[Path], None] = _with_study

    @property
    def steps(self) -> tuple[Step, ...]:
        """All commands up to its own, in the order in which a workflow would run them."""
        return (*dict.fromkeys(step for before in self.after for step in before.steps), self.step)

    @property
    def state(self) -> str:
        """A pattern for a training's state."""
        return f"{self.step.place}/state/*"


TRAINING: dict[str, Any] = {
    "placement": "post",
    "warmup": 5,
    "batch_tokens": 1024,
    "beam": 1,
    "bleu_sentences": 4,
}
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
    """The study's file: every training, the fine-tuning of one checkpoint, and the gradients after a warm-up."""
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
    return Step((PRELN, command, *options, "--out", out), (out,), str(Path(out).parent))


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
        (PRELN, command, RESULTS, run, "--prepared", prepared, "--out", folder),
        tuple(f"{folder}/{name}" for name in OF_TRAINING),
        folder,
        goes_on=True,
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
            PRELN,
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
        goes_on=True,
    ),
    (BERT, TASK_BINARISED),
    (f"{RESULTS}/finetuning/*/state/*/record.jsonl", f"{RESULTS}/finetuning/*/*scores*"),
)
_PART = f"{RESULTS}/theory/post-1-after-warm-up"
THEORY = Subject(
    "theory",
    Step(
        (
            PRELN,
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
        f"records of {of.name}",
        Step((PRELN, "table", RESULTS, name, "--out", out), (out,), f"{RESULTS}/tables"),
        (of,),
    )


RECORDS = _table("runs", TRANSLATION)
BERT_RECORDS = _table("pretraining", BERT)
COMMAND_LINE = replace(
    TRANSLATION,
    name="translation, from the shell",
    step=replace(TRANSLATION.step, goes_on=False, command=(sys.executable, "-m", *TRANSLATION.step.command)),
)

_WORKFLOW_TEXT = Subject(
    "text, by Snakemake",
    Step((SHELL, "-c", "exec snakemake --cores 1 prepared"), ("resources",), "resources"),
    ready=_with_workflow,
)
WORKFLOW = Subject(
    "translation, by Snakemake",
    replace(
        TRANSLATION.step,
        goes_on=False,
        # A user's command after a kill.
        command=(
            SHELL,
            "-c",
            'snakemake --cores 1 --unlock && exec snakemake --cores 1 --rerun-incomplete "$@"',
            SHELL,
            *TRANSLATION.step.outputs,
        ),
    ),
    (_WORKFLOW_TEXT,),
    TRANSLATION.appearing,
    _with_workflow,
)


def records(workspace: Path) -> dict[str, Any]:
    """The records that must be equal, by file: prepared data and results, without times and numbers of attempts."""
    return {str(path.relative_to(workspace)): value for path, value in _records(workspace)}


def _records(workspace: Path) -> Iterator[tuple[Path, Any]]:
    for path in sorted(path for folder in PREPARED for path in workspace.glob(f"{folder}/**/*")):
        hidden = any(part.startswith(".") for part in path.relative_to(workspace).parts)
        if not path.is_dir() and not hidden and path.name != "preprocess.log":
            yield path, _digest(path)
    for path in sorted(workspace.glob("results/*/**/*")):
        # A state's name depends on the text; a state with another name may have the same content.
        if path.name.startswith(".") or "state" in path.parts or path.is_dir():
            continue
        match path.name:
            case "run.json":
                record = _json(path)
                yield path, {key: record.get(key) for key in ("id", "study", "identity", "corpus", "text", "task")}
                yield from _of_state(path.parent, str(record.get("state")))
            case "metrics.json":
                yield path, _without_times(_json(path))
            case _ if path.suffix == ".csv":
                yield path, _table_without_times(path)


def _of_state(folder: Path, state: str) -> Iterator[tuple[Path, Any]]:
    """The translations and the kept weights of a state."""
    for path in sorted((folder / "state" / state).glob("translations/[!.]*")):
        yield folder / "state" / "translations" / path.name, _digest(path)
    for path in sorted((folder / "state" / state).glob("[!.]*.pt")):
        yield folder / "state" / path.name, _weights(path)


def _digest(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return "no file"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        return {"id": str(error)}
    return content if isinstance(content, dict) else {"id": content}


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(inner) for key, inner in value.items() if key not in TIMES}
    return value


def _table_without_times(path: Path) -> str:
    """A table as text, without the columns of times and of where they were taken."""
    try:
        table = pd.read_csv(StringIO(path.read_text(encoding="utf-8")), dtype=str)
    except ValueError as error:
        return str(error)
    return str(table.drop(columns=[*TIMES, "commit", "hardware"], errors="ignore").to_csv(index=False))


def _weights(path: Path) -> str:
    """A checksum of a file's weights, without their metadata."""
    if path.is_symlink() or not path.is_file():
        return "no file"
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        digest = hashlib.sha256()
        for name, tensor in sorted(_tensors(content)):
            digest.update(name.encode() + tensor.contiguous().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()
    except (RuntimeError, EOFError, ValueError, OSError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        return f"damaged: {error}"


def _tensors(value: Any, name: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield name, value.reshape(-1)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _tensors(inner, str(key))
