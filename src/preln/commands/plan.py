"""The cost of a study before it is run: updates, tokens, operations, memory, and hours on a GPU or a core."""

from __future__ import annotations

import csv
import re
import shlex
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from rich.console import Console
from rich.table import Table

from preln.commands.cost import Estimate
from preln.commands.progress import shown
from preln.commands.status import StudyProgress
from preln.config import Precision
from preln.config.base import meant
from preln.config.execution import RunsAGpu
from preln.errors import PrelnError
from preln.jobs import notes, replacement
from preln.jobs.base import Job
from preln.jobs.checking import Checked
from preln.jobs.kinds import KINDS
from preln.jobs.results import STUDY_FILE, files_made
from preln.records import packed
from preln.records.files import Damaged
from preln.records.recording import read_or_nothing

WIDTH = 150
UTILISATION = 0.3
"""Assumed share of the peak that a training reaches, if no speed was measured."""

CORE = {"fp32": 3e10, "bf16": 1e11}
"""Assumed operations a second on one core, if no speed was measured. For bf16, the processor must multiply in bf16."""

UPDATES_A_SECOND = 20.0
"""Assumed limit for one training: in small models, most of an update's time is Python's."""

ROOM = 0.8
"""The share of a GPU's memory for runs that share it; each also needs some for CUDA itself."""

MOST_ROWS = 1000
"""Print at most this many rows."""

_SHAPE = (
    "width",
    "ffn_width",
    "heads",
    "precision",
    "accumulate",
    "layers",
    "encoder_layers",
    "decoder_layers",
    "batch_tokens",
    "batch_sequences",
    "sequence_length",
    "tokens",
    "feed_forward",
)
"""The settings on which a training's speed depends, besides the vocabulary."""


