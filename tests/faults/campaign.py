"""The campaign: all faults and their outcomes."""

import itertools
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Annotated, Literal

import typer
from tqdm import tqdm

from tests.faults import faults, subjects
from tests.faults.faults import DAMAGES, FOREIGN
from tests.faults.jobs import Hung, copy
from tests.faults.scenes import NotHere, Scene, Workshop, Wrong
from tests.faults.subjects import KEPT_UPDATE, Subject

SEED = 1

Start = Literal["fresh", "half", "done"]
Verdict = Literal["equal", "refused in a line", "wrong", "not here"]


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


@dataclass(frozen=True)
class Outcome:
    """The outcome of a fault.

    Attributes:
        fault: the fault.
        verdict: `equal` if the records equal those of the undisturbed run; `refused in a line` if they do after a
            refusal's advice was followed; `wrong` for anything else, such as a traceback, other numbers, a process that
            hangs, or foreign code that is executed; `not here` if the fault could not be made.
        messages: the refusals, and the mistake.
    """

    fault: Fault
    verdict: Verdict
    messages: tuple[str, ...]


def suffer(fault: Fault, workshop: Workshop, seed: int) -> Outcome:
    """Let a fault strike, call the same commands again, and compare."""
    undisturbed = workshop.undisturbed(fault.subject)
    foreign_subject = ANOTHER.get(fault.subject.name) if fault.detail.startswith("another run's") else None
    folder = Path(tempfile.mkdtemp(prefix="fault-"))
    foreign = workshop.undisturbed(foreign_subject).done if foreign_subject else None
    scene = Scene(folder, fault.subject, undisturbed, Random(f"{seed} {fault}"), another=foreign)
    copy(getattr(undisturbed, fault.start), scene.workspace)
    try:
        try:
            fault.strike(scene)
            scene.settle()
        finally:
            scene.close()
    except Wrong as wrong:
        return Outcome(fault, "wrong", (*scene.refusals, str(wrong)))
    except Hung:
        return Outcome(fault, "wrong", (*scene.refusals, "it hangs"))
    except NotHere as reason:
        return Outcome(fault, "not here", (str(reason),))
    return Outcome(fault, "refused in a line" if scene.refusals else "equal", tuple(scene.refusals))


ANOTHER = {
    **dict.fromkeys((subjects.TRANSLATION.name, subjects.THEORY.name), subjects.ANOTHER),
    **dict.fromkeys((subjects.BERT.name, subjects.FINETUNING.name), subjects.ANOTHER_BERT),
}
"""The subject whose weights are foreign to another's."""


# The plan


