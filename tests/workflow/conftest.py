"""The workflow as a user has it: a copy of the repository in a folder with a space in its name, and real Snakemake."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

from tests import forks
from tests.conftest import MakeOnce, study_content
from tests.debian import Unavailable, install
from tests.moments import Hold

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and all that it said."""

    code: int
    output: str

    @property
    def jobs(self) -> dict[str, int]:
        """How many jobs of each rule it runs, or would run; the targets themselves are left out."""
        stats = self.output.partition("Job stats:")[2].partition("total")[0]
        counts = {name: int(count) for name, count in re.findall(r"^(\w+)\s+(\d+)\s*$", stats, re.MULTILINE)}
        return {name: count for name, count in counts.items() if name not in ("default", "all", "prepared")}

    @property
    def computed(self) -> set[str]:
        """The jobs that are computed, or would be; of the others, records are laid out."""
        return set(re.findall(r"^(?:Job \d+: )?(?:Train|Pre-train|Fine-tune|Measure|Trace) (\S+)$", self.output, re.M))


@dataclass(frozen=True)
class Workspace:
    """A copy of the repository in a folder."""

    folder: Path

    def write_study(self, *runs: dict[str, Any], **sections: Any) -> None:
        """Make a small study the default one."""
        self.write(study_content(*runs, **sections))

    def write(self, content: dict[str, Any], path: str = "config/config.yaml") -> None:
        """Write a study, by default as the default one."""
        (self.folder / path).write_text(yaml.safe_dump(content), encoding="utf-8")

    def start(
        self, *command: str, hold: Hold | None = None, terminal: int = subprocess.PIPE, binaries: Path | None = None
    ) -> subprocess.Popen[str]:
        """Start a command in the copy, with its code and this test's environment, as a process group of its own; its
        output goes to a pipe, or to a `terminal`. The folder `binaries` comes first on the path."""
        path = [str(folder) for folder in (binaries, Path(sys.executable).parent, os.environ["PATH"]) if folder]
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src"), "PATH": os.pathsep.join(path)}
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=hold.environment(environment) if hold else environment,
            stdout=terminal,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *command: str, fails: bool = False) -> Outcome:
        """Run a command in the copy to its end, which is a good one unless it `fails`."""
        process = self.start(*command, binaries=forks.binaries())
        output, _ = process.communicate()
        assert bool(process.returncode) == fails, output[-5000:]
        return Outcome(process.returncode, output)

    def snakemake(self, *arguments: str, fails: bool = False) -> Outcome:
        """Run `snakemake ... --cores 2` in the copy."""
        # Another process imports spaCy for longer than the small text takes, and the default scheduler starts a solver.
        few = ("--set-resources", "prepare_english:cpus_per_task=1", "--scheduler", "greedy")
        return self.run("snakemake", *arguments, *few, "--cores", "2", fails=fails)

    def would_run(self) -> dict[str, int]:
        """The jobs that `snakemake` would run now, by rule."""
        return self.snakemake("--dry-run").jobs

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        file = self.folder / path
        file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")

    def would_compute(self) -> set[str]:
        """The jobs that `snakemake` would compute now, by id."""
        return self.snakemake("--dry-run").computed

    def as_cloned(self) -> Path:
        """Leave of the finished study what a repository would hold; the folder of its results."""
        results = self.folder / "results" / "tiny"
        jobs = [record.parent for record in results.glob("*/*/run.json")]
        for path in (self.folder / ".snakemake", self.folder / "resources", *jobs):
            shutil.rmtree(path)
        (results / "report.html").unlink()
        # A checkout gives files any age.
        for path in sorted(results.rglob("*"), reverse=True):
            path.touch()
        return results

    def copied(self, folder: Path) -> Workspace:
        """The same as it stands, in another folder, to change."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Workspace(folder)


def copy_repository(to: Path) -> Workspace:
    for name in ("workflow", "src", "config", "slurm"):
        shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("*.egg-info"))
    shutil.copy(ROOT / "Snakefile", to)
    return Workspace(to)


def copy_with_tests(to: Path) -> Workspace:
    """A copy in which pytest, ruff and mypy run too."""
    workspace = copy_repository(to)
    shutil.copytree(ROOT / "tests", to / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", to)
    return workspace


RUNS: list[dict[str, Any]] = [
    {"placement": "post", "figures": [2, 4], "epochs": 2},
    {"placement": "pre", "figures": [4], "epochs": 2},
    {"placement": "post", "schedule": "constant", "warmup": 0, "figures": [6], "epochs": 2},
]
ADDED: dict[str, Any] = {"seed": 2, "epochs": 1, "figures": [4]}
"""A run that the finished study has not."""


def run_once(make_once: MakeOnce, name: str, content: dict[str, Any]) -> Workspace:
    """A copy of the repository in which a study has been run to its end, once for all processes of pytest. Tests that
    change it, or call Snakemake in it, work on a copy."""

    def fill(folder: Path) -> None:
        workspace = copy_repository(folder)
        workspace.write(content)
        workspace.snakemake()

    return Workspace(make_once(name, fill))


def check_types(make_once: MakeOnce) -> None:
    """Have mypy check the repository, once for all processes of pytest; its cache then knows every file."""
    make_once("a type check", lambda _: Workspace(ROOT).run("mypy"))


@pytest.fixture(scope="session")
def finished(make_once: MakeOnce) -> Workspace:
    """A study that has been run to its end."""
    return run_once(make_once, "a finished study", study_content(*RUNS))


@pytest.fixture
def again(finished: Workspace, tmp_path: Path) -> Workspace:
    """A copy of the finished study, as it stands, to change."""
    return finished.copied(tmp_path / "the same again")


@pytest.fixture
def fresh(tmp_path: Path) -> Workspace:
    """A copy in which nothing has been run."""
    return copy_repository(tmp_path / "a fresh clone")


@pytest.fixture(scope="module")
def chromium() -> Iterator[webdriver.Chrome]:
    """A real browser, without a window."""
    try:
        install(["chromium", "chromium-driver"], ["chromium", "chromedriver"])
    except Unavailable as error:
        pytest.skip(f"no browser here: {error}")
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # Their own paths, so that nothing is looked for on the network.
    options.binary_location = "/usr/bin/chromium"
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    yield driver
    driver.quit()


@contextmanager
def on_a_phone(browser: webdriver.Chrome, width: int) -> Iterator[None]:
    """The browser has a phone's screen of so many pixels."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def assert_dark(browser: webdriver.Chrome, *selectors: str) -> None:
    """At night, the first element of each selector is dark with light letters."""
    night = {"name": "prefers-color-scheme", "value": "dark"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [night]})
    for selector in selectors:
        element = browser.find_element(By.CSS_SELECTOR, selector)
        picture = np.asarray(Image.open(io.BytesIO(element.screenshot_as_png)).convert("L"))
        assert np.median(picture) < 80, selector
        assert picture.max() > 180, selector
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
