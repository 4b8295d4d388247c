"""One run: train it, or go on with it, and write its run.json, curve.csv and metrics.json."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from preln.config import Study
from preln.errors import PrelnError
from preln.files import append_json, read_json_lines, replaced, write_json
from preln.provenance import commit, hardware, versions
from preln.runs import Run, digest
from preln.translation.curve import curve, read_record


class RecordLost(PrelnError):
    """A training that is done has no record of some of its epochs."""


def state_folder(run: Run, prepared: Path, folder: Path) -> Path:
    """Where a run's checkpoints are: named after all that its numbers depend on (its settings, the text, the BPE model,
    the dictionary), so that a run of which any has changed begins anew and never goes on with another's weights."""
    corpus = _corpus(prepared)
    content = [
        prepared / "text" / "corpus.json",
        prepared / "bpe" / "bpe.model",
        prepared / "binary" / f"dict.{corpus['languages']['source']}.txt",
    ]
    checksums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in content}
    return folder / "state" / digest({"run": run.identity, "content": checksums})[:12]


def train_run(study: Study, run: Run, prepared: Path, folder: Path) -> None:
    """Train `run` on the prepared corpus and write its records to `folder`.

    Args:
        study: the study that the run belongs to.
        run: the run.
        prepared: folder of the prepared corpus, with text/, bpe/ and binary/.
        folder: the run's folder; its state/ is kept, and continued from, whatever happens.

    Raises:
        PrelnError: if the run cannot be trained on this machine, or its state cannot be continued from.
    """
    # Importing fairseq takes seconds, which the other commands should not wait for.
    from preln.fairseq_plugin import launch

    languages = _corpus(prepared)["languages"]
    state = state_folder(run, prepared, folder)
    state.mkdir(parents=True, exist_ok=True)
    attempt = {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "epochs_before": len(read_record(state / "record.jsonl")),
        **commit(),
        "hardware": hardware(study.execution),
    }
    append_json(state / "attempts.jsonl", attempt)
    if not (state / "diverged.json").exists():
        launch.train(
            run.settings,
            binary=prepared / "binary",
            references=prepared / "text",
            languages=(languages["source"], languages["target"]),
            state=state,
            how=study.execution,
        )
    write_records(study, run, prepared, state, folder)


def write_records(study: Study, run: Run, prepared: Path, state: Path, folder: Path) -> None:
    """Write run.json, curve.csv and metrics.json from what a training that is done left in its state.

    Raises:
        RecordLost: if it has no record of one of its epochs.
    """
    record = read_record(state / "record.jsonl")
    attempts = read_json_lines(state / "attempts.jsonl")
    diverged = None
    if (state / "diverged.json").exists():
        diverged = json.loads((state / "diverged.json").read_text(encoding="utf-8"))
        diverged["epoch"] = max(record, default=0) + 1
    elif missing := set(range(1, run.settings.epochs + 1)) - record.keys():
        raise RecordLost(
            f"{state / 'record.jsonl'}: epochs {', '.join(map(str, sorted(missing)))} are not in it, though they are "
            f"trained; move {state} away to train the run anew"
        )
    rows = curve(record)
    with replaced(folder / "curve.csv") as partial:
        rows.to_csv(partial, index=False)
    write_json(
        folder / "run.json",
        {
            "id": run.id,
            "study": study.study,
            "identity": run.identity,
            "corpus": _corpus(prepared),
            "versions": versions(),
            **{key: attempts[-1][key] for key in ("commit", "commit_changed", "hardware")},
            "attempts": attempts,
        },
    )
    # Last, for a run with metrics counts as done.
    write_json(folder / "metrics.json", metrics(run, record, rows, diverged))


def _corpus(prepared: Path) -> dict[str, Any]:
    """The record of a prepared corpus."""
    corpus: dict[str, Any] = json.loads((prepared / "text" / "corpus.json").read_text(encoding="utf-8"))
    return corpus


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
