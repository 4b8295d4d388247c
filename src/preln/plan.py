"""What a study will cost, before anything is launched: updates, tokens, operations, memory, and GPU hours."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table

from preln import cost
from preln.config import EmbeddedTask, Iwslt14Corpus, Precision, Study
from preln.corpora.subsets import SIZES
from preln.current import read_or_nothing
from preln.errors import PrelnError
from preln.pretraining import runs as pretraining
from preln.pretraining.runs import Finetuning, PretrainingRun
from preln.runs import Run, corpus_id, expand

WIDTH = 150
UTILISATION = 0.3
"""Share of the peak that a training is taken to reach where no speed was measured."""

UPDATES_A_SECOND = 20.0
"""That one training is taken to reach at most: of small models, most of an update's time is Python's."""

IWSLT14_PAIRS = 160_239
IWSLT14_TOKENS = 1100 * 4000
"""Target tokens of an epoch of IWSLT14 German-English with 10,000 joint pieces: some 1,100 updates of 4,000, by the
notes of T-Fixup (Huang et al., 2020)."""

TASK_TOKENS = 64
"""Tokens that a pair of sentences of MRPC and RTE is taken to have."""

TASK_PAIRS = {"mrpc": 3668, "rte": 2490}


@dataclass(frozen=True)
class Gpu:
    """A GPU by its data sheet: its name as the driver has it, dense peaks in 10^12 operations a second, and memory in
    10^9 bytes."""

    name: str
    half: float
    single: float
    memory: float

    def peak(self, precision: Precision) -> float:
        """Operations a second."""
        return 1e12 * (self.single if precision == "fp32" else self.half)


GPUS = {
    "v100": Gpu("V100", 125, 15.7, 32),
    "a100": Gpu("A100", 312, 19.5, 80),
    "h100": Gpu("H100", 989, 67, 80),
    "h200": Gpu("H200", 989, 67, 141),
}


@dataclass(frozen=True)
class Item:
    """One job's cost: updates, tokens of all updates, operations, bytes on one GPU, and hours on one GPU; None is not
    known. `measured` tells whether its hours come from a measured speed; `after` is the job that it waits for."""

    id: str
    updates: int | None
    tokens: float | None
    flops: float | None
    memory: float | None
    hours: float | None
    measured: bool = False
    after: str | None = None


def items(study: Study, gpu: Gpu, results: Path, prepared: Path, origin: str = "study") -> list[Item]:
    """The cost of each training and fine-tuning of a study.

    Args:
        study: the study.
        gpu: that each of them has.
        results: folder of all studies' results, in which speeds were measured.
        prepared: folder of prepared corpora, whose tokens are counted.
        origin: the study's file, for messages.
    """
    trainings = [_translation(run, gpu, results, prepared) for run in expand(study, origin)]
    pretrainings = [_pretraining(run, gpu, results) for run in pretraining.expand(study, origin)]
    return [*trainings, *pretrainings, *(_finetuning(job, gpu) for job in pretraining.finetunings(study, origin))]


def critical_path(planned: Iterable[Item]) -> float:
    """Hours of the longest chain of jobs, which no number of GPUs makes shorter but by more of them a job."""
    hours = {item.id: item.hours or 0.0 for item in planned}
    return max((hours[item.id] + hours.get(item.after or "", 0.0) for item in planned), default=0.0)


def _translation(run: Run, gpu: Gpu, results: Path, prepared: Path) -> Item:
    settings = run.settings
    found = cost.translation(settings, run.corpus.vocabulary)
    epoch = _epoch_tokens(run, prepared)
    tokens = None if epoch is None else epoch * settings.epochs
    updates = None if tokens is None else math.ceil(tokens / (found.tokens_per_batch * settings.accumulate))
    speed = _measured(results, "translation", run.identity, gpu)
    return _item(run.id, updates, tokens, found, settings.precision, gpu, speed)


def _pretraining(run: PretrainingRun, gpu: Gpu, results: Path) -> Item:
    settings = run.settings
    found = cost.pretraining(settings, run.text.vocabulary)
    tokens = float(settings.updates * settings.accumulate * found.tokens_per_batch)
    speed = _measured(results, "pretraining", run.identity, gpu)
    return _item(run.id, settings.updates, tokens, found, settings.precision, gpu, speed)


def _finetuning(job: Finetuning, gpu: Gpu) -> Item:
    settings = job.run.settings
    pairs = job.task.pairs if isinstance(job.task, EmbeddedTask) else TASK_PAIRS[job.task.source]
    updates = sum(point.epochs * math.ceil(pairs / point.batch_size) for point in job.points) * job.seeds
    tokens = float(sum(point.epochs for point in job.points) * job.seeds * pairs * TASK_TOKENS)
    batch = max(point.batch_size for point in job.points)
    largest = settings.model_copy(update={"batch_sequences": batch, "sequence_length": TASK_TOKENS})
    found = cost.pretraining(largest, job.run.text.vocabulary)
    item = _item(job.id, updates, tokens, found, settings.precision, gpu, None)
    return replace(item, after=job.run.id)


def _item(
    name: str,
    updates: int | None,
    tokens: float | None,
    found: cost.Cost,
    precision: Precision,
    gpu: Gpu,
    speed: float | None,
) -> Item:
    if tokens is None or updates is None:
        return Item(name, None, None, None, found.memory, None)
    flops = tokens * found.flops_per_token
    computing = flops / (UTILISATION * gpu.peak(precision))
    seconds = tokens / speed if speed else max(computing, updates / UPDATES_A_SECOND)
    return Item(name, updates, tokens, flops, found.memory, seconds / 3600, measured=speed is not None)


def _epoch_tokens(run: Run, prepared: Path) -> float | None:
    """Target tokens of an epoch: counted where the corpus is prepared, known of IWSLT14."""
    record = prepared / corpus_id(run.settings.corpus, run.corpus) / "bpe" / "bpe.json"
    if record.exists():
        train = json.loads(record.read_text(encoding="utf-8"))["parts"]["train"]
        # Half of the pieces are the target's; each sentence ends with </s>.
        return float(train["pieces"] / 2 + train["pairs"])
    if not isinstance(run.corpus, Iwslt14Corpus):
        return None
    chosen = SIZES[run.corpus.subset] if run.corpus.subset else IWSLT14_PAIRS
    return IWSLT14_TOKENS * min(run.corpus.pairs or chosen, chosen) / IWSLT14_PAIRS


def _measured(results: Path, kind: str, identity: dict[str, object], gpu: Gpu) -> float | None:
    """The median speed, in tokens a second of one GPU, of recorded trainings of the same model and batches on such a
    GPU."""

    def shape(of: dict[str, object]) -> dict[str, object]:
        said = ("width", "ffn_width", "heads", "precision", "accumulate")
        sizes = ("layers", "encoder_layers", "decoder_layers", "batch_tokens", "batch_sequences", "sequence_length")
        return {key: of[key] for key in (*said, *sizes) if key in of}

    speeds = []
    for path in results.glob(f"*/{kind}/*/run.json"):
        record = read_or_nothing(path)
        names = record.get("hardware", {}).get("gpus")
        if names and all(gpu.name in name for name in names) and shape(record["identity"]) == shape(identity):
            curve = pd.read_csv(path.with_name("curve.csv"))
            speeds.append(float(curve["tokens_per_second"].median()) / len(names))
    return statistics.median(speeds) if speeds else None


def show(study: Study, path: Path, name: str, results: Path, prepared: Path) -> None:
    """Print the plan of a study, whose file is at `path`, on a GPU of the given name.

    Raises:
        PrelnError: if there is no such GPU in the list.
    """
    if name not in GPUS:
        raise PrelnError(f"--gpu {name}: not known; known: {', '.join(GPUS)}")
    gpu = GPUS[name]
    planned = items(study, gpu, results, prepared, str(path))
    console = Console(width=None if Console().is_terminal else WIDTH)
    console.print(_table(planned, gpu))
    unknown = [item.id for item in planned if item.hours is None]
    total = sum(item.hours or 0.0 for item in planned)
    longest = critical_path(planned)
    lines = [f"In all {total:,.1f} {gpu.name} hours; the longest chain of jobs takes {longest:,.1f}."]
    lines.append(
        "Updates of translation are estimates, for batches are not quite full: with small ones there may be a third "
        "more. Translating, validating and the theory are not in it."
    )
    if not all(item.measured for item in planned):
        lines.append(
            f"Hours without * assume {UTILISATION:.0%} of the {gpu.name}'s peak, and {UPDATES_A_SECOND:g} updates a "
            "second at most; those with * are from speeds in results/."
        )
    if unknown:
        lines.append(
            f"The hours of {len(unknown)} runs are not in it: their text is not prepared yet, so that its tokens are "
            f"not known. Prepare it first: snakemake prepared --cores all --configfile {path}"
        )
    console.print("\n".join(lines), highlight=False)


def _table(planned: list[Item], gpu: Gpu) -> Table:
    result = Table(box=None)
    result.add_column("", no_wrap=True)
    for heading in ("updates", "tokens", "FLOPs", f"GB of {gpu.memory:g}", f"{gpu.name} hours"):
        result.add_column(heading, justify="right", no_wrap=True)
    for item in planned:
        result.add_row(
            item.id,
            "?" if item.updates is None else f"{item.updates:,}",
            "?" if item.tokens is None else f"{item.tokens:.2e}",
            "?" if item.flops is None else f"{item.flops:.2e}",
            "?" if item.memory is None else f"{item.memory / 1e9:.1f}",
            "?" if item.hours is None else f"{item.hours:,.2f}{'*' if item.measured else ''}",
        )
    return result
