"""Shared fixtures: settings of a small run, and a small corpus that fairseq can train on."""

import gc
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from filelock import FileLock

from preln.config import EmbeddedCorpus, EmbeddedTask, EnglishText, RunSettings, load
from preln.config.language import LanguageSettings
from preln.placements import COME_ALONG, PLACEMENTS
from preln.records import packed
from preln.translation.runs import Run, expand
from tests.moments import Hold, NewHold

# Threads of torch that wait for a core which another process has make small computations many times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Their failures say what was compared, as those of the tests do.
pytest.register_assert_rewrite("tests.tensors", "tests.trainings")

# How long an example takes says nothing where other processes have the cores.
hypothesis.settings.register_profile("preln", deadline=None)
hypothesis.settings.load_profile("preln")

ROOT = Path(__file__).parents[1]

SMALL: dict[str, Any] = {"placement": "pre", "width": 16, "ffn_width": 32, "heads": 2}
CORPUS: dict[str, Any] = {"source": "embedded", "pairs": 1000, "held_out": 40, "vocabulary": 400}
RUN: dict[str, Any] = {
    **SMALL,
    "corpus": "tiny",
    "encoder_layers": 1,
    "decoder_layers": 1,
    "optimizer": "adam",
    "learning_rate": 0.002,
    "schedule": "inverse-sqrt",
    "warmup": 10,
    "epochs": 3,
    "batch_tokens": 1024,
    "beam": 2,
    "bleu_sentences": 10,
}

TEXT: dict[str, Any] = {"sources": [{"source": "embedded", "documents": 200}], "vocabulary": 300}
PRETRAINING: dict[str, Any] = {
    **SMALL,
    "text": "tiny",
    "layers": 1,
    "learning_rate": 0.002,
    "updates": 12,
    "sequence_length": 32,
    "batch_sequences": 8,
    "validate_every": 3,
}
TASK: dict[str, Any] = {"source": "embedded", "pairs": 60, "dev": 20}
LANGUAGE: dict[str, Any] = {
    **SMALL,
    "text": "tiny",
    "layers": 2,
    "learning_rate": 0.003,
    "updates": 12,
    "sequence_length": 16,
    "batch_sequences": 4,
    "validate_every": 3,
    "valid_tokens": 256,
}


def committed_studies() -> list[Path]:
    """The studies whose results come with a clone. One that is run in it lies beside them: it is not theirs, and may be
    of half a grid."""
    return [path for path in _committed("results/*/study.yaml") if path.parent.name != "quick"]


def laid_out(study: str, results: Path) -> Path:
    """A copy of a committed study, its records in the folders of its jobs alone."""
    shutil.copytree(ROOT / "results" / study, results)
    for record in packed.recorded(results):
        packed.lay_out(record.parent)
    for name in (packed.FILE, *packed.LONG_TABLES):
        (results / name).unlink(missing_ok=True)
    return results


def committed_pictures() -> list[Path]:
    return _committed("results/*/figures/*.png")


def _committed(pattern: str) -> list[Path]:
    """The files that come with a clone; where git does not know the folder, those that are there."""
    listing = ["git", "ls-files", "--", pattern]
    known = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    return [path for path in sorted(ROOT.glob(pattern)) if not known or path.relative_to(ROOT).as_posix() in known]


def settings(**changes: Any) -> RunSettings:
    """Settings of a small run, with `changes`."""
    return RunSettings.model_validate({**RUN, **changes})


def language_settings(**changes: Any) -> LanguageSettings:
    """Settings of a small language model, with `changes`."""
    return LanguageSettings.model_validate({**LANGUAGE, **changes})


