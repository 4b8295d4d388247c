"""Run the benchmarks: `python -m benchmarks [PREFIX ...]` runs all, or those whose names begin with a prefix.

The results are printed, and replace those in benchmarks/record.json with the same name and processor.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pandas as pd

from benchmarks import record
from benchmarks.interleaved import ROOT, Ratio, Side, ratios
from benchmarks.record import Entry

ROUNDS = 7
FEW = 3
"""Rounds of benchmarks that take minutes."""
SIDES = 5
"""Placements that are timed with Post-LN at once, as each has a process with a model in memory."""


def of_training() -> Iterator[Entry]:
    """Training steps, compared with stock fairseq and other toolkits."""
    for threads in (1, 2):
        for size, rounds in (("A", ROUNDS), ("B", FEW)):
            sides = [("preln", "fp32"), ("preln", "bf16"), ("stock", "bf16")]
            if size == "A" or threads == 2:
                sides += [(kit, "fp32") for kit in ("transformers-marian", "torch.nn.Transformer", "joeynmt")]
            yield from _steps(size, sides, threads, rounds)
        masked = [("preln", "fp32"), ("preln", "bf16"), ("stock", "bf16"), ("transformers-bert", "fp32")]
        yield from _steps("bert", masked, threads, ROUNDS)


def of_placements() -> Iterator[Entry]:
    """Training steps with each placement and option, beside Post-LN."""
    from benchmarks import placements

    models = list(placements.models())
    for few in (models[start : start + SIDES] for start in range(0, len(models), SIDES)):
        results = _beside(("placements", "post"), [("placements", *model) for model in few], ROUNDS)
        for model, ratio in zip(few, results, strict=True):
            speed = 1 / ratio.seconds
            yield _entry(f"placement-{'-'.join(model)}", "Post-LN, fp32, 1 thread", ratio, tokens_per_second=speed)


def of_language() -> Iterator[Entry]:
    """Updates of language models beside those of `transformers` and of torch's own layers."""
    from benchmarks import language

    if importlib.util.find_spec("transformers") is None:
        sys.exit("language models are compared with transformers, which is not installed: make .venv/.bench-ready")
    for width, precision, toolkit in itertools.product(language.SIZES, language.PRECISIONS, language.TOOLKITS):
        arguments = (toolkit, width, precision)
        (ratio,) = _beside(("language", "theirs", *arguments), [("language", "ours", *arguments)], ROUNDS)
        name, baseline = f"language-{width}-{precision}-{toolkit}", f"{toolkit}, {precision}, 1 thread"
        yield _entry(name, baseline, ratio, tokens_per_second=1 / ratio.seconds)


def of_products() -> Iterator[Entry]:
    """Training steps in bf16 whose products are computed in fp32, beside steps whose products are computed in bf16."""
    for size, rounds in (("A", ROUNDS), ("B", FEW)):
        (ratio,) = _beside(("products", size, "bf16"), [("products", size, "fp32")], rounds)
        yield _entry(f"products-{size}", "products in bf16, 1 thread", ratio, tokens_per_second=1 / ratio.seconds)


def of_decoding() -> Iterator[Entry]:
    """Beam search beside fairseq's."""
    from benchmarks import decoding

    folder = _folder("decoding")
    decoding.prepare(folder)
    (ratio,) = _beside(("decoding", "stock", str(folder)), [("decoding", "preln", str(folder))], FEW)
    share = decoding.identical(folder)
    yield _entry("decode-A", "stock fairseq, fp32, 1 thread", ratio, seconds_a_sentence=ratio.seconds, identical=share)


def of_preparation() -> Iterator[Entry]:
    """Preparing parallel text beside the field's scripts, and binarising it beside fairseq's program."""
    from benchmarks import preparation

    folder = _folder("preparation")
    preparation.prepare_folder(folder)
    (ratio,) = _beside(("preparation", "scripts", str(folder)), [("preparation", "preln", str(folder))], FEW, (1, 2))
    baseline = "sacremoses and subword-nmt, 1 process, beside 2 of ours"
    yield _entry("prepare", baseline, ratio, seconds=ratio.seconds * preparation.PAIRS, cores=2)
    preparation.prepare_pieces(folder)
    arguments = (str(folder), "binarise")
    (ratio,) = _beside(("preparation", "stock", *arguments), [("preparation", "preln", *arguments)], FEW, (2, 1))
    baseline = "fairseq's program, 2 processes, beside 1 of ours"
    yield _entry("prepare-binarise", baseline, ratio, seconds=ratio.seconds * preparation.PAIRS)


def of_processes() -> Iterator[Entry]:
    """Two trainings of one thread each, together, beside one training with two threads."""
    with (
        Side("training", "preln", "A", "fp32", threads=2) as together,
        Side("training", "preln", "A", "fp32") as first,
        Side("training", "preln", "A", "fp32") as second,
    ):
        speedups = []
        for _ in range(1 + ROUNDS):
            seconds = together.round()
            for side in (first, second):
                side.ask()
            speedups.append(seconds * (1 / first.answer() + 1 / second.answer()))
    ratio = Ratio(statistics.median(speedups[1:]), min(speedups[1:]), max(speedups[1:]), ROUNDS, seconds=math.nan)
    yield _entry("two-processes-A", "one process of two threads", ratio, cores=2)


