"""How a study is computed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from preln.config.base import Settings

RunsAGpu = Literal[1, 2, 3, 4, 6, 12]
"""How many runs may share a GPU: what divides its locks (`preln.training.machine.PARTS`)."""


class Execution(Settings):
    """How the study is computed. Nothing here changes a number, except rounding and the draws of dropout: they differ
    between a CPU and a GPU, between numbers of processes or GPUs, and with and without graphs."""

    cpus: int = Field(
        1,
        ge=1,
        le=1024,
        description="Cores of each process of a training. Each GPU has one process. With two cores or more, it also "
        "has a second one, which prepares its batches.",
    )
    gpus: int = Field(0, ge=0, le=4096, description="GPUs of one training; 0 trains on the CPU.")
    runs_a_gpu: RunsAGpu = Field(
        1, description="How many trainings of one GPU each share a GPU, on a machine without Slurm."
    )
    graphs: bool = Field(
        False,
        description="Whether a training on one GPU records its passes as CUDA graphs: of a translation run, whose "
        "batches are then packed, or of a language model, which is then compiled. No GPU has run this yet.",
    )
    processes: int = Field(1, ge=1, le=4096, description="Processes of one training on CPUs, `cpus` cores each.")
    nodes: int = Field(
        1,
        ge=1,
        le=1024,
        description="Nodes that share the GPUs or processes of one training; more than one needs Slurm.",
    )
    memory_mb: int = Field(3000, ge=500, le=16_000_000, description="Memory of one training, on each of its nodes.")
    runtime_minutes: int = Field(2880, ge=1, le=525_600, description="Time limit of one training on a cluster.")
    log_interval: int = Field(10, ge=1, le=1_000_000, description="Updates between two lines of the training log.")
    checkpoints: int = Field(2, ge=1, le=10_000, description="Epoch checkpoints kept in a run's state.")
    tensorboard: bool = Field(
        False,
        description="Whether trainings write event files for TensorBoard, in `tensorboard/` of a run's state. "
        "Fine-tunings write none.",
    )

    @property
    def workers(self) -> int:
        """Processes of one training, each with a GPU or with cores of its own."""
        return self.gpus or self.processes

    @property
    def cores(self) -> int:
        """Cores of one training: those of all its processes."""
        return self.cpus * self.workers

    @property
    def collators(self) -> int:
        """How many collators each process of a training has. A collator prepares batches while the GPU computes."""
        return int(self.gpus > 0 and self.cpus > 1)

    @property
    def on_each_node(self) -> int:
        """Processes on each node."""
        return self.workers // self.nodes

    @property
    def alone(self) -> Execution:
        """For what several processes do not share: one GPU at most, one process, one node."""
        return self.model_copy(update={"gpus": min(self.gpus, 1), "processes": 1, "nodes": 1})

    @property
    def padded(self) -> Execution:
        """For what has padded batches, and so no graphs."""
        return self.model_copy(update={"graphs": False})

    @model_validator(mode="after")
    def _can_be_had(self) -> Execution:
        if self.gpus and self.processes > 1:
            raise ValueError(f"processes: {self.processes} are for CPUs; with GPUs each has its own")
        if self.runs_a_gpu > 1 and self.gpus != 1:
            raise ValueError(f"runs_a_gpu: {self.runs_a_gpu} is for trainings of one GPU; gpus is {self.gpus}")
        if self.graphs and self.gpus != 1:
            raise ValueError(f"graphs: true is for trainings of one GPU; gpus is {self.gpus}")
        if self.workers % self.nodes:
            raise ValueError(f"nodes: {self.nodes} cannot share {self.workers} GPUs or processes evenly")
        return self
