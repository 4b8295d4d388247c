"""One run: train it, or go on with it, and write its run.json, curve.csv and metrics.json."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from preln.config import Study
from preln.files import replaced, write_json
from preln.runs import Run, digest
from preln.translation.curve import curve, read_record

RECORDED_PACKAGES = ("preln", "torch", "fairseq-fixed", "sentencepiece", "sacrebleu", "numpy")


def state_folder(run: Run, corpus: dict[str, Any], folder: Path) -> Path:
    """Where a run's checkpoints are: named after all that its numbers depend on, so that a run whose settings or
    text have changed begins anew and never goes on with another's weights."""
    text = {name: part["files"] for name, part in corpus["parts"].items()}
    vocabulary = corpus["settings"]["vocabulary"]
    return folder / "state" / digest({"run": run.identity, "text": text, "vocabulary": vocabulary})[:12]


def train_run(study: Study, run: Run, prepared: Path, folder: Path) -> None:
    """Train `run` on the prepared corpus and write its records to `folder`.

    Args:
        study: the study that the run belongs to.
        run: the run.
        prepared: folder of the prepared corpus, with text/, bpe/ and binary/.
        folder: the run's folder; its state/ is kept, and continued from, whatever happens.
    """
    # Importing fairseq takes seconds, which the other commands should not wait for.
    from preln.fairseq_plugin import launch

    corpus = json.loads((prepared / "text" / "corpus.json").read_text(encoding="utf-8"))
    state = state_folder(run, corpus, folder)
    state.mkdir(parents=True, exist_ok=True)
    attempt = {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "epochs_before": len(read_record(state / "record.jsonl")),
    }
    with open(state / "attempts.jsonl", "a", encoding="utf-8") as attempts:
        attempts.write(json.dumps(attempt) + "\n")
    if not (state / "diverged.json").exists():
        launch.train(
            run.settings,
            binary=prepared / "binary",
            references=prepared / "text",
            languages=(corpus["languages"]["source"], corpus["languages"]["target"]),
            state=state,
            how=study.execution,
        )
    write_records(study, run, corpus, state, folder)


def write_records(study: Study, run: Run, corpus: dict[str, Any], state: Path, folder: Path) -> None:
    """Write run.json, curve.csv and metrics.json from what a finished training left in its state."""
    record = read_record(state / "record.jsonl")
    attempts = [json.loads(line) for line in (state / "attempts.jsonl").read_text(encoding="utf-8").splitlines()]
    diverged = None
    if (state / "diverged.json").exists():
        diverged = json.loads((state / "diverged.json").read_text(encoding="utf-8"))
        diverged["epoch"] = max(record, default=0) + 1
    rows = curve(record)
    with replaced(folder / "curve.csv") as partial:
        rows.to_csv(partial, index=False)
    write_json(
        folder / "run.json",
        {
            "id": run.id,
            "study": study.study,
            "identity": run.identity,
            "corpus": corpus,
            "versions": {name: version(name) for name in RECORDED_PACKAGES} | {"python": platform.python_version()},
            **_commit(),
            "hardware": _hardware(study.execution.gpus, study.execution.cpus),
            "attempts": attempts,
        },
    )
    # Last, for a run with metrics counts as done.
    write_json(folder / "metrics.json", metrics(run, record, rows, diverged))


def metrics(
    run: Run,
    record: dict[int, dict[str, Any]],
    rows: pd.DataFrame,
    diverged: dict[str, Any] | None,
) -> dict[str, Any]:
    """What a run came to: its status, its last and its best epoch, and how BLEU was computed."""
    last = record[max(record)] if record else {}
    epochs = json.loads(rows.to_json(orient="records"))
    return {
        "id": run.id,
        "status": "diverged" if diverged else "finished",
        "diverged": diverged,
        "epochs": len(epochs),
        "updates": epochs[-1]["updates"] if epochs else 0,
        "parameters": last.get("parameters"),
        "final": epochs[-1] if epochs else None,
        "best": min(epochs, key=lambda row: row["valid_loss"]) if epochs else None,
        "bleu": {
            "tokenised": last.get("valid_tokenised_signature"),
            "sacrebleu": last.get("valid_sacrebleu_signature"),
            "beam": run.settings.beam,
            "length_penalty": run.settings.length_penalty,
            "sentences": {"valid": last.get("valid_sentences"), "test": last.get("test_sentences")},
        },
        "seconds": round(sum(row["seconds"] for row in epochs), 1),
    }


def _commit() -> dict[str, Any]:
    """The commit of the working tree, and whether files that git tracks differ from it."""
    here = Path(__file__).parent

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "workflow", "config")
    return {"commit": git("rev-parse", "HEAD"), "commit_changed": None if changed is None else bool(changed)}


def _hardware(gpus: int, cpus: int) -> dict[str, Any]:
    """What the numbers were computed on."""
    import torch

    names = Path("/proc/cpuinfo")
    processor = platform.processor() or platform.machine()
    if names.exists():
        models = [line.split(":", 1)[1].strip() for line in names.read_text().splitlines() if "model name" in line]
        processor = models[0] if models else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "cores_used": cpus,
        "gpus": [torch.cuda.get_device_name(i) for i in range(gpus)],
    }
