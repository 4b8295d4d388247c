"""The workflow run and followed: what is being done, how far each run is, and the time left. Snakemake's own log, which
says why each job runs and with what paths, goes to a file.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from preln.commands.progress import Progress, bar, seconds_left, spoken
from preln.commands.status import WATCH_SECONDS, StudyProgress
from preln.config import Study
from preln.jobs import notes
from preln.jobs.grid import series
from preln.jobs.kinds import KINDS, jobs_of
from preln.libraries import filelock
from preln.report.core.labels import names

_TARGETS = ("default", "all", "prepared")
"""Rules that make nothing; a module's may have a name before it, as `preln_all`."""
NOTHING = "Nothing to do: all of it is made and up to date."
PREPARING = ("prepare_text", "prepare_bpe", "prepare_english")
"""Rules that note what looks like a mistake in a text; a module's may have a name before it."""
STOPPED = "Stopped. The same command goes on from here."
SHOWN = 20
"""Lines of the log that are shown when the workflow fails and no line says why."""


def _is_target(rule: str) -> bool:
    return rule.rpartition("_")[2] in _TARGETS


@dataclass(frozen=True)
class Step:
    """A job that runs: its rule, what it does, and when it began, in seconds since the epoch."""

    rule: str
    message: str
    began: float


@dataclass
class Steps:
    """The steps of a workflow, as Snakemake's events have reported them so far: how many there are, and are done; those
    that run, by Snakemake's number of the job; how many of each rule are left, and the seconds that each took that is
    done; and the folder of each study's results, which only the workflow knows: as a module it may have a prefix."""

    is_started: bool = False
    total: int = 0
    done: int = 0
    running: dict[int, Step] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)
    took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    results: dict[str, Path] = field(default_factory=dict)

    def take(self, content: dict[str, Any]) -> tuple[bool, str] | None:
        """Take in an event, as `snakemake_logger_plugin_preln` writes it.

        Returns:
            If the event begins or ends a step: whether it ends it, and the step's message.
        """
        match content:
            case {"event": "results", "study": study, "results": folder}:
                self.results[study] = Path(folder)
            case {"event": "workflow_started"}:
                self.is_started = True
            case {"event": "run_info", "stats": dict(counts)}:
                self.left = Counter(counts)
                self.total = self.left.pop("total")
            case {"event": "job_info", "jobid": number, "rule_name": rule, "rule_msg": message, "time": now}:
                step = self.running[number] = Step(rule, message or rule, now)
                return None if _is_target(rule) else (False, step.message)
            case {"event": "job_finished", "job_id": number, "time": now}:
                self.done += 1
                if ended := self.running.pop(number, None):
                    self.left[ended.rule] -= 1
                    self.took[ended.rule].append(now - ended.began)
                    return None if _is_target(ended.rule) else (True, ended.message)
            case {"event": "job_error", "jobid": number}:
                self.running.pop(number, None)
        return None

    def seconds_left(self, now: float) -> float | None:
        """About how long the rest takes, if as many steps run at once as now; None while of a rule that is left no step
        is done."""
        # The thread that asks is not the one that reads the events.
        running = list(self.running.values())
        if not running:
            return None
        kinds = [(count, self.took.get(rule, [])) for rule, count in list(self.left.items()) if not _is_target(rule)]
        return seconds_left(kinds, len(running), spent=sum(now - step.began for step in running))


def run(study: Study, arguments: Sequence[str], log: Path, folder: Path) -> tuple[int, Path]:
    """Run Snakemake with some arguments, for a study, in the folder where it finds its Snakefile; show how far it is
    until it ends, and write what it prints to `log`. Returns its exit status, and the folder of the study's results."""
    log.parent.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(log.with_name(f".{log.name}.lock"), fallback_to_soft=False)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        # Another run of the study writes there.
        log = log.with_name(f"{log.stem}-{os.getpid()}{log.suffix}")
    try:
        return _run(study, arguments, log, folder)
    finally:
        lock.release()


