"""Launches and syncs of an update on a fake GPU, by stock fairseq and by us.

Also those of a validation, a step of the beam search, and gradients and first updates for the theory.

`python -m benchmarks.launches LIBRARY CASES` takes the library of `benchmarks.fake_gpu` and a file with a list of
cases, and prints each case's counts or error.
"""

from __future__ import annotations

import gc
import json
import math
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from unittest import mock

from benchmarks import fake_gpu
from benchmarks.interleaved import ROOT

if TYPE_CHECKING:
    from torch import Tensor

    from preln.config import RunSettings

Toolkit = Literal["preln", "stock"]
Model = Literal["iwslt", "bert-base", "fine-tuning"]
MODELS: tuple[Model, ...] = ("iwslt", "bert-base")
Part = Literal[
    "update", "passes", "validation", "search", "search-closing", "search-limit", "gradients", "first-updates"
]
PRECISIONS = ("fp32", "bf16", "fp16")


@dataclass(frozen=True)
class Case:
    """A computation to be counted.

    Attributes:
        model: the paper's IWSLT model (`iwslt`), BERT-base (`bert-base`), or BERT-base in fine-tuning.
        changes: changes to its settings.
        toolkit: ours or stock fairseq.
        part: an update, the passes of a packed batch that a graph records, the validation of a batch, or of the
            translation model a step of the beam search, one behind which rows are closed up, one at which sentences
            have come to their limit, a measurement of gradients on two batches, or a trace of one update.
    """

    model: Model
    changes: dict[str, Any]
    toolkit: Toolkit = "preln"
    part: Part = "update"


@dataclass(frozen=True)
class Outcome:
    """A case's counts, as in `fake_gpu.Seen`, for an update or a step after the first ones; or its error."""

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
        """The number of times that the process waits for the GPU."""
        return sum(self.waits.values())


RECORDED = (
    {f"{model}-{precision}": Case(model, {"precision": precision}) for model in MODELS for precision in PRECISIONS}
    | {f"fine-tuning-{precision}": Case("fine-tuning", {"precision": precision}) for precision in PRECISIONS}
    | {f"passes-{precision}": Case("iwslt", {"precision": precision}, part="passes") for precision in PRECISIONS}
    | {f"{part}-fp32": Case("iwslt", {}, part=part) for part in ("search", "search-limit")}
)
"""The cases whose counts are recorded, by name."""


def outcomes(cases: Sequence[Case], library: Path) -> list[Outcome]:
    """The outcome of each case, in a separate process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases.json"
        file.write_text(json.dumps([asdict(case) for case in cases]))
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.launches", str(library), str(file)]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return [Outcome(**fields) for fields in json.loads(done.stdout.splitlines()[-1])]


IWSLT: dict[str, Any] = {"encoder_layers": 6, "decoder_layers": 6, "width": 512, "ffn_width": 1024, "heads": 4}
IWSLT_VOCABULARY, IWSLT_BATCH = 10000, (160, 24)
"""Sentences of a batch, and their length, with which it has nearly the paper's 4,096 tokens."""
BASE: dict[str, Any] = {"layers": 12, "width": 768, "ffn_width": 3072, "heads": 12, "sequence_length": 512}
BASE_VOCABULARY, BASE_SEQUENCES = 32000, 32
PAD = 1
"""Padding in fairseq's dictionaries."""
BEFORE = 1
"""Updates before the one that is looked at: the first makes the optimizer's state."""


TASK_BATCH = (32, 64)
"""Pairs of a fine-tuning's batch, and their length."""
SEARCH_LENGTH = 24
"""The length of the sentences that are translated together."""
LOOKED_AT = 4
"""The step of a search that is looked at, if nothing else is said."""


def _look(case: Case) -> Outcome:
    """One case, in a process that has loaded the library."""
    if case.part in ("gradients", "first-updates"):
        return _theory(case)
    cfg, accumulate = _configuration(case)
    return _searched(case, cfg) if case.part.startswith("search") else _trained(case, cfg, accumulate)


