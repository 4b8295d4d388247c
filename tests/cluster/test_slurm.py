"""The study on a real Slurm: as typed, and through what happens to jobs and nodes, with the numbers of one machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.cluster.conftest import ON_A_GPU, Login, attempts, copy_of, finish, kill, study, until_in_epoch
from tests.cluster.slurm import Cluster, wait
from tests.workflow.conftest import copy_repository

pytestmark = pytest.mark.cluster


def test_a_fresh_clone_runs_as_typed(cluster: Cluster, local: Login, tmp_path_factory: pytest.TempPathFactory) -> None:
    login = Login(copy_repository(tmp_path_factory.mktemp("fresh") / "preln").folder)
    study(login)
    finish(login.submit())
    assert login.numbers() == local.numbers()
    assert (login.folder / "results" / "tiny" / "tables" / "runs.csv").exists()
    # Each training had a GPU, and nothing is left behind.
    assert not cluster.jobs()


def requeue(cluster: Cluster, job: str) -> None:
    cluster.run("scontrol", "requeue", job)


def preempt(cluster: Cluster, job: str) -> None:
    cluster.run("sbatch", "--partition=urgent", "--nodes=3", "--exclusive", "--output=/dev/null", "--wrap=sleep 1")


@pytest.mark.parametrize("interrupt", [requeue, preempt])
def test_a_job_that_gives_way_goes_on(
    interrupt: Callable[[Cluster, str], None], cluster: Cluster, login: Login, local: Login
) -> None:
    # The GPUs are asked for as a site's generic resource here, as the profile says.
    process = login.submit("train_translation:gpu=0", "train_translation:gres='gpu:1'")
    until_in_epoch(login, 3, process)
    ((job, resources),) = (line.split() for line in cluster.jobs("%i %b"))
    assert resources == "gres:gpu:1"
    interrupt(cluster, job)
    finish(process)
    assert login.numbers() == local.numbers()
    assert len(attempts(login)) == 2
    # It was told, and stopped inside its epoch.
    log = next(login.folder_of_run.glob("state/*/training.log")).read_text()
    assert "Stopping training due to cumulative_training_time" in log


def test_a_job_whose_time_ends_goes_on_in_the_next(cluster: Cluster, login: Login, tmp_path: Path) -> None:
    uninterrupted = copy_of(login, tmp_path / "uninterrupted")
    for place in (uninterrupted, login):
        study(place, epochs=60)
    # A minute, and several attempts, for Slurm is exact to half a minute, and some of it goes by before the training.
    login.edit(
        "slurm/config.yaml", lambda text: text.replace("TERM@120", "TERM@10").replace("retries: 5", "retries: 20")
    )
    beside = uninterrupted.start("snakemake", "--cores", "1")
    process = login.submit(ON_A_GPU, "train_translation:runtime=1")
    finish(beside)
    finish(process)
    assert login.numbers() == uninterrupted.numbers()
    log = next(login.folder_of_run.glob("state/*/training.log")).read_text()
    assert len(attempts(login)) == 1 + log.count("Stopping training due to cumulative_training_time") > 1


def test_a_job_whose_node_dies_goes_on_elsewhere(cluster: Cluster, login: Login, local: Login) -> None:
    process = login.submit()
    until_in_epoch(login, 3, process)
    (node,) = cluster.jobs("%N")
    cluster.kill_node(node)
    try:
        finish(process)
    finally:
        cluster.revive_node(node)
    assert login.numbers() == local.numbers()
    assert len(attempts(login)) == 2


def test_a_killed_snakemake_started_again_trains_nothing_twice(cluster: Cluster, login: Login, local: Login) -> None:
    process = login.submit()
    until_in_epoch(login, 3, process)
    kill(process)
    (job,) = cluster.jobs("%i")
    # It is still at work when the second begins.
    cluster.run("scontrol", "suspend", job)
    assert login.snakemake("--unlock").code == 0
    again = login.submit()
    (log,) = (login.folder / "logs").glob("tiny/train_translation/*.log")
    wait(lambda: "waiting, for another process is at work on it" in log.read_text(), 120)
    cluster.run("scontrol", "resume", job)
    finish(again)
    wait(lambda: job not in cluster.jobs("%i"), 60)
    assert login.numbers() == local.numbers()
    # The second job waited for the first, and found that all was done.
    first, second = attempts(login)
    epochs = pd.read_csv(login.folder_of_run / "curve.csv")["epoch"]
    assert (first["epochs_before"], second["epochs_before"]) == (0, len(epochs))


def test_two_nodes_share_a_run_and_save_it_together(cluster: Cluster, login: Login, tmp_path: Path) -> None:
    two = copy_of(login, tmp_path / "two processes")
    study(two, processes=2)
    assert two.snakemake().code == 0
    study(login, processes=2, nodes=2)
    process = login.submit("train_translation:gpu=0")
    until_in_epoch(login, 3, process)
    (job,) = cluster.jobs("%i")
    assert cluster.jobs("%D") == ["2"]
    cluster.run("scontrol", "requeue", job)
    finish(process)
    assert login.numbers() == two.numbers()
    log = next(login.folder_of_run.glob("state/*/training.log")).read_text()
    assert "Stopping training due to cumulative_training_time" in log


def test_gpus_that_slurm_gives_and_torch_does_not_see_end_a_job_at_once(cluster: Cluster, login: Login) -> None:
    study(login, gpus=4, nodes=2)
    login.edit("slurm/config.yaml", lambda text: text.replace("retries: 5", "retries: 0"))
    process = login.submit("train_translation:mem_mb=1000")
    process.communicate(timeout=300)
    assert process.returncode != 0
    (log,) = (login.folder / "logs").glob("tiny/train_translation/*.log")
    message = "the study asks for 4 GPU(s) a training (execution.gpus) on 2 node(s), and this one shows 0"
    assert message in " ".join(log.read_text().split())
