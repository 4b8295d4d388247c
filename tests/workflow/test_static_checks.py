"""The checks that run nothing of the package: style, types, pins, documentation."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from preln import DISTRIBUTION, __version__
from preln.config.reference import markdown
from tests.conftest import MakeOnce
from tests.workflow.conftest import ROOT, Workspace, check_types

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RULES = re.compile(r"^rule (\w+):\n(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


CHECKS = [
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["snakefmt", "--check", "Snakefile", "workflow"],
    ["snakemake", "--lint"],
]


@pytest.mark.slow
@pytest.mark.parametrize("command", CHECKS, ids=" ".join)
def test_the_checker_finds_nothing(command: list[str]) -> None:
    Workspace(ROOT).run(*command)


@pytest.mark.slow
def test_the_types_are_right(make_once: MakeOnce) -> None:
    check_types(make_once)


def rules() -> dict[str, str]:
    files = sorted((ROOT / "workflow" / "rules").glob("*.smk"))
    return {name: body for file in files for name, body in RULES.findall(file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("rule", rules())
def test_every_rule_has_a_docstring_a_log_and_a_benchmark(rule: str) -> None:
    body = rules()[rule]
    assert body.lstrip().startswith('"""')
    assert "    log:\n" in body
    assert "    benchmark:\n" in body


@pytest.mark.slow
def test_every_stage_of_the_workflow_is_in_the_study_of_test(tmp_path: Path) -> None:
    """So that a person who runs it sees all of them in two minutes."""
    (tmp_path / "config").mkdir()
    shutil.copy(ROOT / ".test" / "config" / "config.yaml", tmp_path / "config")
    outcome = Workspace(ROOT).snakemake("--directory", str(tmp_path), "--dry-run")
    # All but the rule that needs a network, and the page of all studies, which no study asks for.
    assert outcome.jobs.keys() == rules().keys() - {"download", "write_explorer"}


def requirements(file: str = "requirements.txt") -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)$", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE))


def test_conda_users_have_the_same_pins() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert {"pip": ["-r requirements.txt"]} in environment["dependencies"]
    # conda brings pip itself.
    assert f"pip={requirements()['pip']}" in environment["dependencies"]


def test_the_versions_of_python_are_the_same_wherever_they_are_named() -> None:
    versions = [match[1] for name in PROJECT["classifiers"] if (match := re.search(r":: Python :: (3\.\d+)$", name))]
    # A later one is not refused.
    assert PROJECT["requires-python"] == f">={versions[0]}"
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["tests"]["strategy"]["matrix"]["python"] == versions
    check = (ROOT / "tools" / "check-machine.sh").read_text(encoding="utf-8")
    assert f"    {' | '.join(versions)}) ;;" in check
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert " ".join(f"python{version}" for version in versions) in makefile


def test_an_installation_by_pip_may_have_the_pins_and_no_hydra_with_a_known_hole() -> None:
    listed = [name for group in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()) for name in group]
    pinned = {
        canonicalize_name(name): version
        for file in ROOT.glob("requirements*.txt")
        for name, version in requirements(file.name).items()
    }
    wanted = [requirement for requirement in map(Requirement, listed) if requirement.name != DISTRIBUTION]
    allowed = {canonicalize_name(requirement.name): requirement.specifier for requirement in wanted}
    assert allowed.keys() <= pinned.keys()
    assert {name for name, versions in allowed.items() if pinned[name] not in versions} == set()
    assert "1.3.7" not in allowed[canonicalize_name("hydra-core")]


def test_both_recipes_of_the_image_make_the_same() -> None:
    docker, apptainer = ((ROOT / file).read_text(encoding="utf-8") for file in ("Dockerfile", "preln.def"))
    # The system, which torch, the packages, git's settings, the environment and its place.
    for line in (
        *(r"^F(?:ROM|rom:) (.+)$", r"^(?:ARG|   ) (TORCH=.+)$", r"(apt-get install .*\w)", r"(git config .*\w)"),
        *(r"(PIP_NO_CACHE_DIR=1 make .* TORCH=)", r"^(?:ENV|    export) (PATH=.+)$"),
    ):
        (first,), (second,) = (re.findall(line, recipe, re.MULTILINE) for recipe in (docker, apptainer))
        assert first == second, line


def test_a_package_has_one_version_wherever_it_is_pinned() -> None:
    pinned: dict[str, set[str]] = {}
    for file in ROOT.glob("requirements*.txt"):
        for name, version in requirements(file.name).items():
            pinned.setdefault(canonicalize_name(name), set()).add(version)
    assert {name: versions for name, versions in pinned.items() if len(versions) > 1} == {}


@pytest.mark.parametrize("file", sorted(file.name for file in ROOT.glob("requirements*.txt")))
def test_the_lock_of_a_file_has_its_pins_each_with_hashes(file: str) -> None:
    asked = {canonicalize_name(name): version for name, version in requirements(file).items() if name != "torch"}
    lock = (ROOT / "locks" / file).read_text(encoding="utf-8")
    locked = re.findall(
        r"^([\w.-]+)==([\w.]+)(?: ;[^\\\n]*)?((?: \\\n +--hash=sha256:[0-9a-f]{64})+)$", lock, re.MULTILINE
    )
    assert {canonicalize_name(name): version for name, version, _ in locked} == asked, f"locks/{file} is old: make lock"


def test_the_list_of_keys_is_that_of_the_data_model() -> None:
    same = (ROOT / "config" / "README.md").read_text(encoding="utf-8") == markdown()
    assert same, "config/README.md is old: python -m preln.config.reference > config/README.md"


def test_the_version_and_the_licence_are_the_same_wherever_they_are_named() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    for key in ("version", "license"):
        assert citation[key] == zenodo[key] == PROJECT[key], key
    assert PROJECT["version"] == __version__
