"""Train or continue a pre-training run, and write its run.json, curve.csv and metrics.json."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from preln.config import Study
from preln.pretraining.runs import PretrainingRun
from preln.records.recording import checksums
from preln.training import prepared_text
from preln.training.state import RunState
from preln.training.training import KeptWeights, TrainedModel, Training
from preln.training.validations import recorded_updates, write_records

logger = logging.getLogger(__name__)


def state_of(run: PretrainingRun, prepared: Path, folder: Path) -> RunState:
    """A run's state in its folder; its name depends on the text, the BPE model and the dictionary."""
    identity = {**run.identity, "text": checksums(prepared_text.record(prepared))}
    return RunState.of(identity, [prepared / "bpe" / "bpe.model", prepared / "binary" / "dict.txt"], folder)


def training_of(run: PretrainingRun, checkpoints: Sequence[int], prepared: Path, folder: Path) -> Training:
    """A run's training on the prepared text, in the run's folder; it keeps the weights after the updates in
    `checkpoints`."""

    def options(state: Path) -> list[str]:
        # Importing fairseq takes seconds, which the other commands should not wait for.
        from preln.fairseq_plugin import options

        return options.pretraining(run.settings, prepared / "binary", state, checkpoints, run.execution)

    return Training(state_of(run, prepared, folder), options, run.settings.precision, run.execution)


def weights_after(update: int, run: PretrainingRun, prepared: Path, folder: Path) -> KeptWeights:
    """A run's weights after an update; the run's folder is `folder`."""
    from preln.fairseq_plugin.masked_lm import weights_name

    return KeptWeights(training_of(run, [update], prepared, folder), weights_name(update), update)


def trained(run: PretrainingRun, prepared: Path, folder: Path) -> TrainedModel:
    """A run's model from its newest checkpoint; the run's folder is `folder`.

    Raises:
        PrelnError: if the run has no weights on this machine, or the prepared text is missing or a different one.
    """
    prepared_text.require_stages(prepared, "text.json")
    prepared_text.require_english(prepared)
    model = TrainedModel.of(training_of(run, [], prepared, folder), prepared)
    if model.moment.update < run.settings.updates:
        logger.warning("%s: trained for %d of %d updates", run.id, model.moment.update, run.settings.updates)
    return model


def pretrain_run(study: Study, run: PretrainingRun, prepared: Path, folder: Path) -> None:
    """Train `run` on the prepared text, a folder with text/, bpe/ and binary/, and write its records to `folder`, whose
    state/ is always kept, and continued from.

    Raises:
        PrelnError: if the run cannot be trained on this machine, or cannot continue from its state.
    """
    from preln.fairseq_plugin.checkpoints import name_by_update

    prepared_text.require_english(prepared)
    checkpoints = study.pretraining.checkpoints if study.pretraining else ()
    training, every = training_of(run, checkpoints, prepared, folder), run.settings.validate_every
    with training.state.exclusive():
        # A kill may have come between writing a checkpoint and renaming it.
        name_by_update(training.state.checkpoints)
        training.go_on(
            "updates",
            lambda: recorded_updates(run.settings, training.state),
            lambda moment: moment.update // every * every,
            kept=[weights_after(update, run, prepared, folder) for update in checkpoints],
            # fairseq would train a finished run for one more update.
            end=run.settings.updates,
        )
        write_records(study, run, prepared, training.state)
