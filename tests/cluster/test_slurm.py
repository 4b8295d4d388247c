"""The study on a real Slurm: as typed, and through what happens to jobs and nodes, with the numbers of one machine."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cluster.conftest import TRAINING, Login, attempts, copy_of, finish, kill, study
from tests.cluster.slurm import Cluster
from tests.moments import PATIENCE, NewHold, in_epoch, wait
from tests.workflow.conftest import copy_repository

pytestmark = pytest.mark.cluster


def test_a_fresh_clone_runs_as_typed(cluster: Cluster, local: Login, tmp_path_factory: pytest.TempPathFactory) -> None:
    login = Login(copy_repository(tmp_path_factory.mktemp("fresh") / "a clone").folder)
    study(login)
    finish(login.submit(until=()))
    assert login.numbers() == local.numbers()
    assert (login.folder / "results" / "tiny" / "tables" / "runs.csv").exists()
    # Nothing is left behind.
    wait(lambda: not cluster.jobs())


def test_a_preempted_job_goes_on(cluster: Cluster, login: Login, local: Login, hold: NewHold) -> None:
    # The GPUs are asked for as a site's generic resource here.
    as_gres = ("train_translation:gpu=0", "train_translation:gres='gpu:1'")
    process = login.submit(*as_gres, hold=hold(in_epoch(2)))
    assert cluster.jobs("%b") == ["gres:gpu:1"]
    # The signal also releases the training from the hold.
    cluster.run("sbatch", "--partition=urgent", "--nodes=3", "--exclusive", "--output=/dev/null", "--wrap=sleep 1")
    finish(process)
    assert_that_it_went_on_inside_its_epoch(login)
    assert login.numbers() == local.numbers()


def assert_that_it_went_on_inside_its_epoch(login: Login) -> None:
    first, second = attempts(login)
    assert (first["epochs_before"], second["epochs_before"]) == (0, 1)
    before, after = (
        [int(number) for number in re.findall(r'"num_updates": "(\d+)"', log)]
        for log in login.log().split("Stopping training due to cumulative_training_time")
    )
    assert min(after) == max(before) + 1


def test_a_job_whose_time_ends_goes_on_in_the_next(cluster: Cluster, login: Login, local: Login, hold: NewHold) -> None:
    process = login.submit(hold=hold(in_epoch(2)))
    (job,) = cluster.jobs("%i")
    # The profile asks for word two minutes before: at once.
    cluster.run("scontrol", "update", f"jobid={job}", "EndTime=now+2minutes")
    finish(process)
    assert_that_it_went_on_inside_its_epoch(login)
    assert login.numbers() == local.numbers()


def test_a_job_whose_node_dies_goes_on_elsewhere(cluster: Cluster, login: Login, local: Login, hold: NewHold) -> None:
    process = login.submit(hold=hold(in_epoch(2)))
    (node,) = cluster.jobs("%N")
    cluster.kill_node(node)
    try:
        finish(process)
    finally:
        cluster.revive_node(node)
    assert login.numbers() == local.numbers()
    first, second = attempts(login)
    assert (first["epochs_before"], second["epochs_before"]) == (0, 1)


def test_a_killed_snakemake_trains_nothing_twice(cluster: Cluster, login: Login, local: Login, hold: NewHold) -> None:
    training_hold = hold(in_epoch(2))
    kill(login.submit(hold=training_hold))
    (job,) = cluster.jobs("%i")
    login.snakemake("--unlock")
    (log,) = (login.folder / "logs").glob("tiny/train_translation/*.log")
    again = login.submit()

    def waits() -> bool:
        # Snakemake removes the old log as it submits the job, and the job writes a new one.
        with suppress(FileNotFoundError):
            return "waiting for another process" in log.read_text()
        return False

    wait(waits)
    training_hold.let_go()
    finish(again)
    wait(lambda: job not in cluster.jobs("%i"))
    assert login.numbers() == local.numbers()
    # The second job waited for the first, found that all was done, and left no attempt of its own.
    (only,) = attempts(login)
    assert only["epochs_before"] == 0


def test_two_nodes_train_and_save_a_run_together(cluster: Cluster, login: Login, tmp_path: Path, hold: NewHold) -> None:
    two = copy_of(login, tmp_path / "two processes")
    study(two, processes=2)
    two.snakemake(*TRAINING)
    study(login, processes=2, nodes=2)
    process = login.submit("train_translation:gpu=0", hold=hold(in_epoch(2)))
    (job,) = cluster.jobs("%i")
    assert cluster.jobs("%D") == ["2"]
    cluster.run("scontrol", "requeue", job)
    finish(process)
    assert_that_it_went_on_inside_its_epoch(login)
    assert login.numbers() == two.numbers()


def test_gpus_that_slurm_gives_and_torch_does_not_see_end_a_job_at_once(cluster: Cluster, login: Login) -> None:
    study(login, gpus=4, nodes=2)
    login.edit("slurm/config.yaml", lambda text: text.replace("retries: 5", "retries: 0"))
    process = login.submit("train_translation:mem_mb=1000")
    process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    (log,) = (login.folder / "logs").glob("tiny/train_translation/*.log")
    message = "the study asks for 4 GPU(s) a training (execution.gpus) on 2 node(s), and this one shows 0"
    assert message in " ".join(log.read_text().split())
