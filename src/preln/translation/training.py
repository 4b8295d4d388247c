"""One run: train it, or go on with it, and write its run.json, curve.csv and metrics.json."""

from __future__ import annotations

import itertools
import logging
from pathlib import Path
from typing import Any

from preln.config import Study
from preln.jobs.runs import Run
from preln.libraries import pd
from preln.records import recording
from preln.records.files import replaced
from preln.records.record import checksums, read_or_nothing
from preln.training import prepared_text
from preln.training.state import RunState
from preln.training.training import KeptWeights, TrainedModel, Training
from preln.translation.constant_guess import of_prepared
from preln.translation.curve import curve, has_translations, read_epochs

logger = logging.getLogger(__name__)


def state_of(run: Run, prepared: Path, folder: Path) -> RunState:
    """The state of a run, whose folder is `folder`; it depends on the text, the BPE model and the dictionary."""
    corpus = prepared_text.record(prepared)
    content = ["bpe/bpe.model", f"binary/dict.{corpus['languages']['source']}.txt"]
    identity = {**run.identity, "text": checksums(corpus), "languages": corpus["languages"]}
    return RunState.of(identity, [prepared / path for path in content], folder)


def training_of(run: Run, prepared: Path, folder: Path) -> Training:
    """The training of a run on the prepared corpus, whose folder is `folder`."""

    def options(state: Path) -> list[str]:
        # Importing fairseq takes seconds, which the other commands should not wait for.
        from preln.fairseq_plugin import options

        languages = prepared_text.record(prepared)["languages"]
        return options.translation(
            run.settings,
            binary=prepared / "binary",
            references=prepared / "text",
            languages=(languages["source"], languages["target"]),
            state=state,
            execution=run.execution,
        )

    return Training(state_of(run, prepared, folder), options, run.settings.precision, run.execution)


def after_warmup(run: Run, prepared: Path, folder: Path) -> KeptWeights:
    """The weights with which the warm-up of a run ends, whose folder is `folder`."""
    from preln.fairseq_plugin.translation import AFTER_WARMUP_WEIGHTS

    return KeptWeights(training_of(run, prepared, folder), AFTER_WARMUP_WEIGHTS, run.settings.warmup)


def trained(run: Run, prepared: Path, folder: Path) -> TrainedModel:
    """The model of a run as its newest checkpoint has it; the run's folder is `folder`.

    Raises:
        PrelnError: if the run has no weights on this machine, or the prepared corpus is not there, or another.
    """
    prepared_text.require_stages(prepared, "corpus.json")
    prepared_text.require_parallel(prepared)
    model = TrainedModel.of(training_of(run, prepared, folder), prepared)
    if model.moment.whole_epochs < run.settings.epochs:
        logger.warning("%s: as after %d of %d epochs", run.id, model.moment.whole_epochs, run.settings.epochs)
    return model


def tested(folder: Path, epoch: int) -> list[str] | None:
    """The translations of test after an epoch that the records in a run's folder are of; None where they are gone or
    damaged."""
    state = RunState(folder / "state" / read_or_nothing(folder / recording.RUN).get("state", ""))
    if not has_translations(state, "test", epoch, read_epochs(state).get(epoch, {})):
        return None
    return state.translations("test", epoch).read_text(encoding="utf-8").splitlines()


def recorded_epochs(state: RunState) -> int:
    """Up to which epoch the record of a state is whole, with its translations."""
    record = read_epochs(state)

    def is_whole(epoch: int) -> bool:
        return epoch in record and all(
            has_translations(state, subset, epoch, record[epoch]) for subset in ("valid", "test")
        )

    return next(epoch for epoch in itertools.count() if not is_whole(epoch + 1))


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
    kept = after_warmup(run, prepared, folder)
    training = kept.training
    with training.state.exclusive():
        training.go_on(
            "epochs", lambda: recorded_epochs(training.state), lambda moment: moment.whole_epochs, kept=[kept]
        )
        write_records(study, run, prepared, training.state)


def write_records(study: Study, run: Run, prepared: Path, state: RunState) -> None:
    """Write run.json, curve.csv and metrics.json from what a training that is done left in its state.

    Raises:
        RecordLost: if it has no record of one of its epochs.
    """
    record = read_epochs(state)
    if diverged := state.divergence():
        diverged["epoch"] = max(record, default=0) + 1
    else:
        state.require_recorded("epochs", range(1, run.settings.epochs + 1), record)
    rows = curve(record)
    with replaced(state.job / "curve.csv") as table:
        rows.to_csv(table, index=False)
    corpus = prepared_text.record(prepared)
    guess = of_prepared(prepared, corpus["languages"]["target"], run.settings.label_smoothing)
    found = {**metrics(run, record, rows, diverged), "constant_guess": guess and round(guess, 4)}
    recording.write(state.job, {**state.origin(study, run.id, run.identity), "corpus": corpus}, ["curve.csv"], found)


def metrics(
    run: Run,
    record: dict[int, dict[str, Any]],
    rows: pd.DataFrame,
    diverged: dict[str, Any] | None,
) -> dict[str, Any]:
    """What a run came to: its status, its last and its best epoch, and how BLEU was computed, with the seconds that
    this took in each epoch (None in one that was recorded before they were)."""
    last = record[max(record)] if record else {}
    epochs = recording.rows(rows)
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
            "seconds": [_translating(epoch) for epoch in record.values()],
        },
        "seconds": round(sum(row["seconds"] for row in epochs), 1),
    }


def _translating(epoch: dict[str, Any]) -> float | None:
    """The seconds of an epoch's translations and their scores, where they were recorded."""
    found = [epoch[name] for name in ("valid_seconds", "test_seconds") if name in epoch]
    return round(sum(found), 2) if len(found) == 2 else None
