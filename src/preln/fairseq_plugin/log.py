"""Progress from fairseq's training log."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TAIL_BYTES = 20_000
_PROGRESS = re.compile(r'\{"epoch": [^{}]*"ups": [^{}]*\}')


@dataclass(frozen=True)
class Logged:
    """A line of progress inside an epoch: epochs, with a fraction; updates; the training loss in bits a token; and the
    speed in updates and in target tokens a second."""

    epochs: float
    updates: int
    loss: float
    updates_per_second: float
    tokens_per_second: float


def newest_progress(log: Path) -> Logged | None:
    """A log's newest line of progress, read from its end; None if there is none yet."""
    if not log.exists():
        return None
    with open(log, "rb") as file:
        file.seek(max(0, log.stat().st_size - TAIL_BYTES))
        tail = file.read().decode("utf-8", errors="replace")
    for text in reversed(_PROGRESS.findall(tail)):
        # The line at the end of an epoch has no update, and a log may be damaged.
        with suppress(KeyError, TypeError, ValueError):
            values = json.loads(text)
            epochs, updates = float(values["update"]), int(values["num_updates"])
            return Logged(epochs, updates, float(values["loss"]), float(values["ups"]), float(values["wps"]))
    return None