def of_launches() -> Iterator[Entry]:
    """The launches and syncs on a GPU of an update, compared with stock fairseq, and of other computations.

    Raises:
        SystemExit: if a count is higher than the recorded one; nothing is recorded then.
    """
    from benchmarks import fake_gpu, launches

    library = fake_gpu.build(_folder("launches"))
    cases = launches.RECORDED
    stock = {name: replace(case, toolkit="stock") for name, case in cases.items() if case.part == "update"}
    outcomes = launches.outcomes([*cases.values(), *stock.values()], library)
    stock_outcomes = dict(zip(stock, outcomes[len(cases) :], strict=True))
    entries: list[Entry] = []
    for name, outcome in zip(cases, outcomes, strict=False):
        for quantity in ("launches", "syncs"):
            entry = {"name": f"{quantity}-{name}", "baseline": "none", "value": getattr(outcome, quantity)}
            if name in stock_outcomes:
                entry |= {"baseline": "stock fairseq", "stock": getattr(stock_outcomes[name], quantity)}
            entries.append(entry | record.origin(1))
    record.refuse_risen(entries)
    yield from entries


def of_studies() -> Iterator[Entry]:
    """The default study from an empty folder, as `make reproduce` runs it, and the sum over each rule's jobs, without
    those that prepare texts."""
    folder = _folder("study")
    shutil.rmtree(folder)
    folder.mkdir()
    files = ["--snakefile", str(ROOT / "Snakefile"), "--configfile", str(ROOT / "config" / "config.yaml")]
    begun = time.monotonic()
    subprocess.run(["snakemake", *files, "--directory", str(folder), "--cores", "2"], check=True)
    seconds = {"study-quick": time.monotonic() - begun}
    logs = folder / "logs" / "quick"
    jobs = pd.concat(
        # A rule of many jobs has a folder.
        pd.read_csv(path, sep="\t").assign(rule=path.relative_to(logs).parts[0].removesuffix(".tsv"))
        for path in logs.rglob("*.tsv")
    )
    rule_seconds = jobs.groupby("rule")["s"].sum()
    for name, duration in (seconds | rule_seconds.add_prefix("study-quick-").to_dict()).items():
        cores = 2 if name == "study-quick" else 1
        yield {"name": name, "baseline": "none", "seconds": round(duration, 1), **record.origin(cores)}


GROUPS: dict[str, Callable[[], Iterator[Entry]]] = {
    "train": of_training,
    "placements": of_placements,
    "language": of_language,
    "products": of_products,
    "decode": of_decoding,
    "prepare": of_preparation,
    "two-processes": of_processes,
    "study": of_studies,
    # The last one, for it ends the process if a count has risen.
    "launches": of_launches,
}


def main(wanted: list[str]) -> None:
    """Run the groups whose names begin with a prefix that is wanted; all, if none is given."""
    for name, run in GROUPS.items():
        if wanted and not name.startswith(tuple(wanted)):
            continue
        for entry in run():
            print(f"{entry['name']}: {_summary(entry)}", flush=True)
            record.put(entry)


def _steps(size: str, candidates: list[tuple[str, str]], threads: int, rounds: int) -> Iterator[Entry]:
    sides = [("training", toolkit, size, precision) for toolkit, precision in [("stock", "fp32"), *candidates]]
    results = _beside(sides[0], sides[1:], rounds, (threads, threads))
    for (toolkit, precision), ratio in zip(candidates, results, strict=True):
        name = f"train-{size}-{precision}" if toolkit == "preln" else f"train-{size}-{precision}-{toolkit}"
        name += "-2-threads" if threads == 2 else ""
        speed = 1 / ratio.seconds
        yield _entry(name, f"stock fairseq, fp32, {threads} thread(s)", ratio, tokens_per_second=speed, cores=threads)


def _beside(
    baseline: Sequence[str], candidates: Sequence[Sequence[str]], rounds: int, threads: tuple[int, int] = (1, 1)
) -> list[Ratio]:
    """Each candidate's speed relative to the baseline, with the threads of the baseline and of a candidate. A side is a
    module and the arguments of its `work`."""
    with ExitStack() as running:
        first = running.enter_context(Side(*baseline, threads=threads[0]))
        others = [running.enter_context(Side(*side, threads=threads[1])) for side in candidates]
        return ratios(first, others, rounds)


def _summary(entry: Entry) -> str:
    """An entry's ratio, its count with stock fairseq's, or its seconds."""
    if "ratio" in entry:
        return f"{entry['ratio']:.2f} ({entry['low']:.2f} to {entry['high']:.2f})"
    if "value" not in entry:
        return f"{entry['seconds']} s"
    return f"{entry['value']}" + (f" ({entry['baseline']}: {entry['stock']})" if "stock" in entry else "")


def _folder(name: str) -> Path:
    folder = ROOT / "resources" / "benchmarks" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _entry(name: str, baseline: str, ratio: Ratio, cores: int = 1, **more: float) -> Entry:
    values = {"ratio": ratio.median, "low": ratio.low, "high": ratio.high}
    rounded = {key: float(f"{value:.4g}") for key, value in (values | more).items()}
    return {"name": name, "baseline": baseline, **rounded, "n": ratio.n, **record.origin(cores)}


if __name__ == "__main__":
    main(sys.argv[1:])