def plan() -> list[Fault]:
    """All faults."""
    return [
        *_of_training(subjects.TRANSLATION, kills=16, as_files_appear=10, several=5, stops=6),
        *_damaged_state(subjects.TRANSLATION, ("record.jsonl", "attempts.jsonl", CHECKPOINTS), "half", "done"),
        *_damaged_state(subjects.TRANSLATION, ("owner.json", "lock"), "half"),
        *_damaged_state(subjects.TRANSLATION, ("translations/*",), "half"),
        *_foreign_record(subjects.TRANSLATION),
        *_in_the_way(subjects.TRANSLATION),
        *_foreign(subjects.TRANSLATION, f"{subjects.TRANSLATION.state}/{CHECKPOINTS}", "half"),
        *_damages(
            subjects.TRANSLATION,
            "damaged text",
            ("corpus/binary/*.*", "corpus/text/[!t]*", "corpus/text/test.*"),
            "half",
        ),
        *_damages(subjects.TRANSLATION, "damaged text", ("corpus/binary/train*.bin", "corpus/bpe/bpe.model"), "fresh"),
        *_of_training(subjects.BF16, kills=10, as_files_appear=4, several=4, stops=4),
        *_damaged_state(subjects.BF16, ("record.jsonl", CHECKPOINTS), "half"),
        *_some(subjects.DIVERGING, "killed", 3, faults.killed),
        *_damaged_state(subjects.DIVERGING, ("diverged.json",), "done"),
        *_of_training(subjects.BERT, kills=10, as_files_appear=5, several=4, stops=4),
        *_damaged_state(subjects.BERT, ("record.jsonl", CHECKPOINTS), "half"),
        *_damaged_state(subjects.BERT, ("record.jsonl",), "done"),
        *_foreign_record(subjects.BERT),
        *_foreign(subjects.BERT, f"{subjects.BERT.state}/{CHECKPOINTS}", "half"),
        *_damages(subjects.BERT, "damaged text", ("english/binary/*.*",), "half"),
        *_of_training(subjects.BERT_BF16, kills=6, as_files_appear=2, several=3, stops=3),
        *_damaged_state(subjects.BERT_BF16, (CHECKPOINTS,), "half"),
        *_of_others(subjects.FINETUNING, kills=5, disks=2),
        *_damaged_state(subjects.FINETUNING, ("record.jsonl",), "half", "done"),
        *_damages(subjects.FINETUNING, "damaged weights", (KEPT_OF_BERT,), "fresh"),
        *_foreign(subjects.FINETUNING, KEPT_OF_BERT, "fresh"),
        *_damages(subjects.FINETUNING, "damaged text", ("task/binary/*/*.*",), "half"),
        *_of_others(subjects.THEORY, kills=5, disks=2),
        *_damages(subjects.THEORY, "damaged weights", (KEPT_OF_TRANSLATION,), "fresh"),
        *_foreign(subjects.THEORY, KEPT_OF_TRANSLATION, "fresh"),
        *_damages(subjects.THEORY, "damaged text", ("corpus/binary/train*.*",), "fresh"),
        *_of_others(subjects.TEXT_OF_CORPUS, kills=4),
        *_of_others(subjects.PIECES, kills=3),
        *_damages(subjects.PIECES, "damaged text", ("corpus/text/*",), "fresh"),
        *_of_others(subjects.BINARISED, kills=3),
        *_damages(subjects.BINARISED, "damaged text", ("corpus/bpe/*.*",), "fresh"),
        *_of_others(subjects.ENGLISH, kills=3),
        *_of_others(subjects.ENGLISH_PIECES, kills=2),
        *_damages(subjects.ENGLISH_PIECES, "damaged text", ("english/text/*",), "fresh"),
        *_of_others(subjects.ENGLISH_BINARISED, kills=2),
        *_of_others(subjects.TASK_PIECES, kills=2),
        *_of_others(subjects.TASK_BINARISED, kills=1),
        *_damages(subjects.RECORDS, "damaged records", subjects.TRANSLATION.step.outputs, "fresh"),
        *_damages(subjects.BERT_RECORDS, "damaged records", subjects.BERT.step.outputs, "fresh"),
    ]


CHECKPOINTS = "checkpoints/checkpoint*[0-9].pt"
NOT_NEEDED = ("stopped.json", "assignment.json", "diverged.json")
"""Files that a training may leave in its state, and that its next attempt does not need."""
KEPT_OF_TRANSLATION = f"{subjects.TRANSLATION.state}/after-warm-up.pt"
KEPT_OF_BERT = f"{subjects.BERT.state}/weights-{KEPT_UPDATE}.pt"


def _of_training(subject: Subject, kills: int, as_files_appear: int, several: int, stops: int) -> Iterator[Fault]:
    """A training is interrupted, so often in each way; is called twice; cannot write; finds a killed one's files."""
    yield from _some(subject, "killed", kills, faults.killed)
    yield from _some(subject, "killed as a file appears", as_files_appear, faults.killed_as_a_file_appears)
    yield from _some(subject, "killed several times", several, faults.killed_several_times)
    yield from _some(subject, "asked to stop", stops, faults.asked_to_stop)
    yield from _some(subject, "called twice", 2, faults.called_twice)
    yield from _some(subject, "full disk", 3, faults.full_disk)
    yield from _some(subject, "read-only folder", 1, faults.read_only)
    yield from _some(subject, "leftovers", 1, faults.leftovers)
    yield from _some(subject, "leftovers", 1, faults.leftovers, "half")


def _of_others(subject: Subject, kills: int, disks: int = 1) -> Iterator[Fault]:
    """A command without checkpoints is interrupted, cannot write, and finds a killed one's files."""
    yield from _some(subject, "killed", kills, faults.killed)
    yield from _some(subject, "asked to stop", 1, faults.asked_to_stop)
    yield from _some(subject, "full disk", disks, faults.full_disk)
    yield from _some(subject, "read-only folder", 1, faults.read_only)
    yield from _some(subject, "leftovers", 1, faults.leftovers)


