"""A wrong configuration stops before any job, with one message that says what to change."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import study_content
from tests.refused import names
from tests.workflow.conftest import Workspace

pytestmark = pytest.mark.slow


def test_a_wrong_study_is_refused(fresh: Workspace) -> None:
    fresh.write(study_content({"learning_rate": -1}))
    outcome = fresh.snakemake()
    assert outcome.code != 0
    assert names(outcome.output, "config/config.yaml:", "translation.runs.0.learning_rate: -1: "), outcome.output
    assert "Traceback" not in outcome.output
    assert not (fresh.folder / "results").exists()


def test_jobs_whose_python_no_shell_would_find_are_not_submitted(fresh: Workspace, tmp_path: Path) -> None:
    environment = tmp_path / "an environment"
    environment.symlink_to(sys.prefix)
    outcome = fresh.run(
        *(str(environment / "bin" / "python"), "-m", "snakemake", "--cores", "all", "--jobs", "1"),
        *("--executor", "cluster-generic", "--cluster-generic-submit-cmd", "touch submitted; sh"),
    )
    assert outcome.code != 0
    assert names(outcome.output, f"{environment}/bin/python: ", "quote"), outcome.output
    assert "Traceback" not in outcome.output
    assert not (fresh.folder / "submitted").exists()


def test_a_file_that_is_no_study_is_refused_with_its_line(fresh: Workspace) -> None:
    (fresh.folder / "config" / "config.yaml").write_text("study: tiny\nstudy: another\n", encoding="utf-8")
    outcome = fresh.snakemake("--dry-run")
    assert outcome.code != 0
    assert names(outcome.output, "config/config.yaml:", "config.yaml:2: ", "duplicate key"), outcome.output


def test_a_dry_run_and_the_plan_find_the_same_mistakes_all_of_them(fresh: Workspace) -> None:
    os.mkfifo(fresh.folder / "pipe.nl")
    (fresh.folder / "{x}.fr").write_text("une phrase\n", encoding="utf-8")
    corpora = {
        "tiny": {
            "source": "files",
            "source_language": "nl",
            "target_language": "fr",
            "train": {"source": "pipe.nl", "target": "{x}.fr"},
            "valid": {"source": "/", "target": "/dev/zero"},
        },
        "ted": {"source": "iwslt14", "folder": "config"},
    }
    fresh.write_study({"corpus": "tiny", "warmup": 1e9}, {"corpus": "n" * 300}, corpora=corpora)
    planned = fresh.run("preln", "plan", "config/config.yaml")
    outcome = fresh.snakemake("--dry-run")
    assert planned.code != 0
    assert outcome.code != 0
    lines = planned.output.removeprefix("preln: ").splitlines()
    assert len(lines) == 7
    assert set(lines) <= set(outcome.output.splitlines())


def test_a_mistake_has_its_line_unless_the_command_line_changes_the_study(fresh: Workspace) -> None:
    (fresh.folder / "config" / "mine.yaml").write_text(yaml.safe_dump(study_content(epocs=1)), encoding="utf-8")
    given = ("--dry-run", "--configfile", "config/mine.yaml")
    number = (fresh.folder / "config" / "mine.yaml").read_text(encoding="utf-8").split("\n").index("epocs: 1") + 1
    assert names(fresh.snakemake(*given).output, f"config/mine.yaml:{number}: epocs: unknown key")
    changed = fresh.snakemake(*given, "--config", "description=another")
    assert names(changed.output, "config/mine.yaml: epocs: unknown key"), changed.output


def test_a_training_that_is_refused_says_so_on_the_console(again: Workspace) -> None:
    again.write_study({"batch_tokens": 32})
    train = again.folder / "results" / "tiny" / "translation" / "pre-adam-lr2e-3-wu10-batchtokens32-s1" / "run.json"
    outcome = again.snakemake(str(train.relative_to(again.folder)))
    assert outcome.code != 0
    assert names(outcome.output, "preln: batch_tokens: 32 ", "longest sentence"), outcome.output
    assert not train.exists()


def test_a_study_without_a_name_is_not_completed_from_the_default_study(fresh: Workspace) -> None:
    content = study_content()
    del content["study"]
    (fresh.folder / "config" / "mine.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    outcome = fresh.snakemake("--configfile", "config/mine.yaml")
    assert outcome.code != 0
    assert names(outcome.output, "config/mine.yaml:1: study: "), outcome.output


def test_the_command_line_refuses_in_one_line(fresh: Workspace) -> None:
    outcome = fresh.run("preln", "status", "config/config.yaml")
    assert outcome.code != 0
    (line,) = outcome.output.splitlines()
    assert names(line, "preln: config/config.yaml: ", "folder", "results/quick"), line


def test_a_table_that_is_none_is_refused_with_all_that_are(fresh: Workspace) -> None:
    results = fresh.folder / "results" / "tiny"
    results.mkdir(parents=True)
    (results / "study.yaml").write_text(yaml.safe_dump(study_content()), encoding="utf-8")
    outcome = fresh.run("preln", "table", "results/tiny", "run", "--out", "run.csv")
    assert outcome.code != 0
    (line,) = outcome.output.splitlines()
    assert names(line, "preln: table run: ", "allowed: runs, ", "claims"), line
