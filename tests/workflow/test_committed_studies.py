"""A clone comes with records of whole studies, and neither trains nor measures any of them again."""

import shutil
from pathlib import Path

import pytest

from preln.config import load
from tests.conftest import committed_studies
from tests.workflow.conftest import copy_repository

EVERY_KIND = {"iwslt14-theory", "bert-scaled"}
"""Studies with each kind of job between them, but traces and language models, of which `test_theory` and
`test_language` make clones. The records of all committed studies are read in `test_committed_results`."""
COMMITTED = [path.parent for path in committed_studies() if path.parent.name in EVERY_KIND]


@pytest.mark.parametrize("committed", COMMITTED, ids=lambda path: path.name)
def test_a_dry_run_of_a_committed_study_trains_and_measures_nothing(committed: Path, tmp_path: Path) -> None:
    workspace = copy_repository(tmp_path / "clone")
    # A record of the default study is named otherwise, for whoever runs that study has its folder.
    study = load(committed / "study.yaml").study
    shutil.copytree(committed, workspace.folder / "results" / study)
    outcome = workspace.snakemake("--dry-run", "--configfile", f"results/{study}/study.yaml")
    assert outcome.jobs.keys() >= {"write_records", "write_report"}
    assert outcome.computed == set()