def _configuration(case: Case) -> tuple[Any, int]:
    """fairseq's configuration of a training, and its batches an update."""
    from benchmarks import stock
    from benchmarks.samples import LANGUAGES
    from preln.config import Execution, GridPoint, PretrainingSettings
    from preln.fairseq_plugin import options
    from preln.fairseq_plugin.launch import configuration

    execution, nowhere = Execution(gpus=1), Path()
    if case.model == "iwslt":
        run, folder = _run(case), _dictionaries(IWSLT_VOCABULARY)
        arguments = options.translation(run, folder, folder, LANGUAGES, folder, execution)
        precision, accumulate = run.precision, run.accumulate
    else:
        settings = {"text": "any", "placement": "post", "learning_rate": 1e-4, "clip_norm": 1.0} | case.changes
        folder = _dictionaries(BASE_VOCABULARY)
        numbers = {"updates": 1000, "validate_every": 1000, "batch_sequences": BASE_SEQUENCES}
        bert = PretrainingSettings.model_validate({**numbers, **BASE, **settings})
        precision, accumulate = bert.precision, bert.accumulate
        if case.model == "bert-base":
            arguments = options.pretraining(bert, folder, folder, [], execution)
        else:
            point, accumulate = GridPoint(batch_size=TASK_BATCH[0], learning_rate=1e-5, epochs=3), 1
            arguments = options.finetuning(bert, point, 1, 1000, nowhere, _task(folder), nowhere, execution)
    return configuration(stock.options(arguments) if case.toolkit == "stock" else arguments, precision), accumulate


def _run(case: Case) -> RunSettings:
    from preln.config import RunSettings

    settings = {"corpus": "any", "placement": "post", "optimizer": "adam", "learning_rate": 5e-4} | case.changes
    schedule = {"schedule": "linear", "decay_updates": 1000} if settings["optimizer"] == "radam" else {}
    return RunSettings.model_validate({"schedule": "constant", **schedule, **IWSLT, **settings})


def _trained(case: Case, cfg: Any, accumulate: int) -> Outcome:
    """An update, the passes that a graph records, or the validation of a batch."""
    import torch
    from fairseq import tasks
    from fairseq.logging import metrics
    from fairseq.trainer import Trainer

    from preln.fairseq_plugin import sentence_prediction
    from preln.fairseq_plugin.batches import Noted

    task = tasks.setup_task(cfg.task)
    sample = {"iwslt": _pairs, "bert-base": _masked, "fine-tuning": _labelled}[case.model]()
    if case.toolkit == "preln":
        sample = Noted(lambda _: sample, PAD, _capacities() if case.part == "passes" else ())(None)
    with fake_gpu.fake_gpu() as seen:
        with torch.device("cuda"), mock.patch.object(sentence_prediction, "load_weights"):
            model = task.build_model(cfg.model)
        trainer = Trainer(cfg, task, model, task.build_criterion(cfg.criterion))
        if case.part == "validation" and case.model == "fine-tuning":
            task.begin_valid_epoch(1, model)
            # fairseq reads label after label, each by its name, of which numbers that are not there have none.
            task.label_dictionary.string = lambda labels: " ".join(map(str, labels.tolist()))
        for _ in range(BEFORE + 1):
            samples = [sample] * accumulate
            seen.clear()
            with metrics.aggregate(new_root=True):
                if case.part == "validation":
                    trainer.valid_step(sample)
                elif case.part == "passes":
                    _compute(trainer, sample, seen)
                else:
                    trainer.train_step(samples)
    return _outcome(seen)


def _compute(trainer: Any, sample: Any, seen: fake_gpu.Seen) -> None:
    """The passes of a packed batch that is on the GPU."""
    from fairseq import utils

    from preln.fairseq_plugin import masters
    from preln.fairseq_plugin.graphs import Passes

    half = masters.in_half_precision(trainer.optimizer)
    copies = masters.Copies(trainer.optimizer) if half else None
    passes = Passes(trainer.model, trainer.criterion, trainer.optimizer, copies)
    passes.prepare()
    batch = utils.move_to_cuda(sample)
    seen.clear()
    passes.compute(batch)


def _capacities() -> Any:
    """The capacity of the batch of pairs, of which one sentence is shorter on both sides."""
    import numpy as np

    from preln.fairseq_plugin.packing import capacities

    sentences, length = IWSLT_BATCH
    lengths = np.array([length - 1, *[length] * (sentences - 1)])
    return capacities([range(sentences)], (lengths, lengths))


