"""Start fairseq's training of a run, or continue it from its newest checkpoint."""

from __future__ import annotations

import logging
import math
import os
import re
import signal
import socket
import subprocess
import sys
import time
from argparse import Namespace
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import torch
from fairseq import options, utils
from fairseq.checkpoint_utils import save_checkpoint
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.distributed import utils as distributed
from fairseq_cli.train import main as fairseq_main

from preln import libraries
from preln.config import Execution, Precision
from preln.errors import PrelnError
from preln.fairseq_plugin.checkpoints import allow_settings, flush_newest, place_of, quarantine_damaged
from preln.fairseq_plugin.interruption import interruption
from preln.fairseq_plugin.options import EVENT_FILES, USER_DIR
from preln.fairseq_plugin.recorded_task import position
from preln.fairseq_plugin.worker import STARTED_BY
from preln.fused import memory, native
from preln.records.files import not_written, read_sealed, write_json, write_sealed
from preln.training.interruption import Interrupted, handled
from preln.training.state import RunState

logger = logging.getLogger(__name__)

# fairseq also raises the error of a checkpoint that cannot be written, which is reported in a line.
logging.getLogger("fairseq.checkpoint_utils").addFilter(lambda record: not record.getMessage().startswith("Traceback"))

LOOK_SECONDS = 0.2
ASSIGNMENT = "assignment.json"
STOPPED = "stopped.json"
"""The file in the state that holds the update after which a training stopped on a signal."""


def train(arguments: list[str], precision: Precision, state: RunState, execution: Execution) -> None:
    """Train the run that fairseq's options describe until its end, or until it diverges, which is marked in the state
    that it continues from.

    Raises:
        CheckpointRefused: if the checkpoint to continue from holds more than numbers and settings.
        Interrupted: if the process was stopped by SIGTERM or SIGUSR1.
        PrelnError: if the disk fails, or is full or read-only (all files written before are whole), if one of several
            processes failed, or if event files are requested and TensorBoard is not installed.
    """
    folder = state.folder
    (folder / STOPPED).unlink(missing_ok=True)
    # By default, fairseq would look for a checkpoint of its own.
    checkpoint = quarantine_damaged(state)
    arguments = [*arguments, "--restore-file", str(checkpoint or os.devnull)]
    if "--tensorboard-logdir" in arguments:
        _purge_events(folder, checkpoint)
    if execution.workers == 1:
        work(arguments, precision, str(folder), execution.cpus)
    else:
        assignment = {"arguments": arguments, "precision": precision, "folder": str(folder), "cpus": execution.cpus}
        _work_together(assignment, execution)
    (state.checkpoints / "crash.pt").unlink(missing_ok=True)
    flush_newest(state)
    if (folder / STOPPED).exists():
        update = read_sealed(folder / STOPPED)["update"]
        raise Interrupted(
            f"{folder}: stopped on request after update {update}, with a checkpoint; run the same command to continue"
        )


def _purge_events(state: Path, checkpoint: Path | None) -> None:
    """Purge from TensorBoard, whose event files fairseq itself writes, the values that the last attempt logged and the
    next one computes again, from an intact checkpoint, or from the beginning.

    Raises:
        PrelnError: if TensorBoard is not installed.
    """
    # TensorBoard is an optional extra.
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        reason = libraries.missing(error) or error
        raise PrelnError(f"execution.tensorboard: {reason}; or set it to false") from error
    updates, inside_epoch = place_of(checkpoint) if checkpoint else (0, False)
    # A training that is stopped inside an epoch logs, after its checkpoint, the means over the part of the epoch so
    # far, in the folder `train`; at the end of the epoch it logs those over the whole of it.
    for part in (state / EVENT_FILES).glob("*"):
        purge = updates if inside_epoch and part.name == "train" else updates + 1
        SummaryWriter(str(part), purge_step=purge).close()


def work(arguments: list[str], precision: Precision, folder: str, cpus: int, is_one_of_several: bool = False) -> None:
    """Train in this process, alone or as one of several; a divergence ends the training and is recorded. The folder is
    that of the state, and the cores are those of each process.

    Raises:
        PrelnError: if the disk fails, or is full or read-only; all files written before are whole.
    """
    state = Path(folder)
    if is_one_of_several:
        rank, device = os.environ["RANK"], os.environ["LOCAL_RANK"]
        arguments = [*arguments, "--distributed-init-method", "env://", "--distributed-no-spawn"]
        arguments += ["--distributed-rank", rank, "--device-id", device]
    cfg = configuration(arguments, precision)
    torch.set_num_threads(cpus)
    set_up_cuda()
    memory.keep()
    if "--cpu" in arguments:
        if line := native.fallback():
            logger.warning(line)
        logger.info("%d thread(s), loops: %s", cpus, native.loops())
    allow_settings()
    try:
        # Without checkpoints, there is nothing to save at a signal.
        with nullcontext() if cfg.checkpoint.no_save else interruption.heeded(cfg):
            distributed.call_main(cfg, _train, state=RunState(state))
    except FloatingPointError as error:
        # fairseq's message when its processes' gradients differ, possibly because one is not finite.
        if "inconsistent between workers" in str(error) and not re.search(r"= *(nan|inf)", str(error)):
            raise PrelnError(f"{state}: {error}") from error
        logger.warning("diverged at update %d: %s", position.update, error)
        if distributed.is_master(cfg.distributed_training):
            RunState(state).note_divergence(position.update, str(error))
    except (OSError, RuntimeError) as error:
        failure = not_written(error, state)
        if not failure:
            raise
        # A read-only disk keeps them.
        with suppress(OSError):
            for partial in RunState(state).checkpoints.glob("*.tmp"):
                partial.unlink()
        raise failure from error
    if interruption.stopped_after is not None and distributed.is_master(cfg.distributed_training):
        write_sealed(state / STOPPED, {"update": interruption.stopped_after})


