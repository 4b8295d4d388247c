"""What an update asks of a GPU, on one that is not there: operations and waits, by fairseq as it comes and by us.

`python -m benchmarks.launches LIBRARY CASES` takes the library of `benchmarks.fake_gpu` and a file with a list of
cases, and prints what is seen in each, or the error that it ended with.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from benchmarks import fake_gpu
from benchmarks.interleaved import ROOT

Toolkit = Literal["preln", "stock"]
Model = Literal["iwslt", "bert-base"]
MODELS: tuple[Model, ...] = ("iwslt", "bert-base")
PRECISIONS = ("fp32", "bf16", "fp16")


@dataclass(frozen=True)
class Case:
    """An update, or the validation of a batch: of the paper's IWSLT model (`iwslt`) or of BERT-base (`bert-base`), with
    changes of its settings."""

    model: Model
    changes: dict[str, Any]
    toolkit: Toolkit = "preln"
    validates: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a case came to; the numbers are `fake_gpu.Seen`'s, of an update behind the first ones."""

    operations: dict[str, int]
    waits: dict[str, int]
    attentions: dict[str, int]
    lines: dict[str, int]
    error: str = ""

    @property
    def launches(self) -> int:
        """Operations on the GPU."""
        return sum(self.operations.values())

    @property
    def syncs(self) -> int:
        """How often the process waits for the GPU."""
        return sum(self.waits.values())


def outcomes(cases: Sequence[Case], library: Path) -> list[Outcome]:
    """What is seen in each of the cases, which a process of their own goes through."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "cases.json"
        told.write_text(json.dumps([asdict(case) for case in cases]))
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.launches", str(library), str(told)]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return [Outcome(**found) for found in json.loads(done.stdout.splitlines()[-1])]


IWSLT: dict[str, Any] = {"encoder_layers": 6, "decoder_layers": 6, "width": 512, "ffn_width": 1024, "heads": 4}
IWSLT_VOCABULARY, IWSLT_BATCH = 10000, (160, 24)
"""Sentences of a batch, and their length, with which it has nearly the paper's 4,096 tokens."""
BASE: dict[str, Any] = {"layers": 12, "width": 768, "ffn_width": 3072, "heads": 12, "sequence_length": 512}
BASE_VOCABULARY, BASE_SEQUENCES = 32000, 32
PAD = 1
"""Padding in fairseq's dictionaries."""
BEFORE = 1
"""Updates before the one that is looked at: the first makes the optimizer's state."""


def _look(case: Case) -> Outcome:
    """One case, in a process that has loaded the library."""
    import torch
    from fairseq import tasks
    from fairseq.logging import metrics
    from fairseq.trainer import Trainer

    from benchmarks import stock
    from benchmarks.samples import LANGUAGES
    from preln.config import Execution, PretrainingSettings, RunSettings
    from preln.fairseq_plugin import options
    from preln.fairseq_plugin.batches import Noted
    from preln.fairseq_plugin.launch import configuration

    execution = Execution(gpus=1)
    if case.model == "iwslt":
        given = {"corpus": "any", "placement": "post", "optimizer": "adam", "learning_rate": 5e-4} | case.changes
        folder = _dictionaries(IWSLT_VOCABULARY)
        schedule = {"schedule": "linear", "decay_updates": 1000} if given["optimizer"] == "radam" else {}
        run = RunSettings.model_validate({"schedule": "constant", **schedule, **IWSLT, **given})
        arguments = options.translation(run, folder, folder, LANGUAGES, folder, execution)
        precision, accumulate = run.precision, run.accumulate
    else:
        given = {"text": "any", "placement": "post", "learning_rate": 1e-4, "clip_norm": 1.0} | case.changes
        folder = _dictionaries(BASE_VOCABULARY)
        numbers = {"updates": 1000, "validate_every": 1000, "batch_sequences": BASE_SEQUENCES}
        bert = PretrainingSettings.model_validate({**numbers, **BASE, **given})
        arguments = options.pretraining(bert, folder, folder, [], execution)
        precision, accumulate = bert.precision, bert.accumulate
    cfg = configuration(stock.options(arguments) if case.toolkit == "stock" else arguments, precision)
    task = tasks.setup_task(cfg.task)
    sample = _pairs() if case.model == "iwslt" else _masked()
    if case.toolkit == "preln":
        sample = Noted(lambda _: sample, PAD)(None)
    with fake_gpu.fake_gpu() as seen:
        with torch.device("cuda"):
            model = task.build_model(cfg.model)
        trainer = Trainer(cfg, task, model, task.build_criterion(cfg.criterion))
        for _ in range(BEFORE + 1):
            samples = [sample] * accumulate
            for counted in (seen.operations, seen.waits, seen.attentions, seen.lines):
                counted.clear()
            with metrics.aggregate(new_root=True):
                if case.validates:
                    trainer.valid_step(sample)
                else:
                    trainer.train_step(samples)
    return Outcome(dict(seen.operations), dict(seen.waits), dict(seen.attentions), dict(seen.lines))


@cache
def _dictionaries(size: int) -> Path:
    """The folder of dictionaries that all cases of a model share."""
    from benchmarks.samples import dictionaries

    return dictionaries(size)


def _pairs() -> dict[str, Any]:
    """A batch of sentence pairs with padding, as the CPU gives it to the trainer."""
    import torch

    sentences, length = IWSLT_BATCH
    tokens = torch.zeros(sentences, length, dtype=torch.long)
    source, target = tokens.clone(), tokens.clone()
    source[0, 0] = target[0, -1] = PAD
    lengths = source.ne(PAD).sum(1)
    return {
        "id": torch.arange(sentences),
        "net_input": {"src_tokens": source, "src_lengths": lengths, "prev_output_tokens": target},
        "target": target,
        "ntokens": int(target.ne(PAD).sum()),
        "nsentences": sentences,
    }


def _masked() -> dict[str, Any]:
    """A batch of whole sequences, of which every seventh token is masked, as the CPU gives it to the trainer."""
    import torch

    tokens = torch.zeros(BASE_SEQUENCES, BASE["sequence_length"], dtype=torch.long)
    target = torch.full_like(tokens, PAD)
    target[:, ::7] = 0
    return {
        "id": torch.arange(BASE_SEQUENCES),
        "net_input": {"src_tokens": tokens, "src_lengths": torch.full((len(tokens),), tokens.size(1))},
        "target": target,
        "ntokens": tokens.numel(),
        "nsentences": BASE_SEQUENCES,
    }


def main(library: str, told: str) -> None:
    """Go through the cases."""
    fake_gpu.load(Path(library))
    found = []
    for case in json.loads(Path(told).read_text()):
        try:
            found.append(_look(Case(**case)))
        except Exception:
            # What is wrong with one case says nothing of the others.
            found.append(Outcome({}, {}, {}, {}, error=traceback.format_exc()))
    print("\n" + json.dumps([asdict(one) for one in found]))


if __name__ == "__main__":
    main(*sys.argv[1:])
