"""What several tests share: settings of a small run, and a small corpus that fairseq can train on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from preln.config import EmbeddedCorpus, RunSettings

# Threads of torch that wait for a core which another process has make small computations many times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")

CORPUS: dict[str, Any] = {"source": "embedded", "pairs": 1000, "held_out": 40, "vocabulary": 400}
RUN: dict[str, Any] = {
    "corpus": "tiny",
    "placement": "pre",
    "encoder_layers": 1,
    "decoder_layers": 1,
    "width": 16,
    "ffn_width": 32,
    "heads": 2,
    "optimizer": "adam",
    "learning_rate": 0.002,
    "schedule": "inverse-sqrt",
    "warmup": 10,
    "epochs": 3,
    "batch_tokens": 512,
    "beam": 2,
    "bleu_sentences": 10,
}


def settings(**changes: Any) -> RunSettings:
    """Settings of a small run, with `changes`."""
    return RunSettings.model_validate({**RUN, **changes})


def study_content(*runs: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """A study file's content: the small corpus, and the small run with the changes of each of `runs`."""
    return {
        "study": "tiny",
        "corpora": {"tiny": CORPUS},
        "translation": {"settings": RUN, "runs": list(runs) or [{}]},
        **sections,
    }


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small corpus, prepared: text/, bpe/ and binary/."""
    from preln.corpora import prepare
    from preln.fairseq_plugin.binarise import binarise

    folder = tmp_path_factory.mktemp("prepared")
    corpus = EmbeddedCorpus.model_validate(CORPUS)
    prepare.prepare_text(corpus, folder / "downloads", folder / "text", 1)
    prepare.prepare_bpe(folder / "text", corpus.vocabulary, folder / "bpe", 1)
    binarise(folder / "bpe", "de", "en", folder / "binary", 1)
    return folder
