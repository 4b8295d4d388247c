"""A placement on the bench of language models, beside Pre-LN and Post-LN."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from preln.commands.progress import shown
from preln.config import Study, write
from preln.corpora.english.prepare import prepare_text
from preln.errors import PrelnError
from preln.jobs.checking import check
from preln.jobs.results import STUDY_FILE, read_results
from preln.language.bench import (
    GROWN_RATES,
    MARGIN,
    SEEDS,
    SETTINGS,
    TEXTS,
    WARMUPS,
    WORDS,
    Cell,
    Row,
    measured,
    wanted,
)
from preln.language.runs import LanguageRun, expand
from preln.language.text import prepare_tokens
from preln.placements import PAPER, PLACEMENTS, resolve
from preln.records import recording
from preln.records.recording import Record
from preln.report.core.statistics import mean, plus_minus
from preln.values import short

STATUS = {"ahead": 0, "not told apart": 3, "behind": 4}
"""The exit status of each verdict; 1 is an error."""
_LEFT = 0.7
"""The share of a run's usual time that must be left for another one to begin."""


@dataclass(frozen=True)
class Bench:
    """A placement on the bench, by its name and by its key in `PLACEMENTS`, which has the checksum of its file: the
    folder of its results, a study with every run that may be wanted, the rows of Pre-LN and Post-LN that are `recorded`
    in the folder `beside` (None to train both too), and the trainings that were started."""

    name: str
    placement: str
    folder: Path
    study: Study
    beside: Path | None
    recorded: dict[str, Row]
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @classmethod
    def of(cls, name: str, out: Path | None, beside: Path) -> Bench:
        """The bench of a placement, named as a study would name it; without `out`, in results/bench-NAME.

        Raises:
            PrelnError: if there is no such placement, or its file is wrong.
        """
        key = resolve(name)
        folder = out or Path("results") / f"bench-{PLACEMENTS[key].name}"
        recorded = _rows(beside, PAPER) if (beside / STUDY_FILE).exists() else {}
        is_recorded = bool(recorded) and all(row.is_settled for row in recorded.values())
        # Post-LN, which decides nothing, is the last.
        others = [] if is_recorded else [paper for paper in reversed(PAPER) if paper != key]
        grid = {"learning_rate": list(GROWN_RATES), "warmup": list(WARMUPS), "seed": list(SEEDS)}
        content = {
            "study": folder.name,
            "description": f"{PLACEMENTS[key].label} on the bench of language models",
            "texts": TEXTS,
            "language": {"settings": SETTINGS, "runs": [{"placement": [name, *others], **grid}]},
        }
        study = check(content, f"preln bench {name}").study
        if (folder / STUDY_FILE).exists():
            _, recorded_study = read_results(folder)
            if _of_any_placement(recorded_study) != _of_any_placement(study):
                raise PrelnError(f"{folder}: has the results of another study; name another folder with --out")
        return cls(name, key, folder, study, beside if is_recorded else None, recorded if is_recorded else {})

    def rows(self) -> dict[str, Row]:
        """The rows of the placement, Pre-LN and Post-LN, by key, as far as they are trained, here or in the recorded
        rows."""
        rows = {key: Row({}, math.nan) for key in (self.placement, *reversed(PAPER))}
        trained = _rows(self.folder, rows) if (self.folder / STUDY_FILE).exists() else rows
        return trained | {key: row.with_runs_of(trained[key]) for key, row in self.recorded.items()}

    def train(self, seconds: float, cores: int, tell: Callable[[str], None]) -> None:
        """Train the runs that are wanted, as many at a time as there are cores, until none is, or no other would end
        within the seconds. Runs that are trained already count. `tell` is told of each run that ends.

        Raises:
            PrelnError: if a training fails, or the placement's file changes meanwhile.
        """
        runs = {(run.settings.placement, _cell(run), run.settings.seed): run for run in expand(self.study)}
        end = time.monotonic() + seconds
        prepared = _prepare(next(iter(runs.values())), cores)
        write(self.study, self.folder / STUDY_FILE)
        durations: list[float] = []
        begun: set[str] = set()
        working: dict[Future[float], LanguageRun] = {}
        with ThreadPoolExecutor(cores) as pool:
            while True:
                if resolve(self.name) != self.placement:
                    self._stop()
                    raise PrelnError(f"{self.name}: has changed; run the same command again, which begins anew with it")
                usual = mean(durations) if durations else 0.0
                for run in self._wanted(runs):
                    if len(working) == cores or time.monotonic() + _LEFT * usual > end:
                        break
                    if run.id not in begun:
                        begun.add(run.id)
                        working[pool.submit(self._train, run, prepared)] = run
                if not working:
                    return
                for done in wait(working, return_when=FIRST_COMPLETED).done:
                    run = working.pop(done)
                    if done.exception():
                        self._stop()
                    tell(f"{run.id}: {done.result():.0f} seconds")
                    durations.append(done.result())

    def _stop(self) -> None:
        """Ask the trainings to end, for which the pool waits; they save their state."""
        for process in self.processes:
            process.terminate()

    def _wanted(self, runs: Mapping[tuple[str, Cell, int], LanguageRun]) -> list[LanguageRun]:
        """The runs that are wanted now, the most urgent first: of the placement and Pre-LN in turn, then of Post-LN."""
        rows = self.rows()
        runs_of = {key: sum(map(len, row.losses.values())) for key, row in rows.items()}
        pair = sorted({key for key, _, _ in runs} - {PAPER[0]} | {self.placement}, key=lambda key: (runs_of[key], key))
        queues = {
            key: [runs[key, cell, seed] for cell, seed in wanted(rows[key])]
            for key in dict.fromkeys(key for key, _, _ in runs)
        }
        in_turn = itertools.chain.from_iterable(itertools.zip_longest(*(queues.pop(key) for key in pair)))
        return [run for run in itertools.chain(in_turn, *queues.values()) if run is not None]

    def _train(self, run: LanguageRun, prepared: Path) -> float:
        """Train a run in a process of its own, and return the seconds that it took."""
        started = time.monotonic()
        command = [sys.executable, "-P", "-m", "preln", "train-language", str(self.folder / STUDY_FILE), run.id]
        command += ["--prepared", str(prepared), "--out", str(self.folder / run.folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            self.processes.append(process)
            output, _ = process.communicate()
        if process.returncode:
            raise PrelnError(f"{run.id}: its training failed:\n{output.strip()}")
        return time.monotonic() - started


def result_of(bench: Bench) -> dict[str, Any]:
    """The result, as JSON has it: a row for the placement, Pre-LN and Post-LN, and the verdict on the placement."""
    rows = bench.rows()
    every = [
        {
            "placement": PLACEMENTS[key].name,
            "label": PLACEMENTS[key].label,
            **measured(row, rows["pre"].sample),
            "runs": sum(map(len, row.losses.values())),
        }
        for key, row in rows.items()
    ]
    return {
        "verdict": every[0]["verdict"],
        "margin": MARGIN,
        "beside": str(bench.beside) if bench.beside else None,
        "results": str(bench.folder),
        "rows": every,
    }


def text(result: Mapping[str, Any]) -> str:
    """The result as a Markdown table, and the verdict in words."""
    from preln.libraries import pd

    rows = [
        {
            "": row["label"],
            "rate": "" if row["learning_rate"] is None else short(row["learning_rate"]),
            "warm-up": shown(row["warmup"], "d"),
            "loss": shown(row["loss"], ".3f"),
            "seeds": shown(row["seeds"], "d"),
            "beside Pre-LN": ""
            if row["low"] is None
            else plus_minus(row["difference"], row["high"] - row["difference"], "+.3f"),
            "at a third": shown(row["loss_at_a_third"], ".3f"),
            "at 3 times": shown(row["loss_at_three_times"], ".3f"),
            "highest rate": short(row["highest_rate"]) if row["highest_rate"] else "",
            "with warm-up": short(row["highest_rate_with_warmup"]) if row["highest_rate_with_warmup"] else "",
        }
        for row in result["rows"]
    ]
    own = result["rows"][0]
    origin = f"recorded in {result['beside']}" if result["beside"] else f"trained here, into {result['results']}"
    if own["low"] is None:
        reason = "there are not two seeds of both yet; call it again, or with a larger --budget"
    else:
        reason = (
            f"the 95% interval of the difference is {own['low']:+.3f} to {own['high']:+.3f} bits a token, and the "
            f"margin {result['margin']:g}"
        )
    return (
        f"{pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True)}\n\n"
        f"{own['label']} is {WORDS[own['verdict']]} Pre-LN: {reason}. "
        f"Pre-LN and Post-LN were {origin}."
    )


def _prepare(run: LanguageRun, cores: int) -> Path:
    """The folder of the prepared text, which is made where it is not there."""
    (text,) = run.prepared
    folder = Path(text.folder)
    stage, tokens = (folder / name for name in text.stages)
    if not stage.exists():
        prepare_text(run.text, folder / "downloads", stage, cores)
    if not tokens.exists():
        prepare_tokens(folder, run.settings.tokens, tokens)
    return folder


def _of_any_placement(study: Study) -> dict[str, Any]:
    """The content of a study of the bench, whichever placements it trains."""
    content = study.model_dump(exclude={"description"})
    for entry in (content["language"] or {"runs": ()})["runs"]:
        entry.pop("placement", None)
    return content


def _cell(run: LanguageRun) -> Cell:
    return run.settings.learning_rate, run.settings.warmup


def _rows(folder: Path, placements: Iterable[str]) -> dict[str, Row]:
    """The rows of placements in a study's folder of results. What was trained with other settings, or with the
    placement's file as it was, does not count."""
    _, study = read_results(folder)
    losses: dict[str, dict[Cell, dict[int, float]]] = {key: {} for key in placements}
    baseline = math.nan
    for run in expand(study):
        job = folder / run.folder
        if run.settings.placement in losses and _is_of_the_bench(run) and Record(run, job).is_current:
            metrics = recording.read_metrics(job)
            ended = math.inf if metrics["diverged"] else metrics["final"]["valid_loss"]
            losses[run.settings.placement].setdefault(_cell(run), {})[run.settings.seed] = ended
            baseline = metrics["unigram_baseline"]
    return {key: Row(of_key, baseline) for key, of_key in losses.items()}


def _is_of_the_bench(run: LanguageRun) -> bool:
    settings = run.settings
    varied = {key: getattr(settings, key) for key in ("placement", "learning_rate", "warmup", "seed")}
    is_on_the_grid = settings.learning_rate in GROWN_RATES and settings.warmup in WARMUPS
    return is_on_the_grid and settings == type(settings).model_validate({**SETTINGS, **varied})
