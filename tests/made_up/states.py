"""States of runs in training, made up."""

import json
import os
from pathlib import Path
from typing import Any

from preln.records.files import write_json_lines

NOW = 1_000_000.0
LINE = {"epoch": 2, "update": 1.5, "loss": "7.5", "ups": "2", "wps": "900", "num_updates": "150", "lr": "0.001"}


def training(folder: Path, *lines: dict[str, Any], written: float = NOW) -> Path:
    """The state of a run that has logged the lines, one whole epoch recorded."""
    state = folder / "state" / "abc"
    state.mkdir(parents=True)
    log = state / "training.log"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (state / "attempts.jsonl").write_text("{}\n", encoding="utf-8")
    times = {"learning_rate": 0.001, "gradient_norm": 1.0, "tokens_per_second": 900.0, "seconds": 50.0}
    scores = {"nll_loss": 7.0, "bleu": 1.25, "sacrebleu": 1.5}
    record = [
        {"epoch": 1, "part": "train", "updates": 100, "loss": 9.0, "nll_loss": 8.5, **times},
        {"epoch": 1, "part": "valid", "loss": 8.0, **scores},
        {"epoch": 1, "part": "test", "loss": 8.5, **scores},
        {"epoch": 2, "part": "train", "updates": 200, "loss": 7.0, "nll_loss": 6.5, **times},
    ]
    write_json_lines(state / "record.jsonl", record)
    for path in state.iterdir():
        os.utime(path, (written, written))
    return log
