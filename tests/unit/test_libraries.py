"""The libraries that compute and draw: reading a study imports none; one that is missing is named with its command."""

import re
import subprocess
import sys
import tomllib

import pytest

from preln.libraries import missing
from tests.conftest import ROOT
from tests.refused import names

READERS = {"langcodes", "pydantic", "pyyaml", "rich", "ruamel.yaml", "typer"}
"""The libraries that read a study."""


@pytest.mark.slow
def test_the_placements_and_what_plans_a_study_import_neither_torch_nor_snakemake_nor_pandas() -> None:
    rules = [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    modules = {name for file in rules for name in re.findall(r"^ *from (preln[\w.]*) import", file.read_text(), re.M)}
    assert len(modules) > 5
    commands = ("preln.commands.cli", "preln.commands.plan", "preln.commands.status")
    imports = ", ".join([*sorted(modules), "preln.placements", *commands, "sys"])
    command = [sys.executable, "-c", f"import {imports}; print(*sys.modules)"]
    imported = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [name for group in (project["dependencies"], *project["optional-dependencies"].values()) for name in group]
    libraries = {re.split(r"[<>=;\[]", name)[0].lower() for name in listed}
    assert {"torch", "snakemake"} <= libraries
    assert not imported & (libraries - READERS | {"fairseq", "sklearn", "hydra", "vl_convert"})


def test_fairseq_is_missed_with_the_command_that_installs_it() -> None:
    message = missing(ModuleNotFoundError(name="fairseq_cli.train"))
    assert message and names(message, "fairseq_cli: not installed", f"bash tools/install.sh {sys.executable}"), message
    assert "\n" not in message
    assert missing(ModuleNotFoundError(name="preln.nothing")) is None


def test_a_library_of_an_export_is_missed_with_the_command_that_installs_it() -> None:
    for library, extra in (("transformers", "huggingface"), ("tensorboard", "watch"), ("rocrate", "crate")):
        message = missing(ModuleNotFoundError(name=f"{library}.models"))
        assert message and names(message, library, "pip install --no-deps --requirement", f"requirements-{extra}.txt")
