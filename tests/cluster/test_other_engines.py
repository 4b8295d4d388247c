"""Nothing here is Slurm's alone: the study through Snakemake's generic executor."""

import pytest

from tests.cluster.conftest import TRAINING, Login, study
from tests.workflow.conftest import copy_repository

pytestmark = pytest.mark.cluster

SUBMIT = """#!/bin/sh
# Stands for any cluster's command that takes a script: runs it in the background, and prints its number.
nohup sh "$1" >/dev/null 2>&1 &
echo $!
"""


def test_a_study_runs_through_the_generic_executor(local: Login, tmp_path_factory: pytest.TempPathFactory) -> None:
    login = Login(copy_repository(tmp_path_factory.mktemp("generic") / "a clone").folder)
    study(login)
    submit = login.folder / "submit.sh"
    submit.write_text(SUBMIT)
    submit.chmod(0o755)
    executor = ["--executor", "cluster-generic", "--cluster-generic-submit-cmd", "./submit.sh"]
    login.run("snakemake", *TRAINING, "--cores", "all", "--jobs", "4", *executor)
    assert login.numbers() == local.numbers()
