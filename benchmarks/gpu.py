"""Tests and measurements on a GPU: `make gpu`.

`python -m benchmarks.gpu` goes through the parts, each in a separate process with a time limit, and writes the results
of each to build/gpu/ as JSON. A part that is done is not done again; one that failed is. `--device cpu` rehearses
everything on tiny models.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

from benchmarks import card
from benchmarks.fake_gpu import line_at_work
from benchmarks.interleaved import ROOT, Side, ratios
from benchmarks.samples import BERTS

Device = Literal["cuda", "cpu"]
Results = dict[str, Any]

MODELS: dict[Device, dict[str, str]] = {
    "cuda": {"B": "the IWSLT model", "base": "Transformer-base", "bert-base": "BERT-base"},
    "cpu": {"tiny": "a tiny Transformer", "bert-tiny": "a tiny BERT"},
}
"""The timed models, by their sizes in `benchmarks.samples`."""
STOCK: dict[Device, str] = {"cuda": "fp16", "cpu": "fp32"}
PRECISIONS: dict[Device, tuple[str, ...]] = {"cuda": ("bf16", "fp16", "fp32"), "cpu": ("fp32",)}
ROUNDS: dict[Device, int] = {"cuda": 5, "cpu": 1}
TESTS: dict[Device, list[str]] = {
    # Without the test of this module, which would go through a rehearsal.
    "cuda": ["tests/gpu", "--ignore", "tests/gpu/test_benchmarks_gpu.py"],
    "cpu": ["tests/gpu/test_card.py"],
}
REHEARSAL = "PRELN_REHEARSAL"
"""The environment variable that is set where the tests of a card are rehearsed on a CPU."""
OUT: dict[Device, Path] = {"cuda": ROOT / "build" / "gpu", "cpu": ROOT / "build" / "gpu-rehearsal"}
"""The folder of the results."""
PRODUCT: dict[Device, int] = {"cuda": 8192, "cpu": 256}
"""Rows of the matrices whose product shows a device's peak."""
KERNELS = 25
"""The slowest, which a profile lists."""


def test(device: Device) -> Results:
    """The tests of what is computed on GPUs."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "tests.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-rs", *TESTS[device], f"--junitxml={report}"]
        rehearsal = {REHEARSAL: "1"} if device == "cpu" else {}
        subprocess.run(command, cwd=ROOT, env={**os.environ, **rehearsal}, check=False)
        cases = list(ElementTree.parse(report).iter("testcase"))
    failed = [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = Counter(skip.get("message") for case in cases if (skip := case.find("skipped")) is not None)
    if failed:
        raise RuntimeError(f"{len(failed)} of {len(cases)} tests failed: {', '.join(map(str, failed))}")
    return {"passed": len(cases) - sum(skipped.values()), "skipped": dict(skipped)}


def measure_speed(device: Device, size: str) -> Results:
    """Training steps beside stock fairseq's, and what share of the device's peak they come to."""
    rows = []
    flops = _flops_a_unit(device, size)
    for precision in PRECISIONS[device]:
        # BERT's batches are not packed.
        toolkits = ["preln"] if size in BERTS else ["preln", "graphs"]
        with ExitStack() as until:
            stock, *sides = (
                until.enter_context(Side("training", toolkit, size, kind, device))
                for toolkit, kind in (("stock", STOCK[device]), *((toolkit, precision) for toolkit in toolkits))
            )
            measured = ratios(stock, sides, ROUNDS[device])
        peak = _peak(device, precision)
        for toolkit, ratio in zip(toolkits, measured, strict=True):
            reached = flops / ratio.seconds
            rows.append(
                {
                    **{"toolkit": toolkit, "precision": precision, "tokens_per_second": 1 / ratio.seconds},
                    **{"ratio": ratio.median, "low": ratio.low, "high": ratio.high, "n": ratio.n},
                    **{"tflops": reached / 1e12, "share_of_peak": reached / peak},
                }
            )
    return {"baseline": f"stock fairseq, {STOCK[device]}", "rows": rows}


def _flops_a_unit(device: Device, size: str) -> float:
    """Operations on numbers that a token's share of a training step takes, forward and backward."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counted:
        units = _steps(device, size, STOCK[device])()
    return float(counted.get_total_flops() / units)


def _peak(device: Device, precision: str) -> float:
    """Operations a second that a product of large matrices reaches."""
    import torch

    rows = PRODUCT[device]
    kind = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[precision]
    matrix = torch.ones(rows, rows, dtype=kind, device=device)

    def seconds() -> float:
        started = time.perf_counter()
        for _ in range(5):
            matrix @ matrix
        if device == "cuda":
            torch.cuda.synchronize()
        return (time.perf_counter() - started) / 5

    return 2 * rows**3 / min(seconds() for _ in range(5))


def _steps(device: Device, size: str, precision: str) -> Callable[[], int]:
    from benchmarks.training import rounds
    from preln.config import Execution
    from preln.fairseq_plugin.launch import set_up_cuda

    set_up_cuda()
    return rounds("preln", size, precision, Execution(gpus=int(device == "cuda")))


def find_waits(device: Device) -> Results:
    """One epoch, and each line for which the process waits for the GPU, as CUDA itself sees it."""
    lines: Counter[str] = Counter()

    def note(message: Warning | str, *rest: Any, **more: Any) -> None:
        if "synchronizing" in str(message):
            lines[line_at_work()] += 1

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        metrics = _epoch(device, show_waits=True, bleu_sentences=1)
    return {"lines": dict(lines.most_common()), "metrics": metrics}