def _searched(case: Case, cfg: Any) -> Outcome:
    """A step of the beam search: what is asked for between two answers of the GPU, which is asked for one a step."""
    import numpy as np
    import torch
    from fairseq import tasks

    from preln.fairseq_plugin import decoding

    task = tasks.setup_task(cfg.task)
    source = torch.zeros(decoding.TOKENS["cuda"] // SEARCH_LENGTH, SEARCH_LENGTH, dtype=torch.long)
    lengths = torch.full((len(source),), SEARCH_LENGTH)
    # The first sentence comes to its limit, and the others go on.
    lengths[0], beam, step = 1, 5, -1
    at = int(decoding.LENGTH_FACTOR + decoding.LENGTH_MARGIN) if case.part == "search-limit" else LOOKED_AT
    results: list[Outcome] = []

    def numbers(read: Any) -> Any:
        """The number of hypotheses of each sentence that ended in this step; at the end, that all did."""
        nonlocal step
        if read.dim() == 2:
            return fake_gpu.ones(read)
        step += 1
        if step == at:
            results.append(_outcome(seen))
        seen.clear()
        ended = np.zeros(len(read), dtype=int)
        if step == at:
            ended[:] = beam
        elif case.part == "search-closing" and step == at - 1:
            ended[: -(-len(ended) // 2)] = beam
        return ended

    with fake_gpu.fake_gpu(numbers) as seen:
        with torch.device("cuda"):
            model = task.build_model(cfg.model).eval()
        decoding.search(model, source.to("cuda"), lengths, beam, 1.0)
    return results[0]


def _theory(case: Case) -> Outcome:
    """A measurement of a translation model's gradients, or a trace of its first update."""
    import torch
    from fairseq import utils

    from benchmarks.samples import LANGUAGES
    from preln.config import Execution
    from preln.fairseq_plugin.probe import Probe
    from preln.theory import first_updates, gradients
    from preln.theory.measurements import Measurement

    run, folder = _run(case), _dictionaries(IWSLT_VOCABULARY)
    sample = _pairs()
    with fake_gpu.fake_gpu() as seen:
        with torch.device("cuda"):
            probe = Probe(run, folder, folder, LANGUAGES, Execution(gpus=1))
        batch = utils.move_to_cuda(sample)
        with (
            mock.patch.object(probe, "batches", lambda count: iter([batch] * count)),
            mock.patch.object(probe, "held_out", lambda tokens: batch),
            # Each step of a measurement of the sharpness is as the others.
            mock.patch.object(first_updates, "LANCZOS_STEPS", 1),
        ):
            seen.clear()
            if case.part == "gradients":
                base = Measurement(
                    "translation", "", "initial", run.placement, "", 6, run.width, None, "", 1, "", math.nan
                )
                list(gradients.measure(probe, 2, base))
            else:
                first_updates.trace(probe, run, 1, 1)
    return _outcome(seen)


def _outcome(seen: fake_gpu.Seen) -> Outcome:
    return Outcome(dict(seen.operations), dict(seen.waits), dict(seen.attentions), dict(seen.lines))


@cache
def _dictionaries(size: int) -> Path:
    """The folder of dictionaries that all cases of a model share."""
    from benchmarks.samples import dictionaries

    return dictionaries(size)


def _pairs() -> dict[str, Any]:
    """A batch of sentence pairs with padding."""
    import torch

    source = torch.zeros(IWSLT_BATCH, dtype=torch.long)
    target = source.clone()
    source[0, 0] = target[0, -1] = PAD
    return _batch(source, target, target, prev_output_tokens=target)


def _masked() -> dict[str, Any]:
    """A batch of whole sequences, of which every seventh token is masked."""
    import torch

    tokens = torch.zeros(BASE_SEQUENCES, BASE["sequence_length"], dtype=torch.long)
    target = torch.full_like(tokens, PAD)
    target[:, ::7] = 0
    return _batch(tokens, target, tokens)


def _task(dictionaries: Path) -> Path:
    """The folder of a task's dictionaries, of pairs that have one of two labels."""
    folder = dictionaries / "task"
    for part, words in (("input0", (dictionaries / "dict.txt").read_text()), ("label", "0 1\n1 1\n")):
        (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / part / "dict.txt").write_text(words)
    return folder


def _labelled() -> dict[str, Any]:
    """A batch of pairs with a label."""
    import torch

    tokens = torch.zeros(TASK_BATCH, dtype=torch.long)
    tokens[0, -1] = PAD
    return _batch(tokens, torch.zeros(len(tokens), 1, dtype=torch.long), tokens)


def _batch(tokens: Tensor, target: Tensor, counted: Tensor, **inputs: Tensor) -> dict[str, Any]:
    """A batch as the CPU gives it to the trainer; its tokens are those that are counted, without padding."""
    import torch

    return {
        "id": torch.arange(len(tokens)),
        "net_input": {"src_tokens": tokens, "src_lengths": tokens.ne(PAD).sum(1), **inputs},
        "target": target,
        "ntokens": int(counted.ne(PAD).sum()),
        "nsentences": len(tokens),
    }


def main(library: str, file: str) -> None:
    """Print the outcomes of the cases in a file."""
    fake_gpu.load(Path(library))
    # Looking for cycles among so many small objects would take a quarter of the time.
    gc.disable()
    results = []
    for case in json.loads(Path(file).read_text()):
        try:
            results.append(_look(Case(**case)))
        except Exception:
            # An error in one case does not affect the others.
            results.append(Outcome({}, {}, {}, {}, error=traceback.format_exc()))
    print("\n" + json.dumps([asdict(outcome) for outcome in results]))


if __name__ == "__main__":
    main(*sys.argv[1:])
