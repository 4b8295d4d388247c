"""What an installation by pip brings without extras, and what these add."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import CORPUS
from tests.refused import names
from tests.workflow.conftest import ROOT, Outcome

STUDY = "results/quick-record"
MODULE = """
module preln:
    snakefile:
        "workflow/Snakefile"
    config:
        config


use rule * from preln as preln_*
"""


class Installed:
    """An environment of its own, and a folder with the rules and the studies of a clone, but without its code."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "a folder"
        self.binaries = folder / "environment" / "bin"
        subprocess.run([sys.executable, "-m", "venv", str(self.binaries.parent)], check=True)
        for name in ("workflow", "config", STUDY):
            shutil.copytree(ROOT / name, self.folder / name)

    def install(self, *packages: str) -> None:
        self.run("pip", "install", "--quiet", *packages, check=True)

    def run(self, program: str, *arguments: str, check: bool = False) -> Outcome:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [str(self.binaries / program), *arguments],
            cwd=self.folder,
            env={**kept, "PATH": f"{self.binaries}{os.pathsep}{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=check,
        )
        return Outcome(done.returncode, done.stdout)


def sources(folder: Path) -> Path:
    """What the package is built from, in a folder of its own."""
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    return source


def pip(command: str, *arguments: str) -> None:
    """Build the package. The setuptools of these tests does it, and finds no compiler: what is compiled is tested
    elsewhere, and nothing here uses it."""
    environment = {**os.environ, "CC": "no-compiler", "CXX": "no-compiler"}
    options = ("--quiet", "--no-deps", "--no-build-isolation")
    subprocess.run([sys.executable, "-m", "pip", command, *options, *arguments], env=environment, check=True)


def wheel(folder: Path) -> Path:
    """The package's wheel."""
    pip("wheel", "--wheel-dir", str(folder), str(sources(folder)))
    (built,) = folder.glob("*.whl")
    return built


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    command = ["git", *identity, *arguments]
    # Nobody's own settings, nor the repository of a hook that runs the tests.
    mine = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = mine | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.slow
def test_installed_from_a_git_address_records_name_its_commit_also_in_somebody_elses_working_tree(
    tmp_path: Path,
) -> None:
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
    listed = subprocess.run(["git", "ls-files", "src/preln"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [Path(line).relative_to("src") for line in listed.stdout.split()]
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    left_out = [
        str(file)
        for file in files
        if file.suffix not in (".py", ".cpp")
        and not any(file.match(pattern) for pattern in patterns.get(".".join(file.parent.parts), []))
    ]
    assert files and not left_out


@pytest.mark.slow
def test_a_wheel_reads_and_plans_a_study_says_what_else_needs_and_reports_with_its_extra(tmp_path: Path) -> None:
    user = Installed(tmp_path)
    user.install("snakemake", "--constraint", str(ROOT / "requirements.txt"))
    (user.folder / "mine.smk").write_text(MODULE, encoding="utf-8")
    # A clone where the documentation puts it: Python would take the folder for the package.
    for name in ("workflow", "config"):
        shutil.copytree(ROOT / name, user.folder / "preln" / name)
    (user.folder / "cloned.smk").write_text(MODULE.replace('"workflow', '"preln/workflow'), encoding="utf-8")
    for snakefile in ("workflow/Snakefile", "mine.smk", "cloned.smk"):
        refused = user.run("snakemake", "--snakefile", snakefile, "--dry-run", "--cores", "1")
        assert refused.code != 0
        assert names(refused.output, "preln is not installed", "docs/your-own-study.md"), refused.output
        assert "ImportError" not in refused.output
    shutil.rmtree(user.folder / "preln")

    package = wheel(tmp_path)
    user.install(str(package))
    found = user.run("pip", "list", "--format", "freeze").output.lower()
    assert not [name for name in ("torch", "pandas", "numpy", "matplotlib", "spacy") if f"{name}==" in found]
    outcome = user.run("snakemake", "--dry-run", "--cores", "1")
    assert (outcome.code, outcome.jobs["train_translation"]) == (0, 11), outcome.output
    planned = user.run("preln", "plan", "config/config.yaml")
    assert planned.code == 0 and "A100 hours" in planned.output, planned.output
    status = user.run("preln", "status", STUDY)
    assert status.code == 0 and "11 of 11 runs done" in status.output, status.output
    report = ("preln", "report", STUDY, "--out", "report.html")
    assert names(user.run(*report).output, "pip install '.[report]'")
    corpus = ("--corpus", json.dumps(CORPUS))
    prepared = user.run("preln", "prepare-text", *corpus, "--downloads", "downloads", "--out", "text")
    assert names(prepared.output, "pip install '.[training]'"), prepared.output
    assert "Traceback" not in prepared.output

    user.install(f"{package}[report]", "--constraint", str(ROOT / "requirements.txt"))
    written = user.run(*report)
    assert written.code == 0, written.output
    page = (user.folder / "report.html").read_text(encoding="utf-8")
    assert "Does the paper hold?" in page and 'id="figure-2"' in page


def test_all_is_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(everything.removeprefix("preln[").removesuffix("]").split(",")) == set(extras) - {"all"}
