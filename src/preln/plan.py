"""What a study will cost, before anything is launched: updates, tokens, operations, memory, and GPU hours."""

from __future__ import annotations

import csv
import json
import math
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from preln import cost
from preln.checking import Checked
from preln.config import EmbeddedTask, Iwslt14Corpus, Precision, PretrainingSettings, RunSettings
from preln.corpora.parallel import iwslt14
from preln.corpora.subsets import SIZES
from preln.errors import PrelnError
from preln.freshness import read_or_nothing
from preln.pretraining.runs import Finetuning, PretrainingRun
from preln.runs import Run
from preln.workflow import corpus_folder, made

WIDTH = 150
UTILISATION = 0.3
"""Share of the peak that a training is taken to reach where no speed was measured."""

UPDATES_A_SECOND = 20.0
"""That one training is taken to reach at most: of small models, most of an update's time is Python's."""

IWSLT14_TOKENS = 1100 * 4000
"""Target tokens of an epoch of IWSLT14 German-English with 10,000 joint pieces: some 1,100 updates of 4,000, by the
notes of T-Fixup (Huang et al., 2020)."""

TASK_TOKENS = 64
"""Tokens that a pair of sentences of MRPC and RTE is taken to have."""

TASK_PAIRS = {"mrpc": 3668, "rte": 2490}

MOST_ROWS = 1000
"""Of the table; beyond that, nobody reads it."""

_SHAPE = (
    *("width", "ffn_width", "heads", "precision", "accumulate"),
    *("layers", "encoder_layers", "decoder_layers", "batch_tokens", "batch_sequences", "sequence_length"),
)
"""The settings of a training that its speed depends on."""

Speeds = Mapping[tuple[object, ...], float]
"""Tokens a second of one GPU, by the kind of a training and its shape."""


@dataclass(frozen=True)
class Gpu:
    """A GPU by its maker's data sheet.

    Attributes:
        name: as the driver has it.
        half: dense peak in half precision, summed in fp32, in 10^12 operations a second. Where a data sheet has only
            the peak of sparse matrices, it is half of that.
        single: peak in fp32, without tensor cores, in the same unit.
        memory: in 10^9 bytes.
        source: the maker's document that has these numbers.
        has_bf16: whether `half` is also of bf16.
    """

    name: str
    half: float
    single: float
    memory: float
    source: str
    has_bf16: bool = True

    def peak(self, precision: Precision) -> float:
        """Operations a second."""
        in_single = precision == "fp32" or (precision == "bf16" and not self.has_bf16)
        return 1e12 * (self.single if in_single else self.half)


