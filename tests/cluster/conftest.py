"""A Slurm for the tests' time, and a small study that a machine without one has finished, to compare with."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.cluster.slurm import Cluster, wait
from tests.debian import Unavailable
from tests.workflow.conftest import Workspace, copy_repository

TIMES = ["tokens_per_second", "seconds"]
# A small study need not wait as long for news as a large one.
QUICKLY = ("--slurm-init-seconds-before-status-checks", "2", "--set-resources")
# GPUs that are none, for the training runs on CPUs.
ON_A_GPU = "train_translation:gpu=1"


@dataclass(frozen=True)
class Login(Workspace):
    """A copy of the repository on a login node of the cluster."""

    def submit(self, *resources: str) -> subprocess.Popen[str]:
        """Start `snakemake --cores all --profile slurm`, by which the training has these resources."""
        return self.start("snakemake", "--cores", "all", "--profile", "slurm", *QUICKLY, *(resources or (ON_A_GPU,)))

    @property
    def folder_of_run(self) -> Path:
        """The folder of the study's run."""
        (folder,) = (self.folder / "results" / "tiny" / "translation").iterdir()
        return folder

    def is_in_epoch(self, number: int) -> bool:
        """Whether the training has come to an epoch."""
        logs = self.folder.glob("results/tiny/translation/*/state/*/training.log")
        return any(f'"epoch": {number}, "update"' in log.read_text(errors="replace") for log in logs)

    def numbers(self) -> str:
        """The run's curve.csv as it stands, but for its times."""
        return pd.read_csv(self.folder_of_run / "curve.csv", dtype=str).drop(columns=TIMES).to_csv()


def finish(process: subprocess.Popen[str]) -> None:
    """Wait for a Snakemake's end, which is to be a good one."""
    output, _ = process.communicate(timeout=400)
    assert process.returncode == 0, output[-5000:]


def until_in_epoch(login: Login, number: int, process: subprocess.Popen[str]) -> None:
    """Wait until the training has come to an epoch."""

    def came() -> bool:
        assert process.poll() is None, "Snakemake ended too early"
        return login.is_in_epoch(number)

    wait(came, 120)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    # Slurm's sockets have short names, and its daemons read it as other users.
    found = Cluster(Path("/tmp") / f"preln-slurm-{os.getpid()}")
    try:
        try:
            found.up()
        except Unavailable as error:
            pytest.skip(f"no Slurm here: {error}")
        os.environ.update(found.environment)
        # Nobody's own profile of the same name.
        os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))
        yield found
    finally:
        found.down()
        shutil.rmtree(found.folder, ignore_errors=True)


def study(login: Workspace, epochs: int = 25, **execution: int) -> None:
    """The study of the tests, in the place of the paper."""
    login.write_study({"epochs": epochs, "accumulate": 4}, execution={"log_interval": 1, **execution})
    shutil.copy(login.folder / "config" / "config.yaml", login.folder / "config" / "paper.yaml")


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Login:
    """The study as it comes out on one machine, uninterrupted."""
    found = Login(copy_repository(tmp_path_factory.mktemp("local") / "preln").folder)
    study(found)
    outcome = found.snakemake()
    assert outcome.code == 0, outcome.output[-5000:]
    return found


@pytest.fixture
def login(cluster: Cluster, local: Login, tmp_path: Path) -> Iterator[Login]:
    """A login node on which the study's text is prepared, and nothing trained."""
    found = copy_of(local, tmp_path / "preln")
    study(found)
    yield found
    for job in cluster.jobs("%i"):
        cluster.run("scancel", job)
    wait(lambda: not cluster.jobs(), 30)


def copy_of(prepared: Login, folder: Path) -> Login:
    """A copy of the repository with the text that another one has prepared."""
    found = Login(copy_repository(folder).folder)
    for name in ("resources", ".snakemake"):
        shutil.copytree(prepared.folder / name, found.folder / name)
    return found


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a Snakemake as a crash of its machine would."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def attempts(login: Login) -> list[dict[str, Any]]:
    """The attempts that the run took."""
    found: list[dict[str, Any]] = json.loads((login.folder_of_run / "run.json").read_text())["attempts"]
    return found
