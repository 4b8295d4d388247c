"""A wrong configuration stops before any job, with one message that says what to change."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import CORPUS, study_content
from tests.workflow.conftest import Workspace

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (study_content(epocs=1), "config/config.yaml: epocs: unknown key"),
        (study_content({"learning_rate": -1}), "translation.runs.0.learning_rate: -1: Input should be greater than 0"),
        (study_content({"corpus": "ted"}), "translation.runs.0.corpus: 'ted' is not defined; defined: tiny"),
        (study_content({"seed": [1, 1]}), "the run pre-adam-lr2e-3-wu10-s1 is defined twice"),
        (
            study_content(corpora={"tiny": {"source": "iwslt15"}}),
            "corpora.tiny: Input tag 'iwslt15' found using 'source' does not match any of the expected tags: "
            "'embedded', 'iwslt14', 'wmt14', 'files'",
        ),
        (
            study_content(corpora={"tiny": {**CORPUS, "source": "iwslt14", "folder": "no/such/folder"}}),
            "corpora.tiny.held_out: unknown key",
        ),
        (
            study_content(
                corpora={
                    "tiny": {
                        "source": "files",
                        "source_language": "nl",
                        "target_language": "fr",
                        "train": {"source": "no.nl", "target": "no.fr"},
                    }
                }
            ),
            "corpora.tiny.train.source: no.nl does not exist",
        ),
    ],
    ids=[
        "unknown key",
        "negative rate",
        "unknown corpus",
        "run twice",
        "unknown source",
        "mixed corpus",
        "no such file",
    ],
)
def test_a_wrong_study_is_refused(content: dict[str, Any], message: str, fresh: Workspace) -> None:
    (fresh.folder / "config" / "config.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    outcome = fresh.snakemake()
    assert outcome.code != 0
    assert message in " ".join(outcome.output.split())
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
    assert f"{environment}/bin/python: Snakemake does not quote the path of its Python" in outcome.output
    assert "Traceback" not in outcome.output
    assert not (fresh.folder / "submitted").exists()
    assert not (fresh.folder / "results").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("study: tiny\nstudy: another\n", "line 2: not YAML: the key study is given twice"),
        ("study: tiny\n\tdescription: one\n", "line 2: not YAML: a tab, where YAML takes spaces alone"),
        ("", "holds nothing; a study has keys"),
    ],
    ids=["key twice", "tab", "empty"],
)
def test_a_file_that_is_no_study_is_refused_with_its_line(text: str, message: str, fresh: Workspace) -> None:
    (fresh.folder / "config" / "config.yaml").write_text(text, encoding="utf-8")
    outcome = fresh.snakemake("--dry-run")
    assert outcome.code != 0
    assert f"config/config.yaml: {message}" in outcome.output


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
    fresh.write_study({"corpus": "tiny", "warmup": 1e9}, {"corpus": "n" * 300}, corpora=corpora, colour="red")
    planned = fresh.run("preln", "plan", "config/config.yaml")
    outcome = fresh.snakemake("--dry-run")
    assert planned.code != 0
    assert outcome.code != 0
    lines = planned.output.removeprefix("preln: ").splitlines()
    assert len(lines) == 8
    assert set(lines) <= set(outcome.output.splitlines())


def test_a_training_that_is_refused_says_so_on_the_console(fresh: Workspace) -> None:
    fresh.write_study({"batch_tokens": 32}, corpora={"tiny": {**CORPUS, "held_out": 10}})
    train = fresh.folder / "results" / "tiny" / "translation" / "pre-adam-lr2e-3-wu10-batchtokens32-s1" / "run.json"
    outcome = fresh.snakemake(str(train.relative_to(fresh.folder)))
    assert outcome.code != 0
    assert "preln: batch_tokens: 32 cannot hold the text's longest sentence, of" in outcome.output
    assert not train.exists()


def test_a_study_without_a_name_is_not_completed_from_the_default_study(fresh: Workspace) -> None:
    content = study_content()
    del content["study"]
    (fresh.folder / "config" / "mine.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    outcome = fresh.snakemake("--configfile", "config/mine.yaml")
    assert outcome.code != 0
    assert "config/mine.yaml: study: missing" in outcome.output


def test_the_command_line_refuses_in_one_line(fresh: Workspace) -> None:
    outcome = fresh.run("preln", "status", "config/config.yaml")
    assert outcome.code != 0
    assert outcome.output.strip() == (
        "preln: config/config.yaml: holds no results; name a folder of results, such as results/quick"
    )


def test_a_table_that_is_none_is_refused_with_all_that_are(fresh: Workspace) -> None:
    results = fresh.folder / "results" / "tiny"
    results.mkdir(parents=True)
    (results / "study.yaml").write_text(yaml.safe_dump(study_content()), encoding="utf-8")
    outcome = fresh.run("preln", "table", "results/tiny", "run", "--out", "run.csv")
    assert outcome.code != 0
    assert outcome.output.strip() == ("preln: table run: not known; allowed: runs, claims")
