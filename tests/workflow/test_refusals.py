"""A wrong configuration stops before any job, with one message that says what to change."""

import os
import sys
from pathlib import Path

from tests.conftest import study_content
from tests.refused import names
from tests.workflow.conftest import Workspace


def test_a_study_without_a_name_is_refused_before_any_job_and_not_completed_from_the_default(fresh: Workspace) -> None:
    fresh.write({key: value for key, value in study_content().items() if key != "study"}, "config/mine.yaml")
    outcome = fresh.snakemake("--configfile", "config/mine.yaml", fails=True)
    assert names(outcome.output, "config/mine.yaml:1: study: "), outcome.output
    assert "Traceback" not in outcome.output
    assert not (fresh.folder / "results").exists()


def test_jobs_whose_python_no_shell_would_find_are_not_submitted(fresh: Workspace, tmp_path: Path) -> None:
    environment = tmp_path / "an environment"
    environment.symlink_to(sys.prefix)
    outcome = fresh.run(
        *(str(environment / "bin" / "python"), "-m", "snakemake", "--cores", "all", "--jobs", "1"),
        *("--executor", "cluster-generic", "--cluster-generic-submit-cmd", "touch submitted; sh"),
        fails=True,
    )
    assert names(outcome.output, f"{environment}/bin/python: ", "quote"), outcome.output
    assert "Traceback" not in outcome.output
    assert not (fresh.folder / "submitted").exists()


def test_a_dry_run_the_plan_and_the_run_find_the_same_mistakes_all_of_them(fresh: Workspace) -> None:
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
    planned, begun = (fresh.run("preln", command, "config/config.yaml", fails=True) for command in ("plan", "run"))
    assert planned == begun
    outcome = fresh.snakemake("--dry-run", fails=True)
    lines = planned.output.removeprefix("preln: ").splitlines()
    assert len(lines) == 7
    assert lines == sorted(lines, key=lambda line: int(line.split(":")[1])), "the order of the file"
    assert set(lines) <= set(outcome.output.splitlines())


def test_a_mistake_has_no_line_where_the_command_line_changes_the_study(fresh: Workspace) -> None:
    fresh.write_study(epocs=1)
    changed = fresh.snakemake("--dry-run", "--config", "description=another", fails=True)
    assert names(changed.output, "config/config.yaml: epocs: unknown key"), changed.output


def test_a_training_that_is_refused_says_so_on_the_console(again: Workspace) -> None:
    again.write_study({"batch_tokens": 32})
    train = again.folder / "results" / "tiny" / "translation" / "pre-adam-lr2e-3-wu10-batchtokens32-s1" / "run.json"
    outcome = again.snakemake(str(train.relative_to(again.folder)), fails=True)
    assert names(outcome.output, "preln: batch_tokens: 32 ", "longest sentence"), outcome.output
    assert not train.exists()