def time_bleu(device: Device) -> Results:
    """One epoch in the fastest precision, and the time of its BLEU. There is a sentence of valid or test for every ten
    pairs of train, as in IWSLT14, and all are translated."""
    metrics = _epoch(device, bleu_sentences=None, precision=PRECISIONS[device][0])
    training, (bleu,) = metrics["seconds"], metrics["bleu"]["seconds"]
    return {"training": training, "bleu": bleu, "sentences": sum(metrics["bleu"]["sentences"].values())}


def _epoch(device: Device, show_waits: bool = False, **settings: Any) -> Results:
    """The metrics.json of a training of one epoch on generated text, in which CUDA warns of each wait if asked to."""
    import torch

    from benchmarks import decoding
    from benchmarks.samples import SIZES
    from preln.training.machine import claim
    from preln.translation.training import train_run

    size, pairs = ("B", 22000) if device == "cuda" else ("tiny", 1000)
    folder = ROOT / "resources" / "benchmarks" / f"gpu-{device}"
    changes = {**SIZES[size], "learning_rate": 5e-4, **settings}
    study, run = decoding.study_of(changes, pairs, pairs // 20, {"gpus": int(device == "cuda")})
    decoding.prepare_text(study, run, folder)
    claim(study.execution)
    if show_waits and device == "cuda":
        torch.cuda.set_sync_debug_mode("warn")
    with tempfile.TemporaryDirectory() as out:
        train_run(study, run, folder, Path(out))
        metrics: Results = json.loads((Path(out) / "metrics.json").read_text())
    return metrics


def find_kernels(device: Device, size: str) -> Results:
    """The kernels that take most of a training step's time."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    precision = PRECISIONS[device][0]
    do_round = _steps(device, size, precision)
    do_round()
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device == "cuda" else [])]
    started = time.perf_counter()
    with profile(activities=activities) as profiled:
        do_round()
        if device == "cuda":
            torch.cuda.synchronize()
    seconds = time.perf_counter() - started
    attribute = "self_device_time_total" if device == "cuda" else "self_cpu_time_total"
    events = sorted(profiled.key_averages(), key=lambda event: -getattr(event, attribute))
    if device == "cuda":
        # Events on the CPU include their kernels' time too.
        events = [event for event in events if event.device_type.name == "CUDA"]
    total = sum(getattr(event, attribute) for event in events)
    kernels = [
        {
            "name": event.key[:100],
            "calls": event.count,
            "ms": getattr(event, attribute) / 1000,
            "share": getattr(event, attribute) / total,
        }
        for event in islice(events, KERNELS)
    ]
    return {"precision": precision, "seconds": seconds, "busy": total / 1e6 / seconds, "kernels": kernels}


def parts(device: Device) -> dict[str, tuple[Callable[[], Results], int]]:
    """The parts for a device by name, each with a time limit in seconds."""
    size, precisions = next(iter(MODELS[device])), PRECISIONS[device]
    return {
        "card-attention": (partial(card.compare_attention, device, precisions), 300),
        "card-updates": (partial(card.compare_updates, device, size, precisions), 600),
        "card-sharing": (partial(card.time_sharing, device, size, precisions[0]), 900),
        "tests": (partial(test, device), 1200),
        **{f"speed-{size}": (partial(measure_speed, device, size), 900) for size in MODELS[device]},
        "waits": (partial(find_waits, device), 1200),
        "bleu": (partial(time_bleu, device), 1200),
        **{f"profile-{size}": (partial(find_kernels, device, size), 300) for size in MODELS[device]},
    }


def go_on(device: Device, out: Path) -> list[str]:
    """Do the remaining parts; returns those that failed."""
    failed = []
    out.mkdir(parents=True, exist_ok=True)
    for name, (_, limit) in parts(device).items():
        if (out / f"{name}.json").exists():
            continue
        print(f"{name} ...", flush=True)
        if error := _in_process(device, out, name, limit):
            print(f"{name}: {error}", flush=True)
            failed.append(name)
    print(f"the results are in {out}")
    return failed


def _in_process(device: Device, out: Path, name: str, limit: float) -> str:
    """Do a part in a process of its own; returns why it failed, if it did."""
    log_file = out / f"{name}.log"
    command = [sys.executable, "-m", "benchmarks.gpu", "--device", device, "--out", str(out), "--part", name]
    with open(log_file, "w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
        try:
            code = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            return f"took more than {limit:g} seconds; {log_file} has what it said"
        finally:
            # Also end its children.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return f"ended with code {code}; {log_file} says why" if code else ""


def do(device: Device, out: Path, name: str) -> None:
    """Do a part in this process, and write its results and their origin."""
    from preln.config import Execution
    from preln.records.files import write_json
    from preln.records.provenance import commit, hardware, versions

    started = time.perf_counter()
    values = parts(device)[name][0]()
    origin = {"hardware": hardware(Execution(gpus=int(device == "cuda"))), "versions": versions(), **commit()}
    write_json(out / f"{name}.json", {"results": values, "seconds": round(time.perf_counter() - started, 1), **origin})


def main() -> None:
    """Go on with the parts, or do one of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--out", type=Path, help="folder of the results; by default in build/")
    parser.add_argument("--part", help="do this part alone, in this process")
    arguments = parser.parse_args()
    out = arguments.out or OUT[arguments.device]
    if arguments.part:
        do(arguments.device, out, arguments.part)
        return
    if arguments.device == "cuda":
        import torch

        if not torch.cuda.is_available():
            sys.exit("there is no GPU that PyTorch can use; --device cpu tries everything out on tiny models")
    if failed := go_on(arguments.device, out):
        sys.exit(f"not done: {', '.join(failed)}; the same command tries them again")


if __name__ == "__main__":
    main()
