"""An installation by pip runs studies: without a compiler, without fairseq, and without a clone."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from preln import DISTRIBUTION
from tests.refused import names
from tests.workflow.conftest import ROOT, Outcome

MODULE = """
module preln:
    snakefile:
        "workflow/Snakefile"
    config:
        config


use rule * from preln as preln_*
"""


class Installed:
    """An environment of its own, and a folder of a user's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "a folder"
        self.folder.mkdir()
        self.binaries = folder / "environment" / "bin"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.binaries.parent)], check=True)
        (self.packages,) = (self.binaries.parent / "lib").glob("python*/site-packages")

    def link(self, wanted: Iterable[str]) -> None:
        """Install requirements, with all that these require in turn, as links to what the tests' environment has: torch
        is large."""
        left, done = list(map(Requirement, wanted)), set()
        while left:
            requirement = left.pop()
            for extra in {"", *requirement.extras}:
                if (requirement.name, extra) in done:
                    continue
                done.add((requirement.name, extra))
                package = metadata.distribution(requirement.name)
                for top in {path.parts[0] for path in package.files or ()} - {"..", "__pycache__"}:
                    if not (self.packages / top).exists():
                        (self.packages / top).symlink_to(str(package.locate_file(top)))
                required = map(Requirement, package.requires or ())
                left += [other for other in required if not other.marker or other.marker.evaluate({"extra": extra})]

    def run(self, program: str, *arguments: str) -> Outcome:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [str(self.binaries / program), *arguments],
            cwd=self.folder,
            env={**kept, "PATH": f"{self.binaries}{os.pathsep}{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Outcome(done.returncode, done.stdout)


def sources(folder: Path) -> Path:
    """The files that the package is built from, in a folder of their own."""
    source = folder / "source"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("src", "workflow"):
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    return source


def pip(*arguments: str) -> None:
    """Build or install the package, with the setuptools of these tests."""
    options = ("--quiet", "--no-deps", "--no-build-isolation")
    subprocess.run([sys.executable, "-m", "pip", *arguments, *options], check=True)


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    command = ["git", *identity, *arguments]
    # Nobody's own settings, nor the repository of a hook that runs the tests.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = variables | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.slow
def test_installed_from_a_git_address_records_name_its_commit_also_in_anothers_working_tree(tmp_path: Path) -> None:
    source, project = sources(tmp_path), tmp_path / "project"
    project.mkdir()
    for folder in (source, project):
        git(folder, "init", "--quiet")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--allow-empty", "--message", "First")
    pip("install", "--target", str(project / "packages"), f"git+file://{source}")
    script = "import json; from preln.records import provenance; print(json.dumps(provenance.commit()))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(project / "packages")},
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {"commit": git(source, "rev-parse", "HEAD"), "commit_changed": False}


def test_every_file_that_the_package_reads_comes_with_a_wheel() -> None:
    command = ["git", "ls-files", "src/preln", "workflow"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    files = [Path(line) for line in listed]
    # The rules are in the package by a link.
    packed = [file.relative_to("src") if file.parts[0] == "src" else Path("preln") / file for file in files]
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    left_out = [
        str(file)
        for file in packed
        if file.suffix not in (".py", ".cpp")
        and file != Path("preln/workflow")
        and not any(file.match(pattern) for pattern in patterns.get(".".join(file.parent.parts), []))
    ]
    assert files and not left_out


@pytest.mark.slow
def test_without_the_package_the_rules_say_how_it_is_installed(tmp_path: Path) -> None:
    user = Installed(tmp_path)
    user.link(["snakemake"])
    for folder in (user.folder, user.folder / "preln"):
        shutil.copytree(ROOT / "workflow", folder / "workflow")
    (user.folder / "mine.smk").write_text(MODULE, encoding="utf-8")
    # A clone where the documentation puts it: Python would take the folder for the package.
    (user.folder / "cloned.smk").write_text(MODULE.replace('"workflow', '"preln/workflow'), encoding="utf-8")
    for snakefile in ("workflow/Snakefile", "mine.smk", "cloned.smk"):
        refused = user.run("python", "-m", "snakemake", "--snakefile", snakefile, "--dry-run", "--cores", "1")
        assert refused.code != 0
        assert names(refused.output, "preln is not installed", "docs/your-own-study.md"), refused.output
        assert "ImportError" not in refused.output


STUDY = """
study: mine
texts:
  mine: {sources: [{source: embedded, documents: 200}], vocabulary: 100}
language:
  settings:
    {text: mine, layers: 1, width: 8, ffn_width: 8, heads: 1, sequence_length: 8, updates: 2, validate_every: 2}
  runs:
    - {placement: post, learning_rate: 1e-3}
"""


@pytest.mark.slow
def test_a_wheel_alone_runs_a_study_of_language_models_and_says_what_installs_fairseq(tmp_path: Path) -> None:
    pip("wheel", "--wheel-dir", str(tmp_path), str(sources(tmp_path)))
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    user = Installed(tmp_path)
    pip("--python", str(user.binaries / "python"), "install", str(wheel))
    (package,) = metadata.distributions(name=DISTRIBUTION, path=[str(user.packages)])
    user.link(line for line in package.requires or () if "extra ==" not in line)
    (user.folder / "mine.yaml").write_text(STUDY, encoding="utf-8")
    outcome = user.run("preln", "run", "mine.yaml", "--cores", "1")
    assert outcome.code == 0, outcome.output
    assert "Post-LN" in (user.folder / "results" / "mine" / "report.html").read_text(encoding="utf-8")
    asked = user.run("preln", "binarise", "--pieces", "pieces", "--out", "out")
    (message,) = asked.output.splitlines()
    assert names(message, "fairseq: not installed", "bash tools/install.sh"), message


def test_all_is_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == DISTRIBUTION
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(everything.removeprefix(f"{DISTRIBUTION}[").removesuffix("]").split(",")) == set(extras) - {"all"}
