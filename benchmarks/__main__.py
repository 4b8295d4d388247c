"""Run the benchmarks: `python -m benchmarks [NAME ...]` runs all, or those whose names begin as one that is given.

What they come to is printed, and takes the place of what benchmarks/record.json has under the same names, of the same
processor.
"""

from __future__ import annotations

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

from benchmarks import growth, record
from benchmarks.interleaved import ROOT, Ratio, Side, ratios
from benchmarks.record import Entry
from preln import config
from preln.config import Execution
from preln.jobs.runs import expand
from preln.jobs.workflow import corpus_folder
from preln.records.provenance import commit, hardware
from preln.report.core.records import hardware_line

ROUNDS = 7
FEW = 3
"""Rounds of what takes minutes."""
SIDES = 5
"""Placements that are timed beside Post-LN at once, for each has a process with a model in memory."""


def of_training() -> Iterator[Entry]:
    """Training steps beside fairseq as it comes and other toolkits."""
    for threads in (1, 2):
        for size, rounds in (("A", ROUNDS), ("B", FEW)):
            others = [("preln", "fp32"), ("preln", "bf16"), ("stock", "bf16")]
            if size == "A" or threads == 2:
                others += [(kit, "fp32") for kit in ("transformers-marian", "torch.nn.Transformer", "joeynmt")]
            yield from _steps(size, others, threads, rounds)
        masked = [("preln", "fp32"), ("preln", "bf16"), ("stock", "bf16"), ("transformers-bert", "fp32")]
        yield from _steps("bert", masked, threads, ROUNDS)


def of_placements() -> Iterator[Entry]:
    """Training steps with each placement and option, beside Post-LN."""
    from benchmarks import placements

    models = list(placements.models())
    for few in (models[start : start + SIDES] for start in range(0, len(models), SIDES)):
        found = _beside(("placements", "post"), [("placements", *model) for model in few], ROUNDS)
        for model, ratio in zip(few, found, strict=True):
            speed = 1 / ratio.seconds
            yield _entry(f"placement-{'-'.join(model)}", "Post-LN, fp32, 1 thread", ratio, tokens_per_second=speed)


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
    with Side("decoding", "stock", str(folder)) as theirs, Side("decoding", "preln", str(folder)) as ours:
        (ratio,) = ratios(theirs, [ours], FEW)
    share = decoding.identical(folder)
    yield _entry("decode-A", "stock fairseq, fp32, 1 thread", ratio, seconds_a_sentence=ratio.seconds, identical=share)


def of_preparation() -> Iterator[Entry]:
    """Preparing parallel text beside the field's scripts, and binarising it beside fairseq's program."""
    from benchmarks import preparation

    folder = _folder("preparation")
    preparation.prepare_folder(folder)
    with (
        Side("preparation", "scripts", str(folder)) as theirs,
        Side("preparation", "preln", str(folder), threads=2) as ours,
    ):
        (ratio,) = ratios(theirs, [ours], FEW)
    baseline = "sacremoses and subword-nmt, 1 process, beside 2 of ours"
    yield _entry("prepare", baseline, ratio, seconds=ratio.seconds * preparation.PAIRS, cores=2)
    preparation.prepare_pieces(folder)
    arguments = (str(folder), "binarise")
    with (
        Side("preparation", "stock", *arguments, threads=2) as theirs,
        Side("preparation", "preln", *arguments) as ours,
    ):
        (ratio,) = ratios(theirs, [ours], FEW)
    baseline = "fairseq's program, 2 processes, beside 1 of ours"
    yield _entry("prepare-binarise", baseline, ratio, seconds=ratio.seconds * preparation.PAIRS)


def of_processes() -> Iterator[Entry]:
    """Two trainings of one thread each, together, beside one training with two threads."""
    with (
        Side("training", "preln", "A", "fp32", threads=2) as together,
        Side("training", "preln", "A", "fp32") as first,
        Side("training", "preln", "A", "fp32") as second,
    ):
        found = []
        for _ in range(1 + ROUNDS):
            of_one = together.round()
            for side in (first, second):
                side.ask()
            found.append(of_one * (1 / first.answer() + 1 / second.answer()))
    ratio = Ratio(statistics.median(found[1:]), min(found[1:]), max(found[1:]), ROUNDS, seconds=math.nan)
    yield _entry("two-processes-A", "one process of two threads", ratio, cores=2)


def of_growth() -> Iterator[Entry]:
    """How the cost grows: the exponent of a power law, fitted."""
    for name, found in growth.exponents(FEW):
        yield {"name": f"growth-{name}", "baseline": "the smallest", **found, **_provenance(1)}


