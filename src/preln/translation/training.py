"""One run: train it, or go on with it, and write its run.json, curve.csv and metrics.json."""

from __future__ import annotations

import itertools
import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from preln import prepared_text, recording, run_state
from preln.config import Study
from preln.files import replaced
from preln.freshness import checksums, read_or_nothing
from preln.kept import Kept
from preln.machine import claim
from preln.run_state import RECORD, RecordLost
from preln.runs import Run
from preln.translation.curve import curve, has_translations, read_epochs, translations


def corpus_record(prepared: Path) -> dict[str, Any]:
    """What was prepared: the settings, counts and checksums that corpus.json has."""
    corpus: dict[str, Any] = json.loads((prepared / "text" / "corpus.json").read_text(encoding="utf-8"))
    return corpus


def state_folder(run: Run, prepared: Path, folder: Path) -> Path:
    """Where a run's state is, which depends on the text, the BPE model and the dictionary."""
    corpus = corpus_record(prepared)
    content = ["bpe/bpe.model", f"binary/dict.{corpus['languages']['source']}.txt"]
    identity = {**run.identity, "text": checksums(corpus), "languages": corpus["languages"]}
    return run_state.state_folder(identity, [prepared / path for path in content], folder)


def tested(folder: Path, epoch: int) -> list[str] | None:
    """The translations of test after an epoch that the records in a run's folder are of; None where they are gone or
    damaged."""
    state = folder / "state" / read_or_nothing(folder / recording.RUN).get("state", "")
    if not has_translations(state, "test", epoch, read_epochs(state / RECORD).get(epoch, {})):
        return None
    return translations(state, "test", epoch).read_text(encoding="utf-8").splitlines()


def recorded_epochs(state: Path) -> int:
    """Up to which epoch the record of a state is whole, with its translations."""
    record = read_epochs(state / RECORD)

    def is_whole(epoch: int) -> bool:
        return epoch in record and all(
            has_translations(state, subset, epoch, record[epoch]) for subset in ("valid", "test")
        )

    return next(epoch for epoch in itertools.count() if not is_whole(epoch + 1))


def after_warmup(run: Run, prepared: Path, state: Path) -> Kept:
    """The weights with which a run's warm-up ends, in its state."""
    # Importing fairseq takes seconds, which the other commands should not wait for.
    from preln.fairseq_plugin.translation import AFTER_WARMUP

    arguments = partial(_arguments, run, prepared)
    return Kept(state, AFTER_WARMUP, run.settings.warmup, run.settings.precision, run.execution, arguments)


def _arguments(run: Run, prepared: Path, state: Path) -> list[str]:
    """fairseq's options of the run, for a state."""
    from preln.fairseq_plugin import options

    languages = corpus_record(prepared)["languages"]
    return options.translation(
        run.settings,
        binary=prepared / "binary",
        references=prepared / "text",
        languages=(languages["source"], languages["target"]),
        state=state,
        execution=run.execution,
    )


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
    prepared_text.require_parallel(prepared)
    state = state_folder(run, prepared, folder)
    with run_state.exclusive(state):
        claim(run.execution)
        # Importing fairseq takes seconds, which the other commands should not wait for, and memory, which one that
        # waits for a GPU has no use for.
        from preln.fairseq_plugin import launch

        run_state.mend(state, "epoch", lambda: recorded_epochs(state), lambda moment: moment.whole_epochs)
        run_state.begin(state, run.execution, epochs_before=recorded_epochs(state))
        kept = after_warmup(run, prepared, state)
        if kept.path.exists():
            kept.mend()
        if not run_state.divergence(state):
            launch.train(_arguments(run, prepared, state), run.settings.precision, state, run.execution)
        write_records(study, run, prepared, state, folder)


def write_records(study: Study, run: Run, prepared: Path, state: Path, folder: Path) -> None:
    """Write run.json, curve.csv and metrics.json from what a training that is done left in its state.

    Raises:
        RecordLost: if it has no record of one of its epochs.
    """
    record = read_epochs(state / RECORD)
    if diverged := run_state.divergence(state):
        diverged["epoch"] = max(record, default=0) + 1
    elif missing := set(range(1, run.settings.epochs + 1)) - record.keys():
        raise RecordLost(
            f"{state / RECORD}: epochs {', '.join(map(str, sorted(missing)))} are not in it, though they are trained; "
            "run the same command, which trains them again"
        )
    rows = curve(record)
    with replaced(folder / "curve.csv") as table:
        rows.to_csv(table, index=False)
    origin = {**run_state.origin(study, run.id, run.identity, state), "corpus": corpus_record(prepared)}
    recording.write(folder, origin, ["curve.csv"], metrics(run, record, rows, diverged))


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
