"""A run's settings as the options of fairseq's training.

Settings enter fairseq only here. Its own components have an option for each setting. Our tasks and models read the
settings of the run from `--run-settings`, and our schedule its own from `--schedule`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from preln import schedules
from preln.config import Execution, GridPoint, Precision, PretrainingSettings, RunSettings
from preln.config.base import RECORDED
from preln.fairseq_plugin.interruption import NEVER
from preln.schedules.base import Schedule
from preln.schedules.linear import Linear
from preln.training.state import RunState

USER_DIR = Path(__file__).with_name("preln_user_dir")
EVENT_FILES = "tensorboard"
"""The folder of TensorBoard's event files in a state."""

WARMUP_SHARE = 0.1
"""The share of a fine-tuning's updates in its warm-up, for both placements: BERT's, since the paper gives none."""


def translation(
    settings: RunSettings, binary: Path, references: Path, languages: tuple[str, str], state: Path, execution: Execution
) -> list[str]:
    """The options of a translation run on the binarised corpus in `binary`, from one language to the other, with the
    tokenised text in `references`, against which BLEU is computed."""
    source, target = languages
    return [
        str(binary),
        *_arguments(
            task="preln_translation",
            source_lang=source,
            target_lang=target,
            references=references,
            arch="preln_transformer",
            encoder_layers=settings.encoder_layers,
            decoder_layers=settings.decoder_layers,
            **{f"{stack}_embed_dim": settings.width for stack in ("encoder", "decoder")},
            **{f"{stack}_ffn_embed_dim": settings.ffn_width for stack in ("encoder", "decoder")},
            **{f"{stack}_attention_heads": settings.heads for stack in ("encoder", "decoder")},
            decoder_output_dim=settings.width,
            dropout=settings.dropout,
            share_all_embeddings=True,
            criterion="preln_translation_loss",
            label_smoothing=settings.label_smoothing,
            optimizer=f"preln_{settings.optimizer}",
            weight_decay=settings.weight_decay,
            clip_norm=settings.clip_norm,
            max_epoch=settings.epochs,
            max_tokens=settings.batch_tokens,
            seed=settings.seed,
            graphs=execution.graphs,
            valid_subset="valid,test",
            keep_last_epochs=execution.checkpoints,
            # For a training that was stopped inside an epoch.
            keep_interval_updates=1,
        ),
        *_schedule(schedules.of(settings)),
        *(_moments(settings) if settings.optimizer != "sgd" else []),
        *_recorded(settings, RunState(state), execution),
    ]


def pretraining(
    settings: PretrainingSettings, binary: Path, state: Path, keep: Sequence[int], execution: Execution
) -> list[str]:
    """The options of a pre-training run, which keeps the weights after the updates in `keep` in its state."""
    return [
        str(binary),
        *_arguments(
            task="preln_masked_lm",
            keep_weights=",".join(map(str, keep)),
            # Every sequence is the text's next `tokens_per_sample` tokens.
            sample_break_mode="none",
            tokens_per_sample=settings.sequence_length,
            criterion="preln_masked_lm_loss",
            clip_norm=settings.clip_norm,
            max_update=settings.updates,
            batch_size=settings.batch_sequences,
            required_batch_size_multiple=1,
            seed=settings.seed,
            valid_subset="valid",
            validate_interval=NEVER,
            save_interval=NEVER,
            validate_interval_updates=settings.validate_every,
            save_interval_updates=settings.validate_every,
            keep_checkpoints=execution.checkpoints,
        ),
        *_bert(settings),
        *_adam(settings, settings.learning_rate, settings.warmup, settings.updates),
        *_recorded(settings, RunState(state), execution),
    ]


