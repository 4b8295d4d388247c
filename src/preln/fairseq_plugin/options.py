"""A run's settings as the options of fairseq's training.

This is the one place where settings enter fairseq. Its own parts have an option for each setting; the parts that are
ours (tasks, models and schedules) have the run's settings as they are, by `--run-settings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from preln.config import Execution, GridPoint, Precision, PretrainingSettings, RunSettings
from preln.fairseq_plugin.interruption import NEVER
from preln.training.state import RunState

USER_DIR = Path(__file__).with_name("preln_user_dir")
EVENT_FILES = "tensorboard"
"""The folder of a state in which TensorBoard's event files are."""

WARMUP_SHARE = 0.1
"""Share of a fine-tuning's updates that warm up, with both placements: BERT's own, for the paper does not say."""


def translation(
    settings: RunSettings, binary: Path, references: Path, languages: tuple[str, str], state: Path, execution: Execution
) -> list[str]:
    """The options of a translation run.

    Args:
        settings: the run.
        binary: folder of fairseq's binarised corpus.
        references: folder of the tokenised text that BLEU is computed against.
        languages: source and target.
        state: folder of the run's state.
        execution: cores, GPUs and intervals.
    """
    source, target = languages
    moments = _moments(settings.beta1, settings.beta2, settings.epsilon)
    optimizer = {
        "adam": ["--optimizer", "preln_adam", *moments],
        "radam": ["--optimizer", "preln_radam", *moments],
        "sgd": ["--optimizer", "preln_sgd"],
    }[settings.optimizer]
    return [
        str(binary),
        *("--task", "preln_translation"),
        *("--source-lang", source, "--target-lang", target),
        *_ours(settings, state),
        *("--references", str(references)),
        *("--arch", "preln_transformer"),
        *("--encoder-layers", str(settings.encoder_layers)),
        *("--decoder-layers", str(settings.decoder_layers)),
        *("--encoder-embed-dim", str(settings.width)),
        *("--decoder-embed-dim", str(settings.width)),
        *("--decoder-output-dim", str(settings.width)),
        *("--encoder-ffn-embed-dim", str(settings.ffn_width)),
        *("--decoder-ffn-embed-dim", str(settings.ffn_width)),
        *("--encoder-attention-heads", str(settings.heads)),
        *("--decoder-attention-heads", str(settings.heads)),
        *("--dropout", str(settings.dropout)),
        "--share-all-embeddings",
        *("--criterion", "preln_translation_loss"),
        *("--label-smoothing", str(settings.label_smoothing)),
        *optimizer,
        *("--weight-decay", str(settings.weight_decay)),
        *("--clip-norm", str(settings.clip_norm)),
        *("--lr", str(settings.learning_rate)),
        *("--lr-scheduler", "preln_schedule"),
        *("--max-epoch", str(settings.epochs)),
        *("--max-tokens", str(settings.batch_tokens)),
        *("--seed", str(settings.seed)),
        *("--valid-subset", "valid,test"),
        *("--keep-last-epochs", str(execution.checkpoints)),
        # Of a training that was told to stop inside an epoch.
        *("--keep-interval-updates", "1"),
        *_kept(RunState(state), execution),
        *_process(settings.accumulate, settings.precision, execution.workers, execution.collators, execution),
    ]


