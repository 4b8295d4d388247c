"""Start fairseq's training of a run, or take it up from its newest checkpoint."""

from __future__ import annotations

import logging
import pickle
from argparse import Namespace
from pathlib import Path
from typing import Any

import torch
from fairseq import options, utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.distributed import utils as distributed
from fairseq_cli.train import main as fairseq_main

from preln.config import Execution, Precision, RunSettings
from preln.errors import PrelnError
from preln.fairseq_plugin.divergence import progress
from preln.files import write_json

USER_DIR = Path(__file__).with_name("preln_user_dir")

logger = logging.getLogger(__name__)


class CheckpointRefused(PrelnError):
    """A checkpoint that holds something other than numbers and settings."""


class MachineRefused(PrelnError):
    """A machine without what the study asks for."""


def train(
    settings: RunSettings, binary: Path, references: Path, languages: tuple[str, str], state: Path, how: Execution
) -> None:
    """Train the run until its last epoch, or until it diverges.

    Args:
        settings: the run.
        binary: folder of fairseq's binarised corpus.
        references: folder of the tokenised text that BLEU is computed against.
        languages: source and target.
        state: folder of checkpoints, translations, `record.jsonl` and `training.log`; training continues from
            what is there. A training that diverges leaves `diverged.json`.
        how: cores, GPUs and intervals.

    Raises:
        MachineRefused: if GPUs are asked for that are not there.
        CheckpointRefused: if the checkpoint to continue from is not plain numbers and settings.
    """
    require_gpus(how)
    _allow_settings_in_checkpoints()
    checkpoint = newest_checkpoint(state / "checkpoints")
    arguments = command_line(settings, binary, references, languages, state, how, checkpoint)
    cfg = configuration(arguments, settings.precision)
    distributed.call_main(cfg, _train, state=str(state), cpus=how.cpus)
    (state / "checkpoints" / "crash.pt").unlink(missing_ok=True)


def require_gpus(how: Execution) -> None:
    """See that the GPUs which the study asks for are there.

    Raises:
        MachineRefused: if they are not.
    """
    if how.gpus > torch.cuda.device_count():
        raise MachineRefused(
            f"the study asks for {how.gpus} GPU(s) a training (execution.gpus), and this machine shows "
            f"{torch.cuda.device_count()}: run it where they are, or set execution.gpus to 0 to train on the CPU"
        )


def _allow_settings_in_checkpoints() -> None:
    """What fairseq puts in a checkpoint beside tensors and plain containers; anything else is refused."""
    torch.serialization.add_safe_globals([Namespace])


def _train(cfg: Any, state: str, cpus: int) -> None:
    """fairseq's training in one process; a divergence ends it and is written down."""
    torch.set_num_threads(cpus)
    _allow_settings_in_checkpoints()
    try:
        fairseq_main(cfg)
    except FloatingPointError as error:
        logger.warning("diverged at update %d: %s", progress.update, error)
        if distributed.is_master(cfg.distributed_training):
            write_json(Path(state) / "diverged.json", {"update": progress.update, "reason": str(error)})


def newest_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint of the folder; a damaged one is passed over, which is logged.

    Raises:
        CheckpointRefused: if the newest whole one holds a foreign object.
    """
    epochs = {int(path.stem.removeprefix("checkpoint")): path for path in folder.glob("checkpoint[0-9]*.pt")}
    for epoch in sorted(epochs, reverse=True):
        path = epochs[epoch]
        try:
            torch.load(path, map_location="cpu", weights_only=True, mmap=True)
            return path
        except pickle.UnpicklingError as error:
            raise CheckpointRefused(
                f"{path}: refused, for it holds more than tensors and settings ({str(error).splitlines()[0]}). "
                "Move it away to continue from the checkpoint before it."
            ) from error
        except (RuntimeError, EOFError, OSError, ValueError) as error:
            logger.warning("%s is damaged (%s); trying the one before it", path, error)
    return None


def configuration(arguments: list[str], precision: Precision) -> Any:
    """fairseq's configuration of the training that a command line asks for."""
    # fairseq looks for --user-dir on the process's own command line; its parts must be known before it parses ours.
    utils.import_user_module(Namespace(user_dir=str(USER_DIR)))
    parsed = options.parse_args_and_arch(options.get_training_parser(), arguments)
    cfg = convert_namespace_to_omegaconf(parsed)
    # fairseq's option --bf16 also asks for a TPU; its trainer does without one.
    cfg.common.bf16 = precision == "bf16"
    return cfg


def command_line(
    settings: RunSettings,
    binary: Path,
    references: Path,
    languages: tuple[str, str],
    state: Path,
    how: Execution,
    checkpoint: Path | None,
) -> list[str]:
    """The options of fairseq's training for a run, one for each setting."""
    source, target = languages
    run_settings = settings.model_dump_json()
    workers = max(how.gpus, 1)
    betas = f"({settings.beta1}, {settings.beta2})"
    moments = ["--adam-betas", betas, "--adam-eps", str(settings.epsilon)]
    optimizer = {
        "adam": ["--optimizer", "adam", *moments],
        "radam": ["--optimizer", "preln_radam", *moments],
        "sgd": ["--optimizer", "sgd", "--momentum", "0"],
    }[settings.optimizer]
    return [
        str(binary),
        *("--user-dir", str(USER_DIR)),
        *("--task", "preln_translation"),
        *("--source-lang", source, "--target-lang", target),
        *("--run-settings", run_settings),
        *("--state", str(state)),
        *("--references", str(references)),
        *("--arch", "preln_transformer"),
        *("--placement", settings.placement),
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
        *("--criterion", "label_smoothed_cross_entropy"),
        *("--label-smoothing", str(settings.label_smoothing)),
        *optimizer,
        *("--weight-decay", str(settings.weight_decay)),
        *("--clip-norm", str(settings.clip_norm)),
        *("--lr", str(settings.learning_rate)),
        *("--lr-scheduler", "preln_schedule"),
        *("--max-epoch", str(settings.epochs)),
        *("--max-tokens", str(settings.batch_tokens)),
        *("--update-freq", str(settings.accumulate // workers)),
        *("--seed", str(settings.seed)),
        *("--valid-subset", "valid,test"),
        *("--save-dir", str(state / "checkpoints")),
        *("--keep-last-epochs", str(how.checkpoints)),
        "--no-last-checkpoints",
        *(("--restore-file", str(checkpoint)) if checkpoint else ()),
        *("--log-format", "json"),
        *("--log-file", str(state / "training.log")),
        *("--log-interval", str(how.log_interval)),
        *("--num-workers", "0"),
        *("--distributed-world-size", str(workers)),
        *(("--cpu",) if how.gpus == 0 else ()),
        *(("--fp16",) if settings.precision == "fp16" else ()),
    ]
