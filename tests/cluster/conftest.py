"""A Slurm for the tests' time, and a small study that a machine without one has finished, to compare with."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.slurm import Cluster
from tests.debian import Unavailable
from tests.moments import PATIENCE, Hold, wait
from tests.trainings import curve_without_times
from tests.workflow.conftest import Workspace, copy_repository

# A small study need not wait as long for news as a large one.
QUICKLY = ("--slurm-init-seconds-before-status-checks", "2", "--set-resources")
# What is drawn of the training says nothing of a cluster.
TRAINING = ("--until", "train_translation")
# GPUs that are none, for the training runs on CPUs.
ON_A_GPU = "train_translation:gpu=1"


@dataclass(frozen=True)
class Login(Workspace):
    """A copy of the repository on a login node of the cluster, in a folder with a space in its name."""

    submitting: list[subprocess.Popen[str]] = field(default_factory=list)

    def submit(
        self, *resources: str, until: Sequence[str] = TRAINING, hold: Hold | None = None
    ) -> subprocess.Popen[str]:
        """Start `snakemake --cores all --profile slurm` until the study is trained, by which the training has these
        resources, and wait until it is held."""
        command = ["snakemake", "--cores", "all", "--profile", "slurm", *until, *QUICKLY, *(resources or (ON_A_GPU,))]
        self.submitting.append(process := self.start(*command, hold=hold))
        if hold:
            hold.wait(process)
        return process

    @property
    def folder_of_run(self) -> Path:
        (folder,) = (self.folder / "results" / "tiny" / "translation").iterdir()
        return folder

    def log(self) -> str:
        """The training's output in all of its attempts."""
        (path,) = self.folder_of_run.glob("state/*/training.log")
        return path.read_text(errors="replace")

    def numbers(self) -> str:
        """The run's curve.csv as it stands, but for its times."""
        return curve_without_times(self.folder_of_run)


def finish(process: subprocess.Popen[str]) -> None:
    """Wait for a Snakemake's end, which is to be a good one."""
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output[-5000:]


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    # Slurm's sockets have short names, and its daemons read it as other users.
    with (
        tempfile.TemporaryDirectory(prefix="preln-slurm-", dir="/tmp", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("SLURM_CONF", f"{folder}/slurm.conf")
        # Nobody's own profile of the same name.
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        cluster = Cluster(Path(folder))
        try:
            cluster.up()
            yield cluster
        except Unavailable as error:
            pytest.skip(f"no Slurm here: {error}")
        finally:
            cluster.down()


def study(login: Workspace, **execution: int) -> None:
    """The study of the tests, in the place of the paper."""
    login.write_study({"epochs": 4, "accumulate": 4}, execution={"log_interval": 1, **execution})
    shutil.copy(login.folder / "config" / "config.yaml", login.folder / "config" / "paper.yaml")


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Login:
    """The study as it comes out on one machine, uninterrupted."""
    clone = Login(copy_repository(tmp_path_factory.mktemp("local") / "a clone").folder)
    study(clone)
    clone.snakemake(*TRAINING)
    return clone


@pytest.fixture
def login(cluster: Cluster, local: Login, tmp_path: Path) -> Iterator[Login]:
    """A login node on which the study's text is prepared, and nothing trained."""
    clone = copy_of(local, tmp_path / "a clone")
    study(clone)
    yield clone
    # Left by a failed test.
    for process in clone.submitting:
        if process.poll() is None:
            kill(process)
    cluster.run("scancel", "--user=root")
    wait(lambda: not cluster.jobs())


def copy_of(prepared: Login, folder: Path) -> Login:
    """A copy of the repository with the text that another one has prepared."""
    login = Login(copy_repository(folder).folder)
    for name in ("resources", ".snakemake"):
        shutil.copytree(prepared.folder / name, login.folder / name)
    return login


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a Snakemake as a crash of its machine would."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def attempts(login: Login) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((login.folder_of_run / "run.json").read_text())["attempts"]
    return entries