def study_content(*runs: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """A study file's content: the small corpus, and the small run with the changes of each of `runs`."""
    return {
        "study": "tiny",
        "corpora": {"tiny": CORPUS},
        "translation": {"settings": RUN, "runs": list(runs) or [{}]},
        **sections,
    }


LONGEST = (
    "test_module",
    "test_report_page",
    "test_benchmarks_gpu",
    "test_updates",
    "test_extending",
    "test_installation",
    "test_pretraining",
    "test_theory",
    "test_training",
    "test_half_precision",
    "test_faults",
    "test_language_demo",
    "test_committed_results",
    "test_docs",
)
"""The modules with the slowest tests, which come first so that parallel processes end together."""


MIXED = ("test_static_checks", "test_installation")
"""The modules of `workflow/` that have quick tests too."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that call Snakemake or a GPU as slow, and sort all: the longest first, then those that call
    Snakemake, then the others."""
    for item in items:
        if item.path.parent.name in ("workflow", "gpu") and item.path.stem not in MIXED:
            item.add_marker("slow")
    items.sort(key=lambda item: (item.path.stem not in LONGEST, item.path.parent.name != "workflow"))


def pytest_collection_finish() -> None:
    """Have the garbage collector leave alone what is imported by now."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _forget_placements_of_files() -> Iterator[None]:
    """The next test has the placements that come along, and not those of this test's files."""
    yield
    for name in PLACEMENTS.keys() - set(COME_ALONG):
        del PLACEMENTS[name]


PRE_LN_AGAIN = '''\
from preln.placements.base import Placement, Residual

class Again(Residual):
    """x <- x + dropout(F(LayerNorm(x)))."""

    normalises_sum = False

    def forward(self, x, sublayer):
        return self.sum(x, sublayer(self.norm(x)))

PLACEMENT = Placement(name="again", label="Pre-LN again", source="tests", residual=Again, final_norm=True)
'''


@pytest.fixture
def placement_file(tmp_path: Path) -> Path:
    """Pre-LN under another name, in a file."""
    path = tmp_path / "mine.py"
    path.write_text(PRE_LN_AGAIN, encoding="utf-8")
    return path


@pytest.fixture
def hold(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewHold]:
    """Holds for this test, which are let go at its end."""
    holds: list[Hold] = []

    def new(moment: str) -> Hold:
        holds.append(Hold(tmp_path_factory.mktemp("hold"), moment))
        return holds[-1]

    yield new
    for hold in holds:
        hold.let_go()


def hide_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave this process no TensorBoard to import."""
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    # torch's part that needs it.
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)


def overflow_validations(monkeypatch: pytest.MonkeyPatch, task: type[Any]) -> None:
    """Have every validation of a task of fairseq's end with an infinite loss."""
    validated = task.valid_step

    def overflow(self: Any, *arguments: Any, **options: Any) -> Any:
        loss, size, log = validated(self, *arguments, **options)
        return loss, size, {**log, "loss": log["loss"] * math.inf}

    monkeypatch.setattr(task, "valid_step", overflow)


MakeOnce = Callable[[str, Callable[[Path], object]], Path]
"""The type of the fixture `make_once`, which takes a folder's name and a function that fills it; returns the folder."""


@pytest.fixture(scope="session")
def make_once(tmp_path_factory: pytest.TempPathFactory) -> MakeOnce:
    """Makes folders that many tests use. If tests run in several processes, the first makes it and the rest wait."""
    # Each process of pytest-xdist has a folder of its own in the one that they share.
    is_one_of_several = "PYTEST_XDIST_WORKER" in os.environ
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if is_one_of_several else base

    def make(name: str, fill: Callable[[Path], object]) -> Path:
        folder, done = shared / name, shared / f"{name}.done"
        with FileLock(shared / f"{name}.lock"):
            if not done.exists():
                # Left by a process that did not finish.
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                done.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def prepared(make_once: MakeOnce) -> Path:
    """The small corpus, prepared: text/, bpe/ and binary/."""
    from preln.corpora import prepare
    from preln.fairseq_plugin.binarise import binarise

    def fill(folder: Path) -> None:
        corpus = EmbeddedCorpus.model_validate(CORPUS)
        prepare.prepare_text(corpus, folder / "downloads", folder / "text", 1)
        prepare.prepare_bpe(folder / "text", corpus.vocabulary, folder / "bpe", 1)
        binarise(folder / "bpe", "de", "en", folder / "binary")

    return make_once("prepared", fill)


Trained = tuple[Path, Run]
"""The folder of a study, and its run."""


@pytest.fixture(scope="session")
def uninterrupted(make_once: MakeOnce, prepared: Path) -> Trained:
    """The small run, trained to its end without an interruption. Tests that change it work on a copy."""
    from tests.trainings import finish, write_study

    folder = make_once("an uninterrupted training", lambda folder: finish(folder, write_study(folder)[1], prepared))
    return folder, expand(load(folder / "study.yaml"))[0]


def bert_content(*runs: dict[str, Any], checkpoints: Sequence[int] = (6, 12), **sections: Any) -> dict[str, Any]:
    """A study file's content with BERT alone: the small run with the changes of each of `runs`, fine-tuned on the small
    task at two points of a grid."""
    return {
        "study": "tiny",
        "texts": {"tiny": TEXT},
        "pretraining": {"settings": PRETRAINING, "checkpoints": list(checkpoints), "runs": list(runs) or [{}]},
        "tasks": {"pairs": TASK},
        "finetuning": {
            "tasks": ["pairs"],
            "batch_sizes": [16],
            "learning_rates": [1e-3, 2e-3],
            "epochs": [1],
            "seeds": 2,
            "fixed": {"batch_size": 16, "learning_rate": 1e-3, "epochs": 1},
        },
        **sections,
    }


def every_kind(**sections: Any) -> dict[str, Any]:
    """A study file's content with jobs of each kind but language models."""
    theory = {"seeds": 2, "gradients": {"runs": ["post-adam-lr2e-3-wu10-s1"], "depths": [1], "batches": 2}}
    traced = {"settings": RUN, "runs": [{}]}
    parts = {**bert_content(), **study_content({"placement": "post"}), "theory": theory, "first_updates": traced}
    return {**parts, **sections}


def language_content(*runs: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """A study file's content with language models alone: the small one with the changes of each of `runs`."""
    language = {"settings": LANGUAGE, "runs": list(runs) or [{}]}
    return {"study": "tiny", "texts": {"tiny": TEXT}, "language": language, **sections}


def prepare_english(content: dict[str, Any], folder: Path) -> None:
    """Prepare an English text: text/, bpe/ and binary/."""
    from preln.corpora.english import prepare
    from preln.fairseq_plugin.binarise import binarise_english

    text = EnglishText.model_validate(content)
    prepare.prepare_text(text, folder / "downloads", folder / "text", 1)
    prepare.prepare_pieces(folder / "text", text.vocabulary, folder / "bpe", 1)
    binarise_english(folder / "bpe", folder / "binary")


@pytest.fixture(scope="session")
def prepared_text(make_once: MakeOnce) -> Path:
    """The small English text, prepared."""
    return make_once("prepared text", lambda folder: prepare_english(TEXT, folder))


@pytest.fixture(scope="session")
def prepared_tokens(make_once: MakeOnce, prepared_text: Path) -> Path:
    """The small English text as tokens, of both kinds."""
    from preln.language.text import prepare_tokens

    def fill(folder: Path) -> None:
        shutil.copytree(prepared_text, folder, dirs_exist_ok=True)
        prepare_tokens(folder, "bpe", folder / "tokens-bpe")
        prepare_tokens(folder, "bytes", folder / "tokens-bytes")

    return make_once("prepared tokens", fill)


@pytest.fixture(scope="session")
def prepared_task(make_once: MakeOnce, prepared_text: Path) -> Path:
    """The small task, prepared for models of the small text: pieces/ and binary/."""
    from preln.corpora import tasks
    from preln.fairseq_plugin.binarise import binarise_task

    def fill(folder: Path) -> None:
        task = EmbeddedTask.model_validate(TASK)
        model = prepared_text / "bpe" / "bpe.model"
        tasks.prepare_task(task, folder / "downloads", model, PRETRAINING["sequence_length"], folder / "pieces")
        binarise_task(folder / "pieces", prepared_text / "binary" / "dict.txt", folder / "binary")

    return make_once("prepared task", fill)


@pytest.fixture
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A disk of a few pages, or of the size that a test asks for."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={getattr(request, 'param', '16k')}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
