"""Start fairseq's training of a run, or take it up from its newest checkpoint."""

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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq import options, utils
from fairseq.checkpoint_utils import save_checkpoint
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.distributed import utils as distributed
from fairseq_cli.train import main as fairseq_main

from preln.config import Execution, Precision
from preln.errors import PrelnError
from preln.fairseq_plugin import event_files
from preln.fairseq_plugin.checkpoints import allow_settings, flush_newest, newest_checkpoint
from preln.fairseq_plugin.divergence import position
from preln.fairseq_plugin.interruption import SIGNALS, interruption
from preln.fairseq_plugin.options import USER_DIR
from preln.fairseq_plugin.recorded_task import rank_and_world
from preln.fairseq_plugin.worker import STARTED_BY
from preln.fused import memory, native
from preln.records.files import not_written, read_sealed, write_json, write_sealed
from preln.training.state import RunState

logger = logging.getLogger(__name__)


def _is_no_traceback(record: logging.LogRecord) -> bool:
    """What of fairseq's log of checkpoints is kept: of one that cannot be written it logs the traceback, and raises the
    error as well, which is told in a line."""
    return not record.getMessage().startswith("Traceback")


logging.getLogger("fairseq.checkpoint_utils").addFilter(_is_no_traceback)


class Interrupted(PrelnError):
    """A training that was told to stop, and did so with a checkpoint."""


class WorkerFailed(PrelnError):
    """A process of a training that several share failed."""


@dataclass(frozen=True)
class Assignment:
    """A training as its processes are told of it: fairseq's options, the precision, the folder of the state, and the
    cores of each process."""

    arguments: list[str]
    precision: Precision
    state: str
    cpus: int


LOOK_SECONDS = 0.2
ASSIGNMENT = "assignment.json"
STOPPED = "stopped.json"
"""The file in the state of a training that was told to stop: after which update it did."""


def train(arguments: list[str], precision: Precision, state: RunState, execution: Execution) -> None:
    """Train the run until its end, or until it diverges.

    Args:
        arguments: the run as fairseq's options.
        precision: of the run.
        state: the training continues from what is there, and leaves its mark there if it diverges.
        execution: cores, GPUs and intervals.

    Raises:
        CheckpointRefused: if the checkpoint to continue from is not plain numbers and settings.
        EventFilesRefused: if it is to write event files, and TensorBoard is not installed.
        Interrupted: if the process was told to stop by SIGTERM or SIGUSR1.
        NotWritten: if the disk is full or read-only; what was written before is whole.
        WorkerFailed: if one of several processes failed.
    """
    folder = state.folder
    (folder / STOPPED).unlink(missing_ok=True)
    # Of itself, fairseq would look for a checkpoint of its own.
    checkpoint = newest_checkpoint(state.checkpoints)
    arguments = [*arguments, "--restore-file", str(checkpoint or os.devnull)]
    event_files.prepare(folder, checkpoint, wanted="--tensorboard-logdir" in arguments)
    assignment = Assignment(arguments, precision, str(folder), execution.cpus)
    if execution.workers == 1:
        work(assignment)
    else:
        _work_together(assignment, execution)
    (state.checkpoints / "crash.pt").unlink(missing_ok=True)
    flush_newest(state)
    if (folder / STOPPED).exists():
        update = read_sealed(folder / STOPPED)["update"]
        raise Interrupted(
            f"{folder}: told to stop, and did so after update {update}, with a checkpoint; the same command goes on "
            "from there"
        )


def work(assignment: Assignment, is_one_of_several: bool = False) -> None:
    """Train in this process, alone or as one of several; a divergence ends the training and is written down.

    Raises:
        NotWritten: if the disk is full or read-only; what was written before is whole.
    """
    state, arguments = Path(assignment.state), assignment.arguments
    if is_one_of_several:
        arguments = [
            *arguments,
            *("--distributed-init-method", "env://", "--distributed-no-spawn"),
            *("--distributed-rank", os.environ["RANK"], "--device-id", os.environ["LOCAL_RANK"]),
        ]
    cfg = configuration(arguments, assignment.precision)
    torch.set_num_threads(assignment.cpus)
    set_up_cuda()
    memory.keep()
    if "--cpu" in arguments:
        loops = f"compiled loops for {native.LEVEL}" if native.compiled() else "PyTorch alone: no loops were compiled"
        logger.info("%d thread(s), %s", assignment.cpus, loops)
    allow_settings()
    try:
        # A training that keeps no checkpoints has nothing to save.
        with nullcontext() if cfg.checkpoint.no_save else interruption.heeded(cfg):
            distributed.call_main(cfg, _train, state=RunState(state))
    except FloatingPointError as error:
        # fairseq's message when its processes' gradients differ, which may be for one that is not finite.
        if "inconsistent between workers" in str(error) and not re.search(r"= *(nan|inf)", str(error)):
            raise WorkerFailed(f"{state}: {error}") from error
        logger.warning("diverged at update %d: %s", position.update, error)
        if distributed.is_master(cfg.distributed_training):
            RunState(state).note_divergence(position.update, str(error))
    except (OSError, RuntimeError) as error:
        found = not_written(error, state)
        if not found:
            raise
        # On a read-only disk they stay.
        with suppress(OSError):
            for partial in RunState(state).checkpoints.glob("*.tmp"):
                partial.unlink()
        raise found from error
    if interruption.stopped_after is not None and distributed.is_master(cfg.distributed_training):
        write_sealed(state / STOPPED, {"update": interruption.stopped_after})


