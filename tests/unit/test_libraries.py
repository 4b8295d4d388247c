"""The libraries of extras: reading a study imports none, and one that is missing is named with what installs it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from preln.libraries import missing
from tests.refused import names

ROOT = Path(__file__).parents[2]


def test_what_reads_and_plans_a_study_imports_neither_a_library_of_an_extra_nor_snakemake() -> None:
    rules = [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    modules = {name for file in rules for name in re.findall(r"^ *from (preln[\w.]*) import", file.read_text(), re.M)}
    assert len(modules) > 5
    imports = ", ".join([*sorted(modules), "preln.commands.cli", "preln.commands.plan", "preln.commands.status", "sys"])
    command = [sys.executable, "-c", f"import {imports}; print(*sys.modules)"]
    found = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [
        re.split(r"[<>=\[]", name)[0].lower() for extra in project["optional-dependencies"].values() for name in extra
    ]
    others = {"fairseq", "sklearn", "hydra", "vl_convert", "snakemake"}
    assert not found & ({*extras, *others} - {"preln"})


def test_fairseq_is_missed_with_the_command_that_installs_it() -> None:
    message = missing(ModuleNotFoundError(name="fairseq_cli.train"))
    assert message and names(
        message, "fairseq_cli: not installed", "--require-hashes", "locks/requirements-fairseq.txt"
    ), message


@pytest.mark.parametrize(
    ("library", "extra"), [("transformers", "huggingface"), ("tensorboard", "watch"), ("rocrate", "crate")]
)
def test_a_library_of_an_export_is_missed_with_the_command_of_the_docs(library: str, extra: str) -> None:
    message = missing(ModuleNotFoundError(name=f"{library}.models"))
    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8").replace("\n", " ")
    command = f"python -m pip install --no-deps --requirement locks/requirements-{extra}.txt"
    assert command in page
    assert message is not None and command in message.replace(f"{ROOT}/", ""), message


def test_of_a_library_that_no_extra_has_nothing_is_said() -> None:
    assert missing(ModuleNotFoundError(name="preln.nothing")) is None
