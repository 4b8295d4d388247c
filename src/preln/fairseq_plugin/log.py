"""What fairseq's training log says of a training, without its words."""

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
    """One line of progress inside an epoch: epochs done, with a fraction, updates, the loss of training in bits a
    token, and the speed in updates and in target tokens a second."""

    epochs: float
    updates: int
    loss: float
    updates_per_second: float
    tokens_per_second: float


def progress(log: str) -> list[Logged]:
    """The lines of progress in the text of a log, in its order."""
    found = []
    for text in _PROGRESS.findall(log):
        # The line at the end of an epoch has no update; and a log may be damaged.
        with suppress(KeyError, TypeError, ValueError):
            line = json.loads(text)
            epochs, updates = float(line["update"]), int(line["num_updates"])
            found.append(Logged(epochs, updates, float(line["loss"]), float(line["ups"]), float(line["wps"])))
    return found


def newest_progress(log: Path) -> Logged | None:
    """The newest line of progress of a log, read from its end; None if there is none yet."""
    if not log.exists():
        return None
    with open(log, "rb") as lines:
        lines.seek(max(0, log.stat().st_size - TAIL_BYTES))
        found = progress(lines.read().decode("utf-8", errors="replace"))
    return found[-1] if found else None