def of_launches() -> Iterator[Entry]:
    """What an update asks of a GPU, beside fairseq as it comes; and what else is computed there.

    Raises:
        record.Risen: if a count is higher than the recorded one; nothing is recorded then.
    """
    from benchmarks import fake_gpu, launches

    library = fake_gpu.build(_folder("launches"))
    cases = launches.RECORDED
    stock = {name: replace(case, toolkit="stock") for name, case in cases.items() if case.part in launches.OF_FAIRSEQ}
    found = launches.outcomes([*cases.values(), *stock.values()], library)
    theirs = dict(zip(stock, found[len(cases) :], strict=True))
    entries: list[Entry] = []
    for name, ours in zip(cases, found, strict=False):
        for what in ("launches", "syncs"):
            entry = {"name": f"{what}-{name}", "baseline": "none", "value": getattr(ours, what)}
            if name in theirs:
                entry |= {"baseline": "stock fairseq", "stock": getattr(theirs[name], what)}
            entries.append(entry | _provenance(1))
    record.refuse_risen(entries)
    yield from entries


def of_shapes() -> Iterator[Entry]:
    """What batches of a few shapes would cost, on IWSLT14's third, where it is prepared."""
    from benchmarks import shapes

    study = config.load(ROOT / "config" / "iwslt14-50k.yaml")
    folder = ROOT / corpus_folder(expand(study)[0]) / "binary"
    if not folder.exists():
        how = "`snakemake prepared --cores all --configfile config/iwslt14-50k.yaml` makes it"
        print(f"shapes: left out, for there is no {folder}; {how}", flush=True)
        return
    for name, found in shapes.counts(shapes.text(folder, ("de", "en"))):
        yield {"name": name, "baseline": "fairseq's batches", **found, **_provenance(1)}


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
    of_rules = jobs.groupby("rule")["s"].sum()
    for name, taken in (seconds | of_rules.add_prefix("study-quick-").to_dict()).items():
        yield {
            "name": name,
            "baseline": "none",
            "seconds": round(taken, 1),
            **_provenance(2 if name == "study-quick" else 1),
        }


GROUPS: dict[str, Callable[[], Iterator[Entry]]] = {
    "train": of_training,
    "placements": of_placements,
    "products": of_products,
    "decode": of_decoding,
    "prepare": of_preparation,
    "two-processes": of_processes,
    "growth": of_growth,
    "launches": of_launches,
    "shapes": of_shapes,
    "study": of_studies,
}


def main(wanted: list[str]) -> None:
    """Run the groups that are wanted.

    Raises:
        SystemExit: after the last group, if counts have risen.
    """
    refused = []
    for name, run in GROUPS.items():
        if wanted and not any(name.startswith(each) for each in wanted):
            continue
        try:
            for entry in run():
                print(f"{entry['name']}: {_told(entry)}", flush=True)
                record.put(entry)
        except record.Risen as error:
            refused.append(str(error))
    if refused:
        sys.exit("; ".join(refused))


def _steps(size: str, others: list[tuple[str, str]], threads: int, rounds: int) -> Iterator[Entry]:
    baseline, *sides = (("training", toolkit, size, precision) for toolkit, precision in [("stock", "fp32"), *others])
    found = _beside(baseline, sides, rounds, threads)
    for (toolkit, precision), ratio in zip(others, found, strict=True):
        name = f"train-{size}-{precision}" if toolkit == "preln" else f"train-{size}-{precision}-{toolkit}"
        name += "-2-threads" if threads == 2 else ""
        speed = 1 / ratio.seconds
        yield _entry(name, f"stock fairseq, fp32, {threads} thread(s)", ratio, tokens_per_second=speed, cores=threads)


def _beside(baseline: Sequence[str], others: Sequence[Sequence[str]], rounds: int, threads: int = 1) -> list[Ratio]:
    """Each of the others beside the baseline. A side is a module and the arguments of its `work`."""
    with ExitStack() as running:
        first, *sides = (running.enter_context(Side(*one, threads=threads)) for one in [baseline, *others])
        return ratios(first, sides, rounds)


def _told(entry: Entry) -> str:
    """What an entry says: a ratio, a count beside stock fairseq's, or seconds."""
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
    found = {"ratio": ratio.median, "low": ratio.low, "high": ratio.high}
    rounded = {key: float(f"{value:.4g}") for key, value in (found | more).items()}
    return {"name": name, "baseline": baseline, **rounded, "n": ratio.n, **_provenance(cores)}


def _provenance(cores: int) -> Entry:
    on = hardware(Execution(cpus=cores))
    return {"hardware": hardware_line(on), "processor": record.processor(on), "commit": commit()["commit"]}


if __name__ == "__main__":
    main(sys.argv[1:])
