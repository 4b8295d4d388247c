"""The campaign: all faults and their outcomes."""

import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Annotated, Literal

import typer
from tqdm import tqdm

from tests.faults import faults, subjects
from tests.faults.faults import ANOTHER_RUNS, DAMAGES, FOREIGN
from tests.faults.jobs import Wrong
from tests.faults.scenes import NotHere, Scene, Workshop, copy
from tests.faults.subjects import KEPT_UPDATE, Subject

SEED = 1

Start = Literal["fresh", "half", "done"]


@dataclass(frozen=True)
class Fault:
    """A fault: the subject, what happens to it, and how far the subject has come by then."""

    subject: Subject
    kind: str
    detail: str
    start: Start
    strike: Callable[[Scene], None]

    def __str__(self) -> str:
        return f"{self.subject.name} / {self.kind} / {self.detail}"

    @property
    def another(self) -> Subject | None:
        """The subject whose files take the place of the subject's own; None if none do."""
        return subjects.ANOTHER_OF[self.subject] if ANOTHER_RUNS in str(self) else None


def suffer(fault: Fault, workshop: Workshop, seed: int) -> list[str]:
    """Let a fault strike, call the same commands again, and require the records of the undisturbed run; returns the
    refusals in a line whose advice was followed."""
    undisturbed = workshop.undisturbed(fault.subject)
    another = workshop.undisturbed(fault.another).done if fault.another else None
    folder = Path(tempfile.mkdtemp(prefix="fault-"))
    scene = Scene(folder, fault.subject, undisturbed, Random(f"{seed} {fault}"), another)
    copy(getattr(undisturbed, fault.start), scene.workspace)
    try:
        fault.strike(scene)
        scene.settle()
    finally:
        scene.close()
    return scene.refusals


# The plan

CHECKPOINTS = "checkpoints/checkpoint*[0-9].pt"
KEPT_OF_TRANSLATION = f"{subjects.TRANSLATION.state}/after-warm-up.pt"
KEPT_OF_BERT = f"{subjects.BERT.state}/weights-{KEPT_UPDATE}.pt"


def plan() -> Iterator[Fault]:
    for subject in (subjects.TRANSLATION, subjects.BERT):
        yield from _of_command(subject, kills=10, stops=3, disks=3)
        yield from _some(subject, "killed as a file appears", 8, faults.killed_as_a_file_appears)
        yield from _some(subject, "called twice", 2, faults.called_twice)
        yield from _some(subject, "leftovers", 1, faults.leftovers, ("half",))
        yield from _some(subject, f"{ANOTHER_RUNS} record", 1, faults.another_record, ("half", "done"))
        yield from _foreign(subject, f"{subject.state}/{CHECKPOINTS}", "half")
        yield from _damaged_state(subject, ("record.jsonl",), "half", "done")
    # Their states hold masters of the weights too; whatever else happens to them does not depend on the precision.
    for subject in (subjects.BF16, subjects.BERT_BF16):
        yield from _some(subject, "killed", 5, faults.killed)
        yield from _some(subject, "asked to stop", 2, faults.asked_to_stop)
    for subject in (subjects.TRANSLATION, subjects.BF16, subjects.BERT, subjects.BERT_BF16):
        yield from _damaged_state(subject, (CHECKPOINTS,), "half")
        every = partial(faults.damaged, pattern=f"{subject.state}/{CHECKPOINTS}", damage="a flipped bit", every=True)
        yield Fault(subject, "damaged state", "every checkpoint, a flipped bit, half", "half", every)
    yield from _damaged_state(subjects.TRANSLATION, ("attempts.jsonl", CHECKPOINTS), "done")
    files = ("attempts.jsonl", "owner.json", "lock", "stopped.json", "translations/*")
    yield from _damaged_state(subjects.TRANSLATION, files, "half")
    yield from _some(subjects.DIVERGING, "killed", 3, faults.killed)
    yield from _damaged_state(subjects.DIVERGING, ("diverged.json",), "done")
    for subject in (subjects.FINETUNING, subjects.THEORY):
        yield from _of_command(subject, kills=3, disks=2)
    yield from _damaged_state(subjects.FINETUNING, ("record.jsonl",), "half", "done")
    for subject, weights in ((subjects.FINETUNING, KEPT_OF_BERT), (subjects.THEORY, KEPT_OF_TRANSLATION)):
        yield from _damages(subject, "damaged weights", (weights,), "fresh")
        yield from _foreign(subject, weights, "fresh")
    for subject in subjects.STAGES:
        yield from _of_command(subject)
    text = ("corpus/binary/*.*", "corpus/bpe/bpe.model", "corpus/text/[!t]*", "corpus/text/test.*")
    yield from _damages(subjects.TRANSLATION, "damaged text", text, "half")
    yield from _damages(subjects.BERT, "damaged text", ("english/binary/*.*",), "half")
    yield from _damages(subjects.FINETUNING, "damaged text", ("task/binary/*/*.*",), "half")
    yield from _damages(subjects.THEORY, "damaged text", ("corpus/binary/train*.*",), "fresh")
    yield from _damages(subjects.PIECES, "damaged text", ("corpus/text/*",), "fresh")
    yield from _damages(subjects.BINARISED, "damaged text", ("corpus/bpe/*.*",), "fresh")
    yield from _damages(subjects.ENGLISH_PIECES, "damaged text", ("english/text/*",), "fresh")
    yield from _damages(subjects.RECORDS, "damaged records", subjects.TRANSLATION.step.outputs, "fresh")
    yield from _damages(subjects.BERT_RECORDS, "damaged records", subjects.BERT.step.outputs, "fresh")