@dataclass(frozen=True)
class Gpu:
    """A GPU by its maker's data sheet.

    Attributes:
        name: the driver's name.
        half: dense peak in half precision with sums in fp32, in 10^12 operations a second; half of the sparse peak if
            the data sheet has no other.
        single: peak in fp32, without tensor cores, in the same unit.
        memory: in 10^9 bytes.
        source: the maker's document with these numbers.
        has_bf16: whether `half` also holds for bf16.
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
    """A job's cost; unknown values are None. `hours` are on one GPU and `core_hours` on one core of a CPU, each
    `measured` where they are from a measured speed; without one, `busy` is the share of its time in which the GPU
    computes."""

    id: str
    estimate: Estimate
    hours: float | None = None
    core_hours: float | None = None
    measured: bool = False
    core_measured: bool = False
    busy: float | None = None

    @property
    def flops(self) -> float | None:
        """Operations of the whole job."""
        return None if self.estimate.tokens is None else self.estimate.tokens * self.estimate.cost.flops_per_token

    @property
    def memory(self) -> float:
        """Bytes on one GPU."""
        return self.estimate.cost.memory


def items(checked: Checked, gpu: Gpu, folder: Path) -> list[Item]:
    """The cost of each training and fine-tuning in a study, on one GPU each. The workflow's folder has the results
    whose speeds are used, and the corpora whose tokens are counted."""
    recorded = _recorded(folder, gpu), _recorded(folder, None)
    return [
        _item(job, estimate, gpu, *(speeds.get(_shape(job.kind, job.identity)) for speeds in recorded))
        for kind in KINDS.values()
        if kind.estimates
        for job, estimate in zip(checked.jobs[kind.name], kind.estimates(checked.jobs[kind.name], folder), strict=True)
    ]


def critical_path(planned: Iterable[Item]) -> float:
    """Hours of the longest chain of dependent jobs, a lower bound with one GPU for each job."""
    hours = {item.id: item.hours or 0.0 for item in planned}
    return max((hours[item.id] + hours.get(item.estimate.after or "", 0.0) for item in planned), default=0.0)


def _item(job: Job, estimate: Estimate, gpu: Gpu, speed: float | None, core_speed: float | None) -> Item:
    """The cost of a job; the recorded speeds of its model, if any, are in tokens a second."""
    if estimate.updates is None or estimate.tokens is None:
        return Item(job.id, estimate)
    flops = estimate.tokens * estimate.cost.flops_per_token
    computing = flops / (UTILISATION * gpu.peak(estimate.precision))
    seconds = max(computing, estimate.updates / UPDATES_A_SECOND)
    core_seconds = flops / CORE.get(estimate.precision, CORE["fp32"])
    return Item(
        job.id,
        estimate,
        hours=(estimate.tokens / speed if speed else seconds) / 3600,
        core_hours=(estimate.tokens / core_speed if core_speed else core_seconds) / 3600,
        measured=speed is not None,
        core_measured=core_speed is not None,
        busy=None if speed else computing / seconds,
    )


def _recorded(folder: Path, gpu: Gpu | None) -> dict[tuple[object, ...], float]:
    """The median speed of recorded trainings on such a GPU (None: on one core), in tokens a second, by `_shape`."""
    # A whole word, and the card itself: an L40S is not an L4, nor an RTX 4090 Laptop GPU an RTX 4090.
    card = rf"\b{gpu.name}\b(?! Laptop| D\b)" if gpu else ""
    speeds: dict[tuple[object, ...], list[float]] = defaultdict(list)
    paths: list[Path] = []
    for results in files_made("results/*", folder):
        # The command of the study itself reports what is damaged.
        with suppress(Damaged):
            paths += packed.recorded(results)
    for path in paths:
        record = read_or_nothing(path)
        hardware = record.get("hardware", {})
        if hardware.get("runs_a_gpu"):
            # How many shared the GPU at a time is not recorded.
            continue
        names = hardware.get("gpus") or []
        devices = len(names) if gpu and all(re.search(card, name) for name in names) else 0
        if gpu is None and not names:
            devices = hardware.get("cores_used", 0)
        if devices:
            # A damaged record is skipped; commands that read its numbers report it.
            with suppress(OSError, ValueError, KeyError):
                rows = csv.DictReader(packed.read_bytes(path.with_name("curve.csv")).decode().splitlines())
                curve = [float(row["tokens_per_second"]) for row in rows if row["tokens_per_second"]]
                if curve:
                    speeds[_shape(path.parts[-3], record["identity"])].append(statistics.median(curve) / devices)
    return {shape: statistics.median(values) for shape, values in speeds.items()}


def _shape(kind: str, identity: dict[str, Any]) -> tuple[object, ...]:
    """Everything that the speed of a job depends on, from its kind and identity."""
    text = identity.get("corpus_settings") or identity.get("text_settings") or {}
    return kind, text.get("vocabulary"), *(identity.get(key) for key in _SHAPE)


def show(checked: Checked, path: Path, name: str, folder: Path, peak: float | None = None) -> None:
    """Print the plan of a study with the file `path`, on the GPU `name`, for a workflow that runs in `folder`. `peak`,
    in 10^12 operations a second, replaces the data sheet's in half precision; that in fp32 is scaled alike.

    Raises:
        PrelnError: if the GPU is not in the list.
    """
    if name not in GPUS:
        raise PrelnError(
            f"--gpu {name}: not known{meant(name, GPUS)}; known: {', '.join(GPUS)}. For another card, choose one with "
            "as much memory and give its peak with --gpu-tflops"
        )
    gpu = GPUS[name]
    if peak is not None:
        # A new name, so that no recorded speed matches.
        gpu = replace(gpu, name="your GPU", half=peak, single=gpu.single * peak / gpu.half)
    planned = items(checked, gpu, folder)
    console = Console(width=None if Console().is_terminal else WIDTH)
    console.print(_table(planned[:MOST_ROWS], gpu))
    unknown = [item.id for item in planned if item.hours is None]
    lines = [f"And {len(planned) - MOST_ROWS:,} more jobs."] if len(planned) > MOST_ROWS else []
    if len(unknown) < len(planned):
        lines += [_sums(planned, gpu)]
    study = checked.study.study
    records = files_made(f"results/{study}/{STUDY_FILE}", folder)
    results = records[0].parent if records else folder / "results" / study
    progress = StudyProgress.read(checked.study, results, time.time())
    if progress.done:
        lines.append(
            f"{progress.done} of the study's {len(progress.jobs)} jobs are done already, in {results}. Their time is "
            "in the sums."
        )
    lines += [*replacement.told(checked.every, results), *notes.told(notes.of_study(checked.every, results))]
    too_large = [item.id for item in planned if item.memory > 1e9 * gpu.memory]
    if too_large:
        lines.append(
            f"Jobs that need more than the GPU's {gpu.memory:g} GB: {len(too_large)}, such as "
            f"{too_large[0]}. Make the batch smaller and `accumulate` larger, or name a larger GPU with --gpu."
        )
    lines.append("Translating, validating, the theory and traces of first updates are not in it.")
    if not all(item.estimate.is_counted for item in planned if item.hours is not None):
        lines.append(
            "Updates of translation are estimates until the text is prepared: batches are not quite full. There may "
            "be up to 50% more."
        )
    unfinished = [item for item in planned if 0 < (item.estimate.updates or 0) <= item.estimate.warmup]
    if unfinished:
        first, estimate = unfinished[0].id, unfinished[0].estimate
        lines.append(
            f"Runs that end within their warm-up: {len(unfinished)}. {first} has a warm-up of {estimate.warmup:,} and "
            f"{estimate.updates:,} updates. Let it train for longer, or make `warmup` shorter."
        )
    execution = checked.study.execution
    if execution.gpus == 1 and execution.runs_a_gpu == 1 and (share := _sharing(planned, gpu)):
        lines.append(share)
    if not all(item.measured for item in planned):
        lines.append(
            f"{gpu.name} hours assume {UTILISATION:.0%} of its peak, and {UPDATES_A_SECOND:g} updates a second at "
            f"most. Core hours assume {CORE['fp32']:.0e} operations a second, and {CORE['bf16']:.0e} in bf16."
        )
    if any(item.measured or item.core_measured for item in planned):
        lines.append(
            "Hours with a * are from speeds of recorded runs, in results/ of this folder, or of one up to two levels "
            "below."
        )
    if not gpu.has_bf16 and any(job.identity.get("precision") == "bf16" for job in checked.every):
        lines.append(
            f"The {gpu.name} has no bf16: runs in bf16 are planned at its peak in fp32. `precision: fp16` is faster."
        )
    if unknown:
        lines.append(
            f"The hours of {len(unknown)} runs are not known before their text is prepared. There is none in this "
            "folder or up to two below it. This prepares it:\n"
            f"  preln run {shlex.quote(str(path))} prepared\n"
            "In a workflow that has preln as a module, for example: snakemake preln_prepared --cores all."
        )
    console.print("\n".join(lines), markup=False, highlight=False)


def _sharing(planned: list[Item], gpu: Gpu) -> str:
    """Advice on jobs that could share a GPU; empty if none could."""
    idle = [item for item in planned if item.busy is not None and item.busy <= 0.5]
    if len(idle) < 2:
        return ""
    busiest, largest = max(item.busy or 0.0 for item in idle), max(item.memory for item in idle)
    room = min(1 / busiest, ROOM * gpu.memory * 1e9 / largest)
    runs = max(number for number in get_args(RunsAGpu) if number <= max(room, 1))
    if runs == 1:
        return ""
    return (
        f"{len(idle)} of these jobs let the {gpu.name} compute at most {busiest:.0%} of their time. On a machine "
        f"without Slurm, `execution: {{gpus: 1, runs_a_gpu: {runs}}}` lets {runs} share it."
    )


def _sums(planned: list[Item], gpu: Gpu) -> str:
    known = sum(item.hours is not None for item in planned)
    subject = "In all" if known == len(planned) else f"The {known} jobs whose length is known take"
    total, longest = sum(item.hours or 0.0 for item in planned), critical_path(planned)
    cores = sum(item.core_hours or 0.0 for item in planned)
    of_all, of_longest = (_amount(hours, total) for hours in (total, longest))
    unit, of_cores = ("minutes" if hours < 1 else "hours" for hours in (total, cores))
    return (
        f"{subject} {of_all} {gpu.name} {unit}; the longest chain of jobs takes {of_longest}. Without a GPU: "
        f"{_amount(cores, cores)} {of_cores} of one core."
    )


def _amount(hours: float, total: float) -> str:
    return f"{60 * hours:,.0f}" if total < 1 else f"{hours:,.1f}"


def _table(planned: list[Item], gpu: Gpu) -> Table:
    result = Table(box=None)
    result.add_column("", overflow="fold")
    for heading in ("updates", "tokens", "FLOPs", f"memory, of {gpu.memory:g} GB", f"{gpu.name} hours", "core hours"):
        result.add_column(heading, justify="right", no_wrap=True, min_width=len(heading))
    for item in planned:
        result.add_row(
            item.id,
            shown(item.estimate.updates, ",", "?"),
            shown(item.estimate.tokens, ".2e", "?"),
            shown(item.flops, ".2e", "?"),
            f"{item.memory / 1e9:.1f}",
            shown(item.hours, ",.2f", "?") + "*" * item.measured,
            shown(item.core_hours, ",.2f", "?") + "*" * item.core_measured,
        )
    return result
