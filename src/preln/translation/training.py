"""Train or continue a translation run, and write its run.json, curve.csv and metrics.json."""

from __future__ import annotations

import itertools
import logging
from pathlib import Path
from typing import Any

from preln.config import Study
from preln.records import recording
from preln.records.recording import checksums, read_or_nothing
from preln.training import prepared_text, records
from preln.training.state import RunState
from preln.training.training import KeptWeights, TrainedModel, Training
from preln.translation.curve import curve, has_translations, read_epochs
from preln.translation.runs import Run
from preln.translation.unigram_baseline import of_prepared

logger = logging.getLogger(__name__)


def state_of(run: Run, prepared: Path, folder: Path) -> RunState:
    """A run's state in its folder; its name depends on the text, the BPE model and the dictionary."""
    corpus = prepared_text.record(prepared)
    content = ["bpe/bpe.model", f"binary/dict.{corpus['languages']['source']}.txt"]
    identity = {**run.identity, "text": checksums(corpus), "languages": corpus["languages"]}
    return RunState.of(identity, [prepared / path for path in content], folder)


def training_of(run: Run, prepared: Path, folder: Path) -> Training:
    """A run's training on the prepared corpus, in the run's folder."""

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
    """The weights at the end of a run's warm-up, in the run's folder."""
    from preln.fairseq_plugin.translation import AFTER_WARMUP_WEIGHTS

    return KeptWeights(training_of(run, prepared, folder), AFTER_WARMUP_WEIGHTS, run.settings.warmup)


def trained(run: Run, prepared: Path, folder: Path) -> TrainedModel:
    """A run's model from its newest checkpoint; the run's folder is `folder`.

    Raises:
        PrelnError: if the run has no weights on this machine, or the prepared corpus is missing or a different one.
    """
    prepared_text.require_stages(prepared, "corpus.json")
    prepared_text.require_parallel(prepared)
    model = TrainedModel.of(training_of(run, prepared, folder), prepared)
    if model.moment.whole_epochs < run.settings.epochs:
        logger.warning("%s: trained for %d of %d epochs", run.id, model.moment.whole_epochs, run.settings.epochs)
    return model


def tested(folder: Path, epoch: int) -> list[str] | None:
    """The test set's translations after an epoch, as scored in the run's records; None if they are missing or
    damaged."""
    state = RunState(folder / "state" / read_or_nothing(folder / recording.RUN).get("state", ""))
    if not has_translations(state, "test", epoch, read_epochs(state).get(epoch, {})):
        return None
    return state.translations("test", epoch).read_text(encoding="utf-8").splitlines()


def recorded_epochs(state: RunState) -> int:
    """The epoch up to which a state's record is complete, including translations."""
    record = read_epochs(state)

    def is_whole(epoch: int) -> bool:
        return epoch in record and all(
            has_translations(state, subset, epoch, record[epoch]) for subset in ("valid", "test")
        )

    return next(epoch for epoch in itertools.count() if not is_whole(epoch + 1))


def train_run(study: Study, run: Run, prepared: Path, folder: Path) -> None:
    """Train `run` on the prepared corpus, a folder with text/, bpe/ and binary/, and write its records to `folder`,
    whose state/ is always kept, and continued from.

    Raises:
        PrelnError: if the run cannot be trained on this machine, or cannot continue from its state.
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
    """Write run.json, curve.csv and metrics.json from the state of a finished training.

    Raises:
        PrelnError: if an epoch is missing from its record.
    """
    record = read_epochs(state)
    if diverged := state.divergence():
        diverged["epoch"] = max(record, default=0) + 1
    else:
        state.require_recorded("epochs", range(1, run.settings.epochs + 1), record)
    corpus = prepared_text.record(prepared)
    baseline = of_prepared(prepared, corpus["languages"]["target"], run.settings.label_smoothing)
    origin = {**state.origin(study, run.id, run.identity), "corpus": corpus}
    values = {**metrics(run, record, diverged), "constant_guess": baseline and round(baseline, 4)}
    records.write(state, origin, curve(record), values)


def metrics(run: Run, record: dict[int, dict[str, Any]], diverged: dict[str, Any] | None) -> dict[str, Any]:
    """A run's results, with how BLEU was computed, and the seconds for each epoch's translations (None in records from
    before these were kept)."""
    last = record[max(record)] if record else {}
    bleu = {
        "tokenised": last.get("valid_tokenised_signature"),
        "sacrebleu": last.get("valid_sacrebleu_signature"),
        "chrf": last.get("valid_chrf_signature"),
        "beam": run.settings.beam,
        "length_penalty": run.settings.length_penalty,
        "sentences": {"valid": last.get("valid_sentences"), "test": last.get("test_sentences")},
        "seconds": [_translation_seconds(epoch) for epoch in record.values()],
    }
    points, parameters = recording.rows(curve(record)), last.get("parameters")
    return records.metrics(run.id, points, parameters, diverged, {"epochs": len(points)}, {"bleu": bleu})


def _translation_seconds(epoch: dict[str, Any]) -> float | None:
    """The seconds of an epoch's translations and their scores, if recorded."""
    seconds = [epoch[name] for name in ("valid_seconds", "test_seconds") if name in epoch]
    return round(sum(seconds), 2) if len(seconds) == 2 else None
