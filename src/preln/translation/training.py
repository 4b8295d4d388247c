"""One run: train it, or go on with it, and write its run.json, curve.csv and metrics.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from preln import attempts
from preln.attempts import RecordLost
from preln.config import Study
from preln.current import checksums
from preln.files import replaced, write_json
from preln.machine import claim
from preln.runs import Run
from preln.translation.curve import curve, read_record


def corpus_record(prepared: Path) -> dict[str, Any]:
    """What was prepared: the settings, counts and checksums that corpus.json has."""
    corpus: dict[str, Any] = json.loads((prepared / "text" / "corpus.json").read_text(encoding="utf-8"))
    return corpus


def state_folder(run: Run, prepared: Path, folder: Path) -> Path:
    """Where a run's state is, which depends on the text, the BPE model and the dictionary."""
    corpus = corpus_record(prepared)
    content = ["bpe/bpe.model", f"binary/dict.{corpus['languages']['source']}.txt"]
    identity = {**run.identity, "text": checksums(corpus), "languages": corpus["languages"]}
    return attempts.state_folder(identity, [prepared / path for path in content], folder)


def translations(folder: Path, epoch: int) -> list[str] | None:
    """The translations of test after an epoch that the records in a run's folder are of; None where they are gone."""
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    path = folder / "state" / record.get("state", "") / "translations" / f"test.{epoch}.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else None


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
    languages = corpus_record(prepared)["languages"]
    state = state_folder(run, prepared, folder)
    with attempts.exclusive(state):
        claim(run.execution)
        # Importing fairseq takes seconds, which the other commands should not wait for, and memory, which one that
        # waits for a GPU has no use for.
        from preln.fairseq_plugin import launch, options

        attempts.begin(state, run.execution, epochs_before=len(read_record(state / "record.jsonl")))
        if not attempts.divergence(state):
            arguments = options.translation(
                run.settings,
                binary=prepared / "binary",
                references=prepared / "text",
                languages=(languages["source"], languages["target"]),
                state=state,
                how=run.execution,
            )
            launch.train(arguments, run.settings.precision, state, run.execution)
        write_records(study, run, prepared, state, folder)


def write_records(study: Study, run: Run, prepared: Path, state: Path, folder: Path) -> None:
    """Write run.json, curve.csv and metrics.json from what a training that is done left in its state.

    Raises:
        RecordLost: if it has no record of one of its epochs.
    """
    record = read_record(state / "record.jsonl")
    if diverged := attempts.divergence(state):
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
        {**attempts.origin(study, run.id, run.identity, state), "corpus": corpus_record(prepared)},
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
