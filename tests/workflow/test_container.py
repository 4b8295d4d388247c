"""Jobs in an image: with `--sdm apptainer`, Snakemake runs the command of each by Apptainer."""

import os
import re
from pathlib import Path

import pytest

from tests.workflow.conftest import Workspace

APPTAINER = """#!/bin/bash
# Stands for Apptainer: notes what it is asked for, and runs it on this machine instead of in the image.
if [ "$1" = --version ]; then
    echo "apptainer version 1.3.4"
    exit
fi
printf '%s\\0' "$@" > "$CALLS/$$"
while (($#)) && [ "$1" != preln.sif ]; do shift; done
exec "${@:2}"
"""


def test_every_job_is_a_command_of_the_image(fresh: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binaries, calls = tmp_path / "bin", tmp_path / "calls"
    for folder in (binaries, calls):
        folder.mkdir()
    (binaries / "apptainer").write_text(APPTAINER)
    (binaries / "apptainer").chmod(0o755)
    monkeypatch.setenv("PATH", str(binaries), prepend=os.pathsep)
    monkeypatch.setenv("CALLS", str(calls))
    fresh.write_study({"epochs": 1})
    (fresh.folder / "preln.sif").touch()

    shown = ("results/tiny/figures/figure-runs.png", "results/tiny/tables/runs.md")
    outcome = fresh.snakemake(*shown, "--sdm", "apptainer", "--apptainer-args=--nv")
    asked = [path.read_text().split("\0")[:-1] for path in calls.iterdir()]
    for words in asked:
        assert words[:4] == ["exec", "--home", str(fresh.folder), "--nv"]
        assert words[-4:-1] == ["preln.sif", "bash", "-c"]
        assert re.search(r"\bpreln [a-z-]+ ", words[-1])
    assert len(asked) == sum(outcome.jobs.values()) > 5