def _train(cfg: Any, state: RunState) -> None:
    """Run fairseq's training. In a distributed training, each process first reports its GPU: the process that began the
    attempt sees only its own node's."""
    if torch.distributed.is_initialized() and not cfg.common.cpu:
        gpus = [""] * distributed.get_global_world_size()
        torch.distributed.all_gather_object(gpus, torch.cuda.get_device_name())
        if distributed.get_global_rank() == 0:
            state.note_gpus(gpus)
    # fairseq would copy each checkpoint with the best loss so far, which nothing reads; no loss is better than -inf.
    save_checkpoint.best = -math.inf
    fairseq_main(cfg)


def _work_together(assignment: dict[str, Any], execution: Execution) -> None:
    """Train in several processes on this machine or on several nodes.

    Raises:
        PrelnError: if one of them fails.
    """
    description = Path(assignment["folder"]) / ASSIGNMENT
    write_json(description, assignment)
    with socket.create_server(("", 0)) as free:
        port = free.getsockname()[1]
    # Some schedulers set these in each container, with values unrelated to our processes.
    environment = {
        name: value for name, value in os.environ.items() if name not in ("RANK", "LOCAL_RANK", "WORLD_SIZE")
    }
    environment |= {"MASTER_ADDR": socket.gethostname(), "MASTER_PORT": str(port)}
    # Without -P, modules of the folder in which Snakemake runs would be imported in place of Python's own.
    command = [sys.executable, "-P", "-m", "preln.fairseq_plugin.worker", str(description)]
    processes: list[subprocess.Popen[bytes]] = []

    def forward_signal(number: int, frame: object) -> None:
        # The signal may not have reached the children, which must save and end first. srun would kill them on SIGTERM.
        for process in processes:
            process.send_signal(signal.SIGUSR1)

    with handled(forward_signal):
        try:
            if execution.nodes > 1:
                processes.append(subprocess.Popen([*_srun(execution), *command], env=environment))
            else:
                environment |= {"MASTER_ADDR": "127.0.0.1", "WORLD_SIZE": str(execution.workers)}
                environment[STARTED_BY] = str(os.getpid())
                for rank in map(str, range(execution.workers)):
                    ranks = {"RANK": rank, "LOCAL_RANK": rank}
                    processes.append(subprocess.Popen(command, env={**environment, **ranks}))
            while any(process.poll() is None for process in processes) and not any(
                process.poll() for process in processes
            ):
                time.sleep(LOOK_SECONDS)
            # If one fails, the others would wait for it.
            failed = [process for process in processes if process.poll()]
        finally:
            for process in processes:
                process.kill()
                process.wait()
    if failed:
        raise PrelnError(f"{description.parent}: one of its {execution.workers} processes failed; see its output above")


def _srun(execution: Execution) -> list[str]:
    """Slurm's command that starts the processes on each node, one for each GPU if there are GPUs."""
    return [
        "srun",
        f"--nodes={execution.nodes}",
        f"--ntasks={execution.workers}",
        f"--ntasks-per-node={execution.on_each_node}",
        f"--cpus-per-task={execution.cpus}",
        "--overlap",
        "--kill-on-bad-exit=1",
        *((f"--gres=gpu:{execution.on_each_node}",) if execution.gpus else ()),
    ]


def set_up_cuda() -> None:
    """Configure how torch computes on GPUs, in trainings, translations and probes."""
    # cuDNN's attention, the first choice on some GPUs, plans for each new shape, and most batches have a new shape.
    torch.backends.cuda.enable_cudnn_sdp(False)
    # Matrix products of fp32 in fp32 and not TF32: torch's default, which NVIDIA's containers change by an environment
    # variable.
    torch.set_float32_matmul_precision("highest")


def configuration(arguments: list[str], precision: Precision) -> Any:
    """fairseq's configuration for a command line."""
    # fairseq reads --user-dir from the process's own command line; it must be imported before ours is parsed.
    utils.import_user_module(Namespace(user_dir=str(USER_DIR)))
    parsed = options.parse_args_and_arch(options.get_training_parser(), arguments)
    cfg = convert_namespace_to_omegaconf(parsed)
    # fairseq's option --bf16 also asks for a TPU, which its trainer does not need.
    cfg.common.bf16 = precision == "bf16"
    return cfg