def finetuning(
    settings: PretrainingSettings,
    point: GridPoint,
    seed: int,
    updates: int,
    weights: Path,
    binary: Path,
    state: Path,
    execution: Execution,
) -> list[str]:
    """The options of a fine-tuning of a pre-training run's weights on the binarised task in `binary`, at a point of the
    grid, whose epochs have so many updates; `seed` is that of the head, of dropout and of the order of the pairs."""
    return [
        str(binary),
        *_arguments(
            task="preln_sentence_prediction",
            weights=weights,
            num_classes=2,
            # <s> first sentence </s> </s> second sentence </s>, as in RoBERTa, with the ids of fairseq's dictionary.
            init_token=0,
            separator_token=2,
            criterion="sentence_prediction",
            report_acc_and_f1=True,
            clip_norm=settings.clip_norm,
            max_epoch=point.epochs,
            max_update=updates,
            batch_size=point.batch_size,
            required_batch_size_multiple=1,
            seed=seed,
            valid_subset="valid",
            # A single validation at the end, where in fp16 fewer updates may have been made.
            validate_interval=point.epochs,
            no_save=True,
            save_dir=state,
            log_format="none",
        ),
        *_bert(settings),
        *_adam(settings, point.learning_rate, round(WARMUP_SHARE * updates), updates),
        *_run(settings, state),
        # A collator starts again in each epoch, for which these are too short.
        *_process(1, settings.precision, execution.alone, collators=0),
    ]


def _arguments(**options: object) -> list[str]:
    """Command-line options by name. True is a flag without a value; None and False leave the option out."""
    arguments: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        arguments.append(f"--{name.replace('_', '-')}")
        if value is not True:
            arguments.append(str(value))
    return arguments


def _run(settings: RunSettings | PretrainingSettings, state: Path) -> list[str]:
    """The options of our own tasks and models: the run's settings and the folder of its state."""
    return _arguments(run_settings=settings.model_dump_json(context=RECORDED), state=state)


def _bert(settings: PretrainingSettings) -> list[str]:
    return _arguments(
        arch="preln_bert",
        encoder_layers=settings.layers,
        encoder_embed_dim=settings.width,
        encoder_ffn_embed_dim=settings.ffn_width,
        encoder_attention_heads=settings.heads,
        dropout=settings.dropout,
        attention_dropout=settings.dropout,
        max_positions=settings.sequence_length,
    )


def _moments(settings: RunSettings | PretrainingSettings) -> list[str]:
    return _arguments(adam_betas=f"({settings.beta1}, {settings.beta2})", adam_eps=settings.epsilon)


def _adam(settings: PretrainingSettings, peak: float, warmup: int, updates: int) -> list[str]:
    schedule = _schedule(Linear(peak, warmup, updates))
    return [*_arguments(optimizer="preln_adam", weight_decay=settings.weight_decay), *_moments(settings), *schedule]


def _schedule(schedule: Schedule) -> list[str]:
    """A schedule, and its peak rate, with which fairseq's optimizers begin."""
    settings = json.dumps({"name": schedule.name, **asdict(schedule)})
    return _arguments(lr=schedule.learning_rate, lr_scheduler="preln_schedule", schedule=settings)


def _recorded(settings: RunSettings | PretrainingSettings, state: RunState, execution: Execution) -> list[str]:
    """The run, the files of checkpoints, the log and the event files, and the process."""
    output = _arguments(
        save_dir=state.checkpoints,
        no_last_checkpoints=True,
        log_format="json",
        log_file=state.log,
        log_interval=execution.log_interval,
        tensorboard_logdir=state.folder / EVENT_FILES if execution.tensorboard else None,
    )
    process = _process(settings.accumulate, settings.precision, execution, execution.collators)
    return [*_run(settings, state.folder), *output, *process]


def _process(accumulate: int, precision: Precision, execution: Execution, collators: int) -> list[str]:
    """The hardware and the precision; bf16 is set by the launch."""
    on_cpu = execution.gpus == 0
    return _arguments(
        user_dir=USER_DIR,
        update_freq=accumulate // execution.workers,
        num_workers=collators,
        # A training that ends inside an epoch would kill fairseq's thread that prepares batches, and crash.
        data_buffer_size=0,
        distributed_world_size=execution.workers,
        # Every process reads the checkpoint: torch refuses to unpickle one that another process broadcasts.
        load_checkpoint_on_all_dp_ranks=True,
        cpu=on_cpu,
        # fairseq passes a GPU's number to torch's own backend, and a CPU has none.
        ddp_backend="legacy_ddp" if on_cpu else None,
        distributed_backend="gloo" if on_cpu else None,
        fp16=precision == "fp16",
    )