def _train(cfg: Any, state: RunState) -> None:
    """fairseq's training. Of one that several processes share, each says first on which GPU it computes: the process
    that began the attempt sees those of its own node alone."""
    if torch.distributed.is_initialized() and not cfg.common.cpu:
        rank, world = rank_and_world()
        gpus = [""] * world
        torch.distributed.all_gather_object(gpus, torch.cuda.get_device_name())
        if rank == 0:
            state.note_gpus(gpus)
    # fairseq copies each checkpoint that has the best loss so far. Nothing here reads the copy, and no loss is better
    # than this.
    save_checkpoint.best = -math.inf
    fairseq_main(cfg)


def _work_together(assignment: Assignment, execution: Execution) -> None:
    """Train in several processes, of this machine or of several nodes.

    Raises:
        WorkerFailed: if one of them fails.
    """
    description = Path(assignment.state) / ASSIGNMENT
    write_json(description, asdict(assignment))
    with socket.create_server(("", 0)) as free:
        port = free.getsockname()[1]
    # Some schedulers set these in each container; they are not of our processes.
    others = {name: value for name, value in os.environ.items() if name not in ("RANK", "LOCAL_RANK", "WORLD_SIZE")}
    environment = {**others, "MASTER_ADDR": socket.gethostname(), "MASTER_PORT": str(port)}
    command = [sys.executable, "-m", "preln.fairseq_plugin.worker", str(description)]
    processes: list[subprocess.Popen[bytes]] = []

    def tell(number: int, frame: object) -> None:
        # Whoever tells this process to stop may not tell its children, who must save and end first. Told by SIGTERM,
        # srun would kill them.
        for process in processes:
            process.send_signal(signal.SIGUSR1)

    before = {number: signal.signal(number, tell) for number in SIGNALS}
    try:
        if execution.nodes > 1:
            processes.append(subprocess.Popen([*_srun(execution), *command], env=environment))
        else:
            environment |= {"MASTER_ADDR": "127.0.0.1", "WORLD_SIZE": str(execution.workers)}
            environment[STARTED_BY] = str(os.getpid())
            for rank in map(str, range(execution.workers)):
                own = {**environment, "RANK": rank, "LOCAL_RANK": rank}
                processes.append(subprocess.Popen(command, env=own))
        while any(process.poll() is None for process in processes) and not any(process.poll() for process in processes):
            time.sleep(LOOK_SECONDS)
        # Without one of them, the others would wait for it.
        failed = [process for process in processes if process.poll()]
    finally:
        for process in processes:
            process.kill()
            process.wait()
        for number, handler in before.items():
            signal.signal(number, handler)
    if failed:
        raise WorkerFailed(
            f"{assignment.state}: one of its {execution.workers} processes failed; what it said is above"
        )


def _srun(execution: Execution) -> list[str]:
    """Slurm's command that starts a process on each node for each of its GPUs, or for each of its processes."""
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
    """Say how torch computes on GPUs: in trainings, in the translating that is a part of them, and in probes."""
    # cuDNN's attention, the first choice on some GPUs, plans for each new shape, and most batches have one of their
    # own.
    torch.backends.cuda.enable_cudnn_sdp(False)
    # Where numbers are fp32, products of matrices are too, and not TF32: torch's default, which NVIDIA's containers
    # change by an environment variable.
    torch.set_float32_matmul_precision("highest")


def configuration(arguments: list[str], precision: Precision) -> Any:
    """fairseq's configuration of the training that a command line asks for."""
    # fairseq looks for --user-dir on the process's own command line; its parts must be known before it parses ours.
    utils.import_user_module(Namespace(user_dir=str(USER_DIR)))
    parsed = options.parse_args_and_arch(options.get_training_parser(), arguments)
    cfg = convert_namespace_to_omegaconf(parsed)
    # fairseq's option --bf16 also asks for a TPU; its trainer does without one.
    cfg.common.bf16 = precision == "bf16"
    return cfg
