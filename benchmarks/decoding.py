"""Beam search by fairseq as it comes and by us: 1,000 sentences, beam 5, of a model of size A that is half trained.

`prepare` makes a corpus of the text that comes with the package, with dictionaries of 4,000 entries, and trains the
model on it for one epoch; both sides load its weights, and translate the same batches.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import tasks
from fairseq.sequence_generator import SequenceGenerator

from benchmarks import stock
from benchmarks.samples import SIZES, VOCABULARY
from preln import config
from preln.config import Execution, Study
from preln.corpora import prepare as corpora
from preln.fairseq_plugin import options
from preln.fairseq_plugin.binarise import binarise
from preln.fairseq_plugin.checkpoints import newest_checkpoint
from preln.fairseq_plugin.decoding import LENGTH_FACTOR, LENGTH_MARGIN, TOKENS, translate
from preln.fairseq_plugin.launch import configuration
from preln.fused import memory
from preln.translation.runs import Run, expand

SENTENCES, BEAM, PENALTY = 1000, 5, 1.0


def study_of(size: dict[str, Any], pairs: int, held_out: int, execution: dict[str, int]) -> tuple[Study, Run]:
    """A study of one run, of an epoch on the embedded text."""
    corpus = {"source": "embedded", "pairs": pairs, "held_out": held_out, "vocabulary": 2000}
    settings = {
        **{"corpus": "embedded", "placement": "pre", "optimizer": "adam", "learning_rate": 2e-3, "warmup": 50},
        **{"schedule": "inverse-sqrt", "epochs": 1, "bleu_sentences": 1, **size},
    }
    translation = {"settings": settings, "runs": [{"figures": []}]}
    content = {"study": "bench", "corpora": {"embedded": corpus}, "translation": translation, "execution": execution}
    study = config.validate(content, "benchmarks/decoding.py")
    (run,) = expand(study)
    return study, run


def prepare_text(study: Study, run: Run, folder: Path) -> None:
    """Make the run's corpus in `folder`, unless it is there."""
    text, pieces, binary = folder / "text", folder / "bpe", folder / "binary"
    if binary.exists():
        return
    corpora.prepare_text(run.corpus, folder, text, 1)
    corpora.prepare_bpe(text, run.corpus.vocabulary, pieces, 1)
    config.write(study, folder / "runs" / "study.yaml")
    # Last, for where it is, everything is.
    binarise(pieces, "de", "en", binary)


def prepare(folder: Path) -> None:
    """Make the corpus and the model in `folder`, unless they are there."""
    study, run = study_of(SIZES["A"], 22000, SENTENCES, {})
    out = folder / "runs" / "translation" / run.id
    if (out / "run.json").exists():
        return
    prepare_text(study, run, folder)
    for dictionary in (folder / "binary").glob("dict.*.txt"):
        known = dictionary.read_text().splitlines()
        unused = [f"unused{number} 0" for number in range(VOCABULARY["A"] - 4 - len(known))]
        dictionary.write_text("\n".join([*known, *unused]) + "\n")
    command = ["train", str(folder / "runs"), run.id, "--prepared", str(folder), "--out", str(out)]
    subprocess.run([sys.executable, "-m", "preln", *command], check=True, stderr=subprocess.DEVNULL)


def work(toolkit: str, folder: str) -> Callable[[], int]:
    """A round of translating the test sentences; its units are sentences."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    translations = translator(toolkit, Path(folder))
    return lambda: len(translations())


def translator(toolkit: str, folder: Path, together: bool = True) -> Callable[[], dict[int, list[int]]]:
    """A function that translates all test sentences, by their number: in batches, or each by itself."""
    run = expand(config.load(folder / "runs" / "study.yaml"))[0]
    arguments = options.translation(run.settings, folder / "binary", folder / "text", ("de", "en"), folder, Execution())
    cfg = configuration(stock.options(arguments) if toolkit == "stock" else arguments, "fp32")
    task = tasks.setup_task(cfg.task)
    task.load_dataset("test")
    test = task.dataset("test")
    model = task.build_model(cfg.model).eval()
    checkpoint = newest_checkpoint(next((folder / "runs").rglob("checkpoints")))
    assert checkpoint is not None
    weights = torch.load(checkpoint, weights_only=False)["model"]
    if toolkit == "stock":
        weights = {stock.parameter_name(name): value for name, value in weights.items()}
    else:
        memory.keep()
    model.load_state_dict(weights, strict=True)
    order = np.argsort(test.src_sizes[:SENTENCES], kind="stable")
    rows = test.batch_by_size(order, max_tokens=TOKENS["cpu"]) if together else order[:, None]
    batches = [test.collater([test[i] for i in row]) for row in rows]
    search = _fairseqs(model, task) if toolkit == "stock" else _ours(model)

    def translations() -> dict[int, list[int]]:
        by_sentence: dict[int, list[int]] = {}
        for batch in batches:
            by_sentence |= dict(zip(batch["id"].tolist(), search(batch), strict=True))
        return by_sentence

    return translations


def identical(folder: Path) -> float:
    """The share of sentences that both translate alike, where fairseq translates one at a time, so that its limit of
    the length is that of the sentence and not that of its batch."""
    ours, stock = translator("preln", folder)(), translator("stock", folder, together=False)()
    return sum(stock[i] == text for i, text in ours.items()) / len(ours)


def _fairseqs(model: Any, task: Any) -> Callable[[Any], list[list[int]]]:
    limits = {"max_len_a": LENGTH_FACTOR, "max_len_b": LENGTH_MARGIN}
    generator = SequenceGenerator([model], task.target_dictionary, beam_size=BEAM, len_penalty=PENALTY, **limits)

    def search(batch: Any) -> list[list[int]]:
        return [hypotheses[0]["tokens"].tolist()[:-1] for hypotheses in generator.generate([model], batch)]

    return search


def _ours(model: Any) -> Callable[[Any], list[list[int]]]:
    def search(batch: Any) -> list[list[int]]:
        source = batch["net_input"]
        return translate(model, source["src_tokens"], source["src_lengths"], BEAM, PENALTY)

    return search
