"""The study in .test plans every stage, so that a person who runs it sees all of them in two minutes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOT_IN_IT = {"download", "prepared", "all", "write_explorer"}
"""What needs a network, what makes nothing of its own, and the page of all studies, which no study asks for."""


@pytest.mark.slow
def test_every_stage_of_the_workflow_is_in_it(tmp_path: Path) -> None:
    rules = {
        name
        for path in (ROOT / "workflow" / "rules").glob("*.smk")
        for name in re.findall(r"^rule (\w+):", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    rules |= set(re.findall(r"^rule (\w+):", (ROOT / "workflow" / "Snakefile").read_text(), re.MULTILINE))
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_bytes((ROOT / ".test" / "config" / "config.yaml").read_bytes())
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(tmp_path)]
    outcome = subprocess.run([*command, "--dry-run", "--cores", "1"], cwd=ROOT, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    jobs = set(re.findall(r"^(\w+) +\d+$", outcome.stdout, re.MULTILINE)) - {"default", "total"}
    assert jobs == rules - NOT_IN_IT
