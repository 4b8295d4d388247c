"""A record names the code that made it."""

import os
import subprocess
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preln.config import Execution
from preln.fused import products
from preln.records import provenance
from preln.records.files import write_json_lines
from preln.training.state import RunState
from tests.refused import names

NAMES = st.text("ABCabc123=, ", max_size=9)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of which `src/preln/module.py` and `README.md` are committed, with the package in it."""
    package = tmp_path / "src" / "preln"
    package.mkdir(parents=True)
    (package / "module.py").write_text("A = 1\n")
    for name in ("Snakefile", "requirements.txt"):
        (tmp_path / name).write_text("1\n")
    (tmp_path / "README.md").write_text("Read me.\n")
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "First"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(provenance, "HERE", package)
    return tmp_path


def test_a_clean_clone_is_its_commit_whatever_repository_or_user_the_environment_has(
    clone: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = subprocess.run
    head = run(["git", "rev-parse", "HEAD"], cwd=clone, capture_output=True, text=True, check=True).stdout.strip()
    assert provenance.commit() == {"commit": head, "commit_changed": False}

    other = tmp_path_factory.mktemp("other")
    run(["git", "init", "-q"], cwd=other, check=True)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    assert provenance.commit() == {"commit": head, "commit_changed": False}

    def as_another_user(command: list[str], **options: Any) -> Any:
        return run(command, **{**options, "env": {**options["env"], "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}})

    monkeypatch.setattr(subprocess, "run", as_another_user)
    assert provenance.commit() == {"commit": head, "commit_changed": False}


@pytest.mark.parametrize("hidden", ["--assume-unchanged", "--skip-worktree"])
def test_a_change_that_git_is_told_to_overlook_is_said(hidden: str, clone: Path) -> None:
    module = clone / "src" / "preln" / "module.py"
    subprocess.run(["git", "update-index", hidden, module], cwd=clone, check=True)
    module.write_text("A = 2\n")
    assert provenance.commit()["commit_changed"] is True


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        *((name, True) for name in ("src/preln/module.py", "src/preln/new.py", "Snakefile", "requirements.txt")),
        *((name, False) for name in ("README.md", "config/own.yaml")),
    ],
)
def test_a_change_of_what_numbers_are_made_from_is_said(name: str, changed: bool, clone: Path) -> None:
    (clone / "config").mkdir()
    (clone / name).write_text("2\n")
    assert provenance.commit()["commit_changed"] is changed


def test_without_a_repository_the_commit_is_not_known_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(provenance, "HERE", tmp_path)
    assert provenance.commit() == {"commit": None, "commit_changed": None}
    assert "git knows no commit" in caplog.text


@pytest.mark.parametrize(("gpus", "is_slow", "computed_in"), [(0, True, "fp32"), (0, False, "bf16"), (1, True, "bf16")])
def test_the_hardware_has_cores_gpus_loops_and_in_what_products_of_bf16_are_computed(
    gpus: int, is_slow: bool, computed_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "IN_FP32", is_slow)
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda i: "a GPU")
    hardware = provenance.hardware(Execution(cpus=2, gpus=gpus))
    assert (hardware["cores_used"], hardware["gpus"]) == (2, ["a GPU"] * gpus)
    assert hardware["loops"] in ("AVX512", "AVX2", "DEFAULT", "PyTorch")
    assert hardware["bf16_products_in"] == computed_in


@pytest.mark.parametrize("content", [None, "processor : 0\nBogoMIPS : 50.00\n"], ids=["another system", "ARM's Linux"])
def test_a_nameless_processor_is_its_kind(content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if content is not None:
        (tmp_path / "cpuinfo").write_text(content)
    monkeypatch.setattr(provenance, "PROCESSORS", tmp_path / "cpuinfo")
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert provenance.hardware(Execution())["processor"] == "arm64"


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without settings of the libraries."""
    for name in provenance.library_settings():
        monkeypatch.delenv(name)


@pytest.mark.slow
@pytest.mark.usefixtures("plain")
@settings(max_examples=25)
@given(st.dictionaries(st.from_regex("(MKL|ONEDNN|DNNL|OPENBLAS|ATEN|OMP|NPY)_[A-Z]{1,9}", fullmatch=True), NAMES))
def test_settings_of_libraries_that_change_digits_are_part_of_the_hardware(settings: dict[str, str]) -> None:
    noted = {name: value for name, value in settings.items() if not name.startswith(("OMP_", "NPY_"))}
    # Snakemake sets numbers of threads.
    with patch.dict(os.environ, {**settings, "MKL_NUM_THREADS": "1"}):
        assert provenance.hardware(Execution()).get("libraries", {}) == noted


@pytest.mark.usefixtures("plain")
def test_a_continuation_under_other_settings_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    state = RunState(tmp_path / "state" / "aaa")
    state.begin(Execution())
    state.begin(Execution())
    assert not caplog.text
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    state.begin(Execution())
    assert names(caplog.text, str(state.folder), "continued with MKL_CBWR=COMPATIBLE", "differ in their last digits")
    noted = [attempt["hardware"].get("libraries") for attempt in state.attempts()]
    assert noted == [None, None, {"MKL_CBWR": "COMPATIBLE"}]


def test_a_continuation_with_or_without_graphs_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    state = RunState(tmp_path / "state" / "aaa")
    state.begin(Execution(gpus=1))
    (first,) = state.attempts()
    # Attempts of an older version have no graphs.
    write_json_lines(state.attempts_file, [{key: first[key] for key in first if key != "graphs"}])
    state.begin(Execution(gpus=1))
    assert not caplog.text
    state.begin(Execution(gpus=1, graphs=True))
    assert names(caplog.text, str(state.folder), "begun with graphs: false, and continued with graphs: true")
    assert [attempt.get("graphs") for attempt in state.attempts()] == [None, False, True]
