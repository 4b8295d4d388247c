"""Start fairseq's training of a run, or take it up from its newest checkpoint."""

from __future__ import annotations

import logging
import pickle
import re
from argparse import Namespace
from pathlib import Path
from typing import Any

import torch
from fairseq import options, utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.distributed import utils as distributed
from fairseq_cli.train import main as fairseq_main

from preln.config import Execution, Precision
from preln.errors import PrelnError
from preln.fairseq_plugin.divergence import progress
from preln.fairseq_plugin.options import USER_DIR
from preln.files import write_json

logger = logging.getLogger(__name__)


class CheckpointRefused(PrelnError):
    """A checkpoint that holds something other than numbers and settings."""


class MachineRefused(PrelnError):
    """A machine without what the study asks for."""


def train(arguments: list[str], precision: Precision, state: Path, how: Execution) -> None:
    """Train the run until its end, or until it diverges.

    Args:
        arguments: the run as fairseq's options.
        precision: of the run.
        state: folder of checkpoints, `record.jsonl` and `training.log`; training continues from what is there. A
            training that diverges leaves `diverged.json`.
        how: cores, GPUs and intervals.

    Raises:
        MachineRefused: if GPUs are asked for that are not there.
        CheckpointRefused: if the checkpoint to continue from is not plain numbers and settings.
    """
    require_gpus(how)
    _allow_settings_in_checkpoints()
    if checkpoint := newest_checkpoint(state / "checkpoints"):
        arguments = [*arguments, "--restore-file", str(checkpoint)]
    cfg = configuration(arguments, precision)
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
    # checkpoint<epoch>.pt, or checkpoint_<epoch>_<update>.pt
    numbers = {path: [int(n) for n in re.findall(r"\d+", path.stem)] for path in folder.glob("checkpoint*.pt")}
    for path in sorted((path for path in numbers if numbers[path]), key=lambda path: numbers[path], reverse=True):
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