def _of_command(subject: Subject, kills: int = 2, stops: int = 1, disks: int = 1) -> Iterator[Fault]:
    """A command is interrupted, cannot write, and finds a killed one's files."""
    yield from _some(subject, "killed", kills, faults.killed)
    yield from _some(subject, "asked to stop", stops, faults.asked_to_stop)
    yield from _some(subject, "full disk", disks, faults.full_disk)
    yield from _some(subject, "read-only folder", 1, faults.read_only)
    yield from _some(subject, "leftovers", 1, faults.leftovers)


def _some(
    subject: Subject, kind: str, number: int, strike: Callable[[Scene], None], starts: Sequence[Start] = ("fresh",)
) -> Iterator[Fault]:
    for start, i in itertools.product(starts, range(1, number + 1)):
        yield Fault(subject, kind, f"{start}, {i}", start, strike)


def _damages(subject: Subject, kind: str, patterns: Sequence[str], *starts: Start) -> Iterator[Fault]:
    """Each damage to a file of each pattern, at each start."""
    for pattern, damage, start in itertools.product(patterns, DAMAGES, starts):
        strike = partial(faults.damaged, pattern=pattern, damage=damage)
        yield Fault(subject, kind, f"{_short(pattern)}, {damage}, {start}", start, strike)


def _damaged_state(subject: Subject, names: Sequence[str], *starts: Start) -> Iterator[Fault]:
    yield from _damages(subject, "damaged state", [f"{subject.state}/{name}" for name in names], *starts)


def _foreign(subject: Subject, pattern: str, start: Start) -> Iterator[Fault]:
    for content in (ANOTHER_RUNS, *FOREIGN):
        strike = partial(faults.foreign, pattern=pattern, content=content)
        yield Fault(subject, "foreign weights", f"{content}, {_short(pattern)}", start, strike)


def _short(pattern: str) -> str:
    """A pattern's folder and file."""
    return "/".join(Path(pattern).parts[-2:])


# The campaign


def campaign(
    seed: Annotated[int, typer.Option(help="Seed of the random choices.")] = SEED,
    only: Annotated[str, typer.Option(help="Only faults whose name contains this.")] = "",
    jobs: Annotated[int, typer.Option(min=1, help="Faults at a time, with a core each.")] = 2,
) -> None:
    """Let every fault strike, and count the outcomes; fails if one is wrong."""
    wanted = [fault for fault in plan() if only in str(fault)]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="undisturbed-") as folder, ThreadPoolExecutor(jobs) as pool:
        workshop = Workshop(Path(folder))
        needed = dict.fromkeys(subject for fault in wanted for subject in (fault.subject, fault.another) if subject)
        for subject in tqdm(needed, desc="undisturbed", unit=" subjects"):
            workshop.undisturbed(subject)
        struck = {pool.submit(suffer, fault, workshop, seed): fault for fault in wanted}
        for outcome in tqdm(as_completed(struck), total=len(struck), desc="faults", smoothing=0.05):
            try:
                verdict = "refused in a line" if outcome.result() else "equal"
            except (Wrong, NotHere) as error:
                verdict = "wrong" if isinstance(error, Wrong) else "not here"
                tqdm.write(f"{verdict}: {struck[outcome]}: {error}")
            counts[verdict] += 1
    print(f"{len(wanted)} faults, seed {seed}: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    if counts["wrong"]:
        raise typer.Exit(1)
