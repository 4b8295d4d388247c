"""How far the runs of a study are, read from their files alone, so also from another machine."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from preln.config import Study
from preln.fairseq_plugin.log import last_training_line
from preln.runs import Run, expand
from preln.translation.curve import read_record

SILENT_SECONDS = 600
"""A training that has written nothing for so long has stopped; translating an epoch's sets can take minutes."""
WATCH_SECONDS = 5
FILE_WIDTH = 160


@dataclass(frozen=True)
class Progress:
    """Where one run stands. Losses are in bits a token, BLEU in percent, speed in tokens a second, `left` and `silent`
    (since something was written last) in seconds; None is not known, or no more of interest."""

    run: Run
    state: str
    epoch: float
    loss: float | None = None
    valid_loss: float | None = None
    test_bleu: float | None = None
    speed: float | None = None
    left: float | None = None
    silent: float | None = None


def progress(run: Run, folder: Path, now: float) -> Progress:
    """The progress of `run`, whose folder is `folder`, at the time `now` in seconds since the epoch."""
    metrics = folder / "metrics.json"
    if metrics.exists():
        values = json.loads(metrics.read_text(encoding="utf-8"))
        last = values["final"] or {}
        state = values["status"]
        if values["diverged"]:
            state += f" at update {values['diverged']['update']}"
        return Progress(
            run,
            state,
            values["epochs"],
            *(last.get(key) for key in ("train_loss", "valid_loss", "test_bleu", "tokens_per_second")),
        )
    states = sorted(folder.glob("state/*/attempts.jsonl"), key=lambda path: path.stat().st_mtime)
    if not states:
        return Progress(run, "waiting", 0)
    current = states[-1].parent
    record = read_record(current / "record.jsonl")
    last = record[max(record)] if record else {}
    log = current / "training.log"
    newest = max(path.stat().st_mtime for path in (states[-1], log) if path.exists())
    latest = last_training_line(log)
    epoch = max(float(latest.get("update", 0)), max(record, default=0))
    left = None
    if latest and float(latest["ups"]) > 0 and float(latest["update"]) > 0:
        updates_per_epoch = float(latest["num_updates"]) / float(latest["update"])
        left = updates_per_epoch * max(run.settings.epochs - epoch, 0) / float(latest["ups"])
    return Progress(
        run,
        "training" if now - newest < SILENT_SECONDS else "stopped",
        epoch,
        float(latest["loss"]) if latest else None,
        last.get("valid_loss"),
        last.get("test_bleu"),
        float(latest["wps"]) if latest else None,
        left,
        now - newest,
    )


def table(rows: list[Progress]) -> Table:
    """The runs' progress as a table: losses of training and of valid in bits a token, BLEU of test."""
    done = sum(row.state.startswith(("finished", "diverged")) for row in rows)
    result = Table(title=f"{done} of {len(rows)} runs done", title_justify="left", box=None)
    result.add_column("run", no_wrap=True)
    result.add_column("state")
    for heading in ("epoch", "train", "valid", "BLEU", "tokens/s", "left", "last news"):
        result.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        result.add_row(
            row.run.id,
            row.state,
            f"{row.epoch:.1f}/{row.run.settings.epochs}",
            *("" if value is None else f"{value:.2f}" for value in (row.loss, row.valid_loss, row.test_bleu)),
            "" if row.speed is None else f"{row.speed:,.0f}",
            "" if row.left is None else str(timedelta(seconds=round(row.left))),
            "" if row.silent is None else f"{timedelta(seconds=round(row.silent))} ago",
        )
    return result


def show(study: Study, results: Path, watch: bool) -> None:
    """Print the progress of the study whose results are in the folder `results`; with `watch`, until interrupted."""
    runs = expand(study)

    def current() -> Table:
        now = time.time()
        return table([progress(run, results / "translation" / run.id, now) for run in runs])

    if not watch:
        # Into a file or a pipe goes the whole table, however wide.
        Console(width=None if sys.stdout.isatty() else FILE_WIDTH).print(current())
        return
    try:
        with Live(current(), refresh_per_second=1) as live:
            while True:
                time.sleep(WATCH_SECONDS)
                live.update(current())
    except KeyboardInterrupt:
        return