def pretraining(
    settings: PretrainingSettings, binary: Path, state: Path, keep: Sequence[int], execution: Execution
) -> list[str]:
    """The options of a pre-training run; the weights after the updates in `keep` are kept in its state."""
    every = str(settings.validate_every)
    return [
        str(binary),
        *("--task", "preln_masked_lm"),
        *_ours(settings, state),
        *("--keep-weights", ",".join(map(str, keep))),
        # Every sequence is the next so many tokens of the text.
        *("--sample-break-mode", "none"),
        *("--tokens-per-sample", str(settings.sequence_length)),
        *_bert(settings),
        *("--criterion", "preln_masked_lm_loss"),
        *("--optimizer", "preln_adam", *_moments(settings.beta1, settings.beta2, settings.epsilon)),
        *("--weight-decay", str(settings.weight_decay)),
        *("--clip-norm", str(settings.clip_norm)),
        *_linear(settings.learning_rate, settings.warmup, settings.updates),
        *("--max-update", str(settings.updates)),
        *("--batch-size", str(settings.batch_sequences)),
        *("--required-batch-size-multiple", "1"),
        *("--seed", str(settings.seed)),
        *("--valid-subset", "valid"),
        *("--validate-interval", str(NEVER), "--save-interval", str(NEVER)),
        *("--validate-interval-updates", every, "--save-interval-updates", every),
        *("--keep-checkpoints", str(execution.checkpoints)),
        *_kept(RunState(state), execution),
        *_process(settings.accumulate, settings.precision, execution.workers, execution.collators, execution),
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
    """The options of one fine-tuning.

    Args:
        settings: of the pre-training run, whose model it is.
        point: of the grid.
        seed: of the head, of dropout and of the order of the pairs.
        updates: that the point's epochs are.
        weights: file of the model's weights.
        binary: folder of the binarised task.
        state: folder where the scores go.
        execution: cores and GPUs.
    """
    return [
        str(binary),
        *("--task", "preln_sentence_prediction"),
        *_ours(settings, state),
        *("--weights", str(weights)),
        *("--num-classes", "2"),
        # <s> first sentence </s> </s> second sentence </s>, as in RoBERTa; the ids are those of fairseq's dictionary.
        *("--init-token", "0", "--separator-token", "2"),
        *_bert(settings),
        *("--criterion", "sentence_prediction", "--report-acc-and-f1"),
        *("--optimizer", "preln_adam", *_moments(settings.beta1, settings.beta2, settings.epsilon)),
        *("--weight-decay", str(settings.weight_decay)),
        *("--clip-norm", str(settings.clip_norm)),
        *_linear(point.learning_rate, round(WARMUP_SHARE * updates), updates),
        *("--max-epoch", str(point.epochs), "--max-update", str(updates)),
        *("--batch-size", str(point.batch_size)),
        *("--required-batch-size-multiple", "1"),
        *("--seed", str(seed)),
        *("--valid-subset", "valid"),
        # The one validation is that of the end, where in fp16 fewer updates may have been made.
        *("--validate-interval", str(point.epochs)),
        "--no-save",
        *("--save-dir", str(state)),
        *("--log-format", "none"),
        # A collator begins anew with each epoch, and these are too short for it.
        *_process(1, settings.precision, 1, 0, execution),
    ]


def _ours(settings: RunSettings | PretrainingSettings, state: Path) -> list[str]:
    """What the parts that are ours are told: the run, and where its state is."""
    return ["--run-settings", settings.model_dump_json(), "--state", str(state)]


def _bert(settings: PretrainingSettings) -> list[str]:
    return [
        *("--arch", "preln_bert"),
        *("--encoder-layers", str(settings.layers)),
        *("--encoder-embed-dim", str(settings.width)),
        *("--encoder-ffn-embed-dim", str(settings.ffn_width)),
        *("--encoder-attention-heads", str(settings.heads)),
        *("--dropout", str(settings.dropout)),
        *("--attention-dropout", str(settings.dropout)),
        *("--max-positions", str(settings.sequence_length)),
    ]


def _moments(beta1: float, beta2: float, epsilon: float) -> list[str]:
    return ["--adam-betas", f"({beta1}, {beta2})", "--adam-eps", str(epsilon)]


def _linear(peak: float, warmup: int, updates: int) -> list[str]:
    return [
        *("--lr", str(peak), "--lr-scheduler", "preln_linear"),
        *("--warmup", str(warmup), "--total-updates", str(updates)),
    ]


def _kept(state: RunState, execution: Execution) -> list[str]:
    """Where checkpoints, the log and the event files go."""
    return [
        *("--save-dir", str(state.checkpoints)),
        "--no-last-checkpoints",
        *("--log-format", "json"),
        *("--log-file", str(state.log)),
        *("--log-interval", str(execution.log_interval)),
        *(("--tensorboard-logdir", str(state.folder / EVENT_FILES)) if execution.tensorboard else ()),
    ]


def _process(accumulate: int, precision: Precision, workers: int, collators: int, execution: Execution) -> list[str]:
    """On what it is computed, and how precisely; bf16 is the launch's."""
    return [
        *("--user-dir", str(USER_DIR)),
        *("--update-freq", str(accumulate // workers)),
        *("--num-workers", str(collators)),
        # fairseq's thread that prepares batches ahead would be killed in their midst by a training that ends inside an
        # epoch, and the process with it.
        *("--data-buffer-size", "0"),
        *("--distributed-world-size", str(workers)),
        # Every process reads the checkpoint itself: torch refuses to unpack what one would send to the others.
        "--load-checkpoint-on-all-dp-ranks",
        *(("--cpu",) if execution.gpus == 0 else ()),
        # To torch's own backend fairseq would give the number of a GPU, and a CPU has none.
        *(("--ddp-backend", "legacy_ddp", "--distributed-backend", "gloo") if execution.gpus == 0 else ()),
        *(("--fp16",) if precision == "fp16" else ()),
    ]
