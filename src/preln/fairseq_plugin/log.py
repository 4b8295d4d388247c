"""What fairseq's training log says of the epoch under way."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

TAIL_BYTES = 20_000


def last_training_line(log: Path) -> dict[str, Any]:
    """The newest progress that fairseq logged inside an epoch; empty if there is none yet.

    Its values are text: `update` (epochs done, with a fraction), `loss` (bits a token), `num_updates`, `ups` (updates
    a second) and `wps` (target tokens a second), among others.
    """
    if not log.exists():
        return {}
    with open(log, "rb") as lines:
        lines.seek(max(0, log.stat().st_size - TAIL_BYTES))
        tail = lines.read().decode("utf-8", errors="replace")
    found = re.findall(r'\{"epoch": [^{}]*"ups": [^{}]*\}', tail)
    for line in reversed(found):
        values = json.loads(line)
        if "update" in values:
            return dict(values)
    return {}