def _some(
    subject: Subject, kind: str, number: int, strike: Callable[[Scene], None], start: Start = "fresh"
) -> Iterator[Fault]:
    for i in range(1, number + 1):
        yield Fault(subject, kind, f"{start}, {i}", start, strike)


def _damages(subject: Subject, kind: str, patterns: Iterable[str], *starts: Start) -> Iterator[Fault]:
    """Each damage to a file of each pattern, at each start."""
    for pattern, damage, start in itertools.product(patterns, DAMAGES, starts):
        strike = partial(faults.damaged, pattern=pattern, damage=damage)
        yield Fault(subject, kind, f"{_short(pattern)}, {damage}, {start}", start, strike)


def _damaged_state(subject: Subject, names: Iterable[str], *starts: Start) -> Iterator[Fault]:
    """Each damage to files of the state; and one to every checkpoint."""
    yield from _damages(subject, "damaged state", (f"{subject.state}/{name}" for name in names), *starts)
    if CHECKPOINTS in names:
        strike = partial(faults.damaged, pattern=f"{subject.state}/{CHECKPOINTS}", damage="a flipped bit", every=True)
        yield Fault(subject, "damaged state", "every checkpoint, a flipped bit, half", "half", strike)


def _in_the_way(subject: Subject) -> Iterator[Fault]:
    for name in NOT_NEEDED:
        yield Fault(subject, "damaged state", f"{name}, half", "half", partial(faults.in_the_way, name=name))


def _foreign(subject: Subject, pattern: str, start: Start) -> Iterator[Fault]:
    for content in FOREIGN:
        strike = partial(faults.foreign, pattern=pattern, content=content)
        yield Fault(subject, "foreign weights", f"{content}, {_short(pattern)}", start, strike)


def _foreign_record(subject: Subject) -> Iterator[Fault]:
    starts: tuple[Start, ...] = ("half", "done")
    for start in starts:
        yield Fault(subject, "foreign record", f"another run's, {start}", start, faults.another_record)


def _short(pattern: str) -> str:
    """A pattern without the folder of the run or of the state."""
    return pattern.split("/state/*/")[-1].removeprefix(str(Path(pattern).parent) + "/" if "results" in pattern else "")


def sample(number: int, seed: int, allowed: Callable[[Fault], bool]) -> list[Fault]:
    """So many of the allowed faults, from as many subjects and kinds as possible."""
    chosen: list[Fault] = []
    remaining = [fault for fault in plan() if allowed(fault)]
    Random(seed).shuffle(remaining)
    while remaining and len(chosen) < number:
        counts = Counter(key for fault in chosen for key in (fault.subject.name, fault.kind))
        chosen.append(min(remaining, key=lambda fault: counts[fault.subject.name] + counts[fault.kind]))
        remaining.remove(chosen[-1])
    return chosen


# The campaign


def campaign(
    seed: Annotated[int, typer.Option(help="Seed of the random choices.")] = SEED,
    only: Annotated[str, typer.Option(help="Only faults whose name contains this.")] = "",
    jobs: Annotated[int, typer.Option(min=1, help="Faults at a time, with a core each.")] = 2,
) -> None:
    """Let every fault strike, and count the outcomes; fails if one is wrong."""
    wanted = [fault for fault in plan() if only in str(fault)]
    counts: Counter[str] = Counter()
    folder = Path(tempfile.mkdtemp(prefix="undisturbed-"))
    try:
        workshop = Workshop(folder)
        for fault in tqdm(wanted, desc="undisturbed", unit=" subjects"):
            workshop.undisturbed(fault.subject)
            if another := ANOTHER.get(fault.subject.name):
                workshop.undisturbed(another)
        with ThreadPoolExecutor(jobs) as pool, tqdm(total=len(wanted), desc="faults", smoothing=0.05) as progress:
            for future in as_completed(pool.submit(suffer, fault, workshop, seed) for fault in wanted):
                outcome = future.result()
                counts[outcome.verdict] += 1
                if outcome.verdict in ("wrong", "not here"):
                    progress.write(f"{outcome.verdict}: {outcome.fault}: {outcome.messages[-1]}")
                progress.update()
    finally:
        shutil.rmtree(folder)
    print(f"{len(wanted)} faults, seed {seed}: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    if counts["wrong"]:
        raise typer.Exit(1)