GPUS = {
    "t4": Gpu("T4", 65, 8.1, 16, "NVIDIA T4 data sheet", has_bf16=False),
    "l4": Gpu("L4", 121, 30.3, 24, "NVIDIA L4 data sheet"),
    "l40s": Gpu("L40S", 362, 91.6, 48, "NVIDIA L40S data sheet"),
    "rtx3090": Gpu("RTX 3090", 71, 35.6, 24, "NVIDIA Ampere GA102 architecture, whitepaper"),
    "rtx4090": Gpu("RTX 4090", 165, 82.6, 24, "NVIDIA Ada architecture, whitepaper"),
    "rtx5090": Gpu("RTX 5090", 210, 105, 32, "NVIDIA RTX Blackwell architecture, whitepaper"),
    "v100": Gpu("V100", 125, 15.7, 32, "NVIDIA V100 data sheet (SXM2)", has_bf16=False),
    "a100": Gpu("A100", 312, 19.5, 80, "NVIDIA A100 data sheet (80 GB)"),
    "h100": Gpu("H100", 989, 67, 80, "NVIDIA H100 data sheet (SXM)"),
    "h200": Gpu("H200", 989, 67, 141, "NVIDIA H200 data sheet (SXM)"),
    "b200": Gpu("B200", 2250, 75, 180, "NVIDIA Blackwell data sheet (HGX B200)"),
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


def items(asked: Checked, gpu: Gpu, folder: Path) -> list[Item]:
    """The cost of each training and fine-tuning of a study.

    Args:
        asked: the study, with all that it asks for.
        gpu: that each of them has.
        folder: in which the workflow runs: in its results speeds were measured, and the tokens of its prepared corpora
            are counted.
    """
    speeds = _speeds(folder, gpu)
    of_corpus = {run.settings.corpus: run for run in asked.runs}
    epochs = {name: _epoch_tokens(run, folder) for name, run in of_corpus.items()}
    return [
        *(_translation(run, gpu, speeds, epochs[run.settings.corpus]) for run in asked.runs),
        *(_pretraining(run, gpu, speeds) for run in asked.pretrainings),
        *(_finetuning(job, gpu) for job in asked.finetunings),
    ]


def critical_path(planned: Iterable[Item]) -> float:
    """Hours of the longest chain of jobs, which no number of GPUs makes shorter but by more of them a job."""
    hours = {item.id: item.hours or 0.0 for item in planned}
    return max((hours[item.id] + hours.get(item.after or "", 0.0) for item in planned), default=0.0)


def _translation(run: Run, gpu: Gpu, speeds: Speeds, epoch: float | None) -> Item:
    settings = run.settings
    found = cost.translation(settings, run.corpus.vocabulary)
    tokens = None if epoch is None else epoch * settings.epochs
    updates = None if tokens is None else math.ceil(tokens / (found.tokens_per_batch * settings.accumulate))
    speed = speeds.get(("translation", *_shape(settings)))
    return _item(run.id, updates, tokens, found, settings.precision, gpu, speed)


def _pretraining(run: PretrainingRun, gpu: Gpu, speeds: Speeds) -> Item:
    settings = run.settings
    found = cost.pretraining(settings, run.text.vocabulary)
    tokens = float(settings.updates * settings.accumulate * found.tokens_per_batch)
    speed = speeds.get(("pretraining", *_shape(settings)))
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


def _epoch_tokens(run: Run, folder: Path) -> float | None:
    """Target tokens of a run's epoch: counted where the corpus is prepared, known of IWSLT14."""
    if records := made(f"{corpus_folder(run)}/bpe/bpe.json", folder):
        train = json.loads(records[0].read_text(encoding="utf-8"))["parts"]["train"]
        # Half of the pieces are the target's; each sentence ends with </s>.
        return float(train["pieces"] / 2 + train["pairs"])
    corpus = run.corpus
    if not isinstance(corpus, Iwslt14Corpus):
        return None
    chosen = SIZES[corpus.subset] if corpus.subset else iwslt14.PAIRS
    return IWSLT14_TOKENS * min(corpus.pairs or chosen, chosen) / iwslt14.PAIRS


def _speeds(folder: Path, gpu: Gpu) -> Speeds:
    """The median speed of recorded trainings on such a GPU, of each model and its batches."""
    found: dict[tuple[object, ...], list[float]] = defaultdict(list)
    for path in made("results/*/*/*/run.json", folder):
        kind = path.parts[-3]
        record = read_or_nothing(path) if kind in ("translation", "pretraining") else {}
        names = record.get("hardware", {}).get("gpus")
        # A whole word: an L40S is no L4.
        if names and all(re.search(rf"\b{gpu.name}\b", name) for name in names):
            with path.with_name("curve.csv").open(encoding="utf-8") as file:
                curve = [float(row["tokens_per_second"]) for row in csv.DictReader(file) if row["tokens_per_second"]]
            if not curve:
                continue
            speed = statistics.median(curve) / len(names)
            found[kind, *(record["identity"].get(key) for key in _SHAPE)].append(speed)
    return {shape: statistics.median(speeds) for shape, speeds in found.items()}


def _shape(settings: RunSettings | PretrainingSettings) -> tuple[object, ...]:
    said = dict(settings)
    return tuple(said.get(key) for key in _SHAPE)


def show(asked: Checked, path: Path, name: str, folder: Path, peak: float | None = None) -> None:
    """Print the plan of a study, whose file is at `path`, on a GPU of the given name, for a workflow that runs in
    `folder`; `peak`, in 10^12 operations a second, is taken in place of its data sheet's in half precision, and that in
    fp32 is scaled as much.

    Raises:
        PrelnError: if there is no such GPU in the list.
    """
    if name not in GPUS:
        raise PrelnError(
            f"--gpu {name}: not known; known: {', '.join(GPUS)}. For another card, choose one with as much "
            "memory and give its peak with --gpu-tflops"
        )
    gpu = GPUS[name]
    if peak is not None:
        # Under a name of its own, which no recorded speed has.
        gpu = replace(gpu, name="your GPU", half=peak, single=gpu.single * peak / gpu.half)
    planned = items(asked, gpu, folder)
    console = Console(width=None if Console().is_terminal else WIDTH)
    console.print(_table(planned[:MOST_ROWS], gpu))
    unknown = [item.id for item in planned if item.hours is None]
    total = sum(item.hours or 0.0 for item in planned)
    longest = critical_path(planned)
    lines = [f"And {len(planned) - MOST_ROWS:,} more jobs."] if len(planned) > MOST_ROWS else []
    if total < 1:
        lines += [f"In all {60 * total:.0f} {gpu.name} minutes; the longest chain of jobs takes {60 * longest:.0f}."]
    else:
        lines += [f"In all {total:,.1f} {gpu.name} hours; the longest chain of jobs takes {longest:,.1f}."]
    lines.append(
        "Updates of translation are estimates, for batches are not quite full: with small ones there may be a third "
        "more. Translating, validating, the theory and traces of first updates are not in it."
    )
    if not all(item.measured for item in planned):
        lines.append(
            f"Hours without * assume {UTILISATION:.0%} of the {gpu.name}'s peak, and {UPDATES_A_SECOND:g} updates a "
            "second at most; those with * are from speeds in results/."
        )
    precisions = {run.settings.precision for run in asked.runs} | {run.settings.precision for run in asked.pretrainings}
    if "bf16" in precisions and not gpu.has_bf16:
        lines.append(
            f"The {gpu.name} has no bf16: runs in bf16 are planned at its peak in fp32. `precision: fp16` is faster."
        )
    if not cost.COUNTED:
        lines.append(
            "torch is not installed, so norms and what else is a placement's own are estimated: numbers may differ in "
            "their last digit."
        )
    if unknown:
        lines.append(
            f"The hours of {len(unknown)} runs are not in it: their text is not prepared in this folder, or up to two "
            "folders below it, so that its tokens are not known. Prepare it first: snakemake prepared --cores all "
            f"--configfile {path} (of a module, the rule has the name that the module gives it, such as preln_prepared)"
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