def _run(study: Study, arguments: Sequence[str], log: Path, folder: Path) -> tuple[int, Path]:
    """Run Snakemake with a log that is this run's alone."""
    console = Console()
    steps = Steps()
    view = View(study, steps)
    # The rules call programs of this environment, activated or not.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    reader, writer = os.pipe()
    events = ["--logger", "preln", "--logger-preln-events", str(writer)]
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with log.open("w", encoding="utf-8") as file, os.fdopen(reader, encoding="utf-8") as pipe:
        # A script's shell has its background jobs ignore SIGINT. Snakemake inherits that, and is ended by SIGINT alone.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "snakemake", *events, *arguments],
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, "PATH": path},
            pass_fds=(writer,),
            process_group=0,
        )
        os.close(writer)

        stopped = False

        def interrupt(*_: object) -> None:
            nonlocal stopped
            stopped = True
            # Snakemake waits for its jobs unless they are interrupted too. It may have ended by now.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)

        # Whatever asks this process to end, it reads on until Snakemake has ended. What it was told to ignore, as by
        # `nohup`, it goes on to ignore.
        for number, handler in before.items():
            signal.signal(number, handler if handler is signal.SIG_IGN else interrupt)
        try:
            with Live(console=console, get_renderable=view, refresh_per_second=1, transient=True) as live:
                for line in pipe:
                    content = json.loads(line)
                    step = steps.running.get(content.get("job_id"))
                    if change := steps.take(content):
                        _print(live.console, steps, *change)
                    if content["event"] == "results":
                        _print_lines(live.console, content["replaced"])
                    if content["event"] == "run_info" or (step and step.rule.endswith(PREPARING)):
                        view.tell_notes(live.console)
            status = process.wait()
        finally:
            if process.poll() is None:
                # The output could not be shown. Snakemake ends its jobs, and leaves no lock behind.
                interrupt()
                pipe.close()
                process.wait()
            for number, handler in before.items():
                signal.signal(number, handler)
    view.tell_notes(console)
    content = log.read_text(encoding="utf-8", errors="replace")
    if not status and not steps.done:
        # Otherwise it was asked for something else, such as a plan.
        is_made = steps.is_started and not steps.total
        console.print(NOTHING if is_made else content, markup=False, highlight=False, soft_wrap=True)
    if status and stopped:
        console.print(STOPPED, markup=False)
    elif status:
        lines = content.splitlines()
        why = [line for line in lines if line.startswith("preln: ")] or lines[-SHOWN:]
        _print_lines(console, [*dict.fromkeys(why), f"The workflow failed; all that it said is in {log}"])
    return status, view.results


def _print(console: Console, steps: Steps, is_done: bool, message: str) -> None:
    """A line for a step that is done. Without a terminal, also a line for a step that begins, and the time left."""
    if is_done:
        left = None if console.is_terminal else steps.seconds_left(time.time())
        rest = "" if left is None else f" (about {spoken(left)} left)"
        console.print(f"[{steps.done}/{steps.total}] Done: {message}{rest}", markup=False, highlight=False)
    elif not console.is_terminal:
        console.print(f"Begin: {message}", markup=False, highlight=False)


def _print_lines(console: Console, lines: Sequence[str]) -> None:
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


class View:
    """The view at a terminal: the steps, and the progress of each run that is being trained."""

    def __init__(self, study: Study, steps: Steps) -> None:
        self._study, self._steps = study, steps
        self._began = time.time()
        self._labels = _labels(study)
        self._progress: dict[str, Progress] = {}
        self._left: float | None = None
        self._looked = 0.0
        self._notes: list[str] = []

    @property
    def results(self) -> Path:
        """The folder of the study's results; where an option has given the study another name, that of the only one."""
        known = self._steps.results
        if len(known) == 1:
            return next(iter(known.values()))
        return known.get(self._study.study, Path("results") / self._study.study)

    def tell_notes(self, console: Console) -> None:
        """Print what the preparation has noted of the study's texts since it was last told."""
        new = [note for note in notes.of_study(jobs_of(self._study), self.results) if note not in self._notes]
        self._notes += new
        _print_lines(console, notes.told(new))

    def __call__(self) -> RenderableType:
        """The view as it is now; the folders of the jobs are read every few seconds."""
        now = time.time()
        if now > self._looked + WATCH_SECONDS:
            # A trace has the id of its run, so keep only the jobs that run.
            progress = StudyProgress.read(self._study, self.results, now)
            self._progress = {row.id: row for row in progress.jobs if row.is_running}
            self._left = progress.left
            self._looked = now
        left = self._steps.seconds_left(now) or self._left
        head = f"{self._steps.done} of {self._steps.total or '?'} steps done in {spoken(now - self._began)}"
        if left is not None:
            head += f", about {spoken(left)} left"
        table = Table.grid(padding=(0, 2))
        for step in list(self._steps.running.values()):
            # The message of a training ends with the id of its run.
            verb, _, name = step.message.rpartition(" ")
            at = self._progress.get(name)
            done = bar(at.share) if at else ""
            scores = {} if at is None else {key: value for key, value in at.scores.items() if value is not None}
            so_far = ", ".join(f"{heading} {value:.2f}" for heading, value in scores.items())
            message = f"{verb} {self._labels[name]}" if name in self._labels else step.message
            rest = f"{spoken(at.left)} left" if at and at.left is not None else ""
            table.add_row(Text("  " + message), done, so_far, rest, f"since {spoken(now - step.began)}")
        return Group(Text(head), table)


def _labels(study: Study) -> dict[str, str]:
    """The trainings of a study by id, in words, such as `Post-LN, warm-up 400, seed 1`."""
    labels: dict[str, str] = {}
    for kind in KINDS.values():
        # Trainings have both: fine-tunings have no curves, and measurements and traces no numbers that are compared.
        jobs = kind.expand(study, "study") if kind.numbers and kind.curves else []
        if jobs:
            called, _ = names([series(job.settings) for job in jobs], always={"placement"})
            labels |= {job.id: f"{called[series(job.settings)]}, seed {job.settings.seed}" for job in jobs}
    return labels
