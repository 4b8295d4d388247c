"""The campaign: all faults, their outcomes, and a table."""

from __future__ import annotations

import datetime
import itertools
import shutil
import tempfile
import time
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

from preln.config import Execution
from preln.records.files import write_text
from preln.records.provenance import commit, hardware
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
    """A fault: how it strikes a subject, and how far the subject has come by then."""

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
        verdict: whether the records equal those of the undisturbed run, and whether a refusal had to be followed.
        after_the_end: whether the fault came after the command's end.
        messages: the lines by which the commands refused to continue, and the mistake.
    """

    fault: Fault
    verdict: Verdict
    after_the_end: bool
    messages: tuple[str, ...]


def suffer(fault: Fault, workshop: Workshop, seed: int) -> Outcome:
    """Let a fault strike, call the same commands again, and compare."""
    undisturbed = workshop.undisturbed(fault.subject)
    foreign_subject = ANOTHER.get(fault.subject.name) if fault.detail.startswith("another run's") else None
    folder = Path(tempfile.mkdtemp(prefix="fault-"))
    foreign = workshop.undisturbed(foreign_subject).done if foreign_subject else None
    scene = Scene(folder, fault.subject, undisturbed, Random(f"{seed} {fault}"), another=foreign)
    copy(getattr(undisturbed, fault.start), scene.workspace)
    verdict: Verdict = "equal"
    messages: list[str] = []
    try:
        try:
            fault.strike(scene)
            scene.settle()
        finally:
            scene.close()
        verdict = "refused in a line" if scene.refusals else "equal"
    except Wrong as wrong:
        verdict, messages = "wrong", [str(wrong)]
    except Hung:
        verdict, messages = "wrong", ["it hangs"]
    except NotHere as reason:
        verdict, messages = "not here", [str(reason)]
    return Outcome(fault, verdict, scene.after_the_end, (*scene.refusals, *messages))


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
        *_in_the_way(subjects.TRANSLATION),
        *_foreign_checkpoints(subjects.TRANSLATION),
        # Of the text it reads the record and the references; what it learns from is binary/.
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
        *_foreign_checkpoints(subjects.BERT),
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
        *_some(subjects.COMMAND_LINE, "killed", 4, faults.killed),
        *_some(subjects.COMMAND_LINE, "told to stop", 2, faults.told_to_stop),
        *_some(subjects.WORKFLOW, "killed", 3, faults.killed),
        *_some(subjects.WORKFLOW, "killed as a file appears", 2, faults.killed_as_a_file_appears),
    ]


CHECKPOINTS = "checkpoints/checkpoint*[0-9].pt"
NOT_NEEDED = ("stopped.json", "assignment.json", "diverged.json")
"""Files that a training may leave in its state, and that its next attempt can do without."""
KEPT_OF_TRANSLATION = f"{subjects.TRANSLATION.state}/after-warm-up.pt"
KEPT_OF_BERT = f"{subjects.BERT.state}/weights-{KEPT_UPDATE}.pt"


def _of_training(subject: Subject, kills: int, as_files_appear: int, several: int, stops: int) -> Iterator[Fault]:
    """A training is interrupted, so often in each way; is called twice; cannot write; finds what another has left."""
    yield from _some(subject, "killed", kills, faults.killed)
    yield from _some(subject, "killed as a file appears", as_files_appear, faults.killed_as_a_file_appears)
    yield from _some(subject, "killed several times", several, faults.killed_several_times)
    yield from _some(subject, "told to stop", stops, faults.told_to_stop)
    yield from _some(subject, "called twice", 2, faults.called_twice)
    yield from _some(subject, "full disk", 3, faults.full_disk)
    yield from _some(subject, "read-only folder", 1, faults.read_only)
    yield from _some(subject, "leftovers", 1, faults.leftovers)
    yield from _some(subject, "leftovers", 1, faults.leftovers, "half")


def _of_others(subject: Subject, kills: int, disks: int = 1) -> Iterator[Fault]:
    """A command that is not told to save is interrupted, cannot write, and finds what another has left."""
    yield from _some(subject, "killed", kills, faults.killed)
    yield from _some(subject, "told to stop", 1, faults.told_to_stop)
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
    for name, damage in itertools.product(NOT_NEEDED, DAMAGES):
        if damage != "deleted":
            strike = partial(faults.in_the_way, name=name, damage=damage)
            yield Fault(subject, "damaged state", f"{name}, {damage}, half", "half", strike)


def _foreign_checkpoints(subject: Subject) -> Iterator[Fault]:
    """The newest checkpoint is foreign; or the only one is, by the name that fairseq looks for."""
    pattern = f"{subject.state}/{CHECKPOINTS}"
    yield from _foreign(subject, pattern, "half")
    for content in FOREIGN:
        strike = partial(faults.foreign, pattern=pattern, content=content, alone_as="checkpoint_last.pt")
        yield Fault(subject, "foreign weights", f"{content}, checkpoint_last.pt", "half", strike)


def _foreign(subject: Subject, pattern: str, start: Start) -> Iterator[Fault]:
    for content in FOREIGN:
        strike = partial(faults.foreign, pattern=pattern, content=content)
        yield Fault(subject, "foreign weights", f"{content}, {_short(pattern)}", start, strike)


def _short(pattern: str) -> str:
    """A pattern without the folder of the run or of the state."""
    return pattern.split("/state/*/")[-1].removeprefix(str(Path(pattern).parent) + "/" if "results" in pattern else "")


def sample(number: int, seed: int, allowed: Callable[[Fault], bool] = lambda fault: True) -> list[Fault]:
    """So many of the faults, of as many subjects and kinds as there are."""
    chosen: list[Fault] = []
    remaining = [fault for fault in plan() if allowed(fault)]
    Random(seed).shuffle(remaining)
    while remaining and len(chosen) < number:
        had = Counter(key for fault in chosen for key in (fault.subject.name, fault.kind))
        chosen.append(min(remaining, key=lambda fault: had[fault.subject.name] + had[fault.kind]))
        remaining.remove(chosen[-1])
    return chosen


# The campaign


def campaign(
    seed: Annotated[int, typer.Option(help="Of all that is drawn.")] = SEED,
    only: Annotated[str, typer.Option(help="The faults whose name contains this.")] = "",
    number: Annotated[int, typer.Option(min=0, help="So many of them, of all kinds; 0 takes all.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Faults at a time, a core each.")] = 2,
    out: Annotated[Path | None, typer.Option(help="A Markdown file for the table.")] = None,
) -> None:
    """Let every fault strike, and say what became of it; fails if anything is wrong."""

    def chosen(fault: Fault) -> bool:
        return only in str(fault)

    wanted = sample(number or len(plan()), seed, chosen)
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="undisturbed-"))
    try:
        workshop = Workshop(folder)
        for subject in tqdm(_needed(wanted), desc="undisturbed", unit=" subjects"):
            workshop.undisturbed(subject)
        outcomes = list(_suffered(wanted, workshop, seed, jobs))
    finally:
        shutil.rmtree(folder)
    text = report(outcomes, seed, time.monotonic() - started)
    print(text)
    if out:
        write_text(out, text)
    if any(outcome.verdict == "wrong" for outcome in outcomes):
        raise typer.Exit(1)


def _needed(wanted: Iterable[Fault]) -> list[Subject]:
    """The subjects of faults, and those that are foreign to them."""
    needed = [fault.subject for fault in wanted]
    return list(dict.fromkeys([*needed, *(ANOTHER[subject.name] for subject in needed if subject.name in ANOTHER)]))


def _suffered(wanted: list[Fault], workshop: Workshop, seed: int, jobs: int) -> Iterator[Outcome]:
    """The outcomes of faults, of which so many strike at a time; what is wrong is said at once."""
    wrong = 0
    with ThreadPoolExecutor(jobs) as pool, tqdm(total=len(wanted), desc="faults", unit="", smoothing=0.05) as progress:
        futures = [pool.submit(suffer, fault, workshop, seed) for fault in wanted]
        for future in as_completed(futures):
            outcome = future.result()
            if outcome.verdict == "wrong":
                wrong += 1
                progress.write(f"{outcome.fault}: {outcome.messages[-1]}")
            progress.set_postfix(wrong=wrong)
            progress.update()
            yield outcome


COLUMNS: tuple[Verdict, ...] = ("equal", "refused in a line", "wrong", "not here")


def report(outcomes: list[Outcome], seed: int, seconds: float) -> str:
    """The campaign's result in Markdown: how many faults of each kind ended how, and what is wrong."""
    code, machine = commit(), hardware(Execution())
    changed = ", with changes" if code["commit_changed"] else ""
    order = {(fault.subject.name, fault.kind): None for fault in plan()}
    rows = []
    for subject, kind in order:
        of_kind = [o for o in outcomes if (o.fault.subject.name, o.fault.kind) == (subject, kind)]
        if of_kind:
            rows.append(_row(subject, kind, of_kind))
    total = _row("all", "", outcomes)
    lines = [
        "# Faults",
        "",
        _INTRODUCTION,
        "",
        f"{len(outcomes)} faults, seed {seed}, in {seconds / 60:.0f} minutes; commit {code['commit']}{changed}; "
        f"{datetime.datetime.now(datetime.UTC).date()}; {machine['processor']}, {machine['cores']} cores.",
        "",
        "| what is disturbed | how | faults | after the end | " + " | ".join(COLUMNS) + " |",
        "|---|---|" + "---:|" * (2 + len(COLUMNS)),
        *rows,
        total,
    ]
    if wrong := [outcome for outcome in outcomes if outcome.verdict == "wrong"]:
        lines += ["", "Wrong:", "", *(f"- {outcome.fault}: {outcome.messages[-1]}" for outcome in wrong)]
    if not_here := {outcome.messages[-1] for outcome in outcomes if outcome.verdict == "not here"}:
        lines += ["", f"Not here: {'; '.join(sorted(not_here))}."]
    return "\n".join(lines) + "\n"


_INTRODUCTION = """\
This page has what `make test-faults` found. Each fault disturbs a small study of its own. Then the same commands are
called again, and their records are compared with those of an undisturbed run on the same machine.

- *After the end*: how many of the faults came when the command had already ended. The columns to the right count these
  too.
- *Equal*: the records are the same to the byte, except for times.
- *Refused in a line*: a command ended with one line, which says what is wrong and what to do. After that was done, all
  was equal.
- *Wrong*: anything else, such as a traceback, other numbers, a process that hangs, or foreign code that is executed.
- *Not here*: the fault could not be made.

*Told to stop* is a signal, as from Slurm. *Called twice*: a second command comes while the first one works, and the
first is killed. *Leftovers* are temporary files of a killed command. *Foreign weights*: another run's weights, or a
file with code, stands in their place. An empty cell is a zero. `tests/faults/` has the faults; `python -m tests.faults
--only TEXT` repeats those whose name has this text."""


def _row(subject: str, kind: str, outcomes: list[Outcome]) -> str:
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    after = sum(outcome.after_the_end for outcome in outcomes)
    counts = (len(outcomes), after, *(verdicts[verdict] for verdict in COLUMNS))
    return f"| {subject} | {kind} | {' | '.join(str(count or '') for count in counts)} |"
