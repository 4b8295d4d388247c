"""Before and while the environment is made: one line that says what to do, and how far it is."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.refused import names


def tool(name: str, *arguments: str, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """The outcome of a tool with an input, and with more variables in its environment."""
    command, environment = ["/bin/bash", str(ROOT / "tools" / name), *arguments], {**os.environ, **variables}
    return subprocess.run(command, cwd=ROOT, env=environment, input=given, capture_output=True, text=True)


def stand_in(folder: Path, name: str, script: str) -> str:
    program = folder / name
    program.write_text(f"#!/bin/bash\n{script}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (None, "install Python 3.11 to 3.13"),
        ("echo 3.9", "is Python 3.9, and 3.11 to 3.13 is needed"),
        ('case $2 in "") ;; import\\ sys*\\;*) echo 3.11 ;; *) exit 1 ;; esac', "apt-get install python3.11-venv"),
        ("case $2 in import\\ sys*\\;*) echo 3.12 ;; *) echo /nowhere ;; esac", "apt-get install python3.12-dev"),
    ],
    ids=["no Python", "old Python", "no venv", "no headers"],
)
def test_a_python_that_will_not_do_is_told_in_one_line(script: str | None, message: str, tmp_path: Path) -> None:
    python = stand_in(tmp_path, "python", script) if script else "/no/such/python"
    outcome = tool("check-machine.sh", python, ".venv")
    assert outcome.returncode == 1
    assert message in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("programs", "advice"),
    [
        ({"apt-get": "true"}, "apt-get install g++"),
        ({"uname": "echo Darwin"}, "xcode-select --install"),
        ({"uname": "echo Linux"}, "install it (on Debian, the package is g++)"),
    ],
    ids=["Debian", "macOS", "another Linux"],
)
def test_a_missing_compiler_is_told_and_what_installs_it(programs: dict[str, str], advice: str, tmp_path: Path) -> None:
    for name, script in programs.items():
        stand_in(tmp_path, name, script)
    outcome = tool("check-machine.sh", sys.executable, ".venv", PATH=str(tmp_path))
    assert outcome.stderr == f"preln: no C++ compiler found: {advice}\n"


def test_an_environment_of_another_python_is_to_be_removed_first(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    stand_in(tmp_path / "bin", "python", "echo 3.10")
    (line,) = tool("check-machine.sh", sys.executable, str(tmp_path)).stderr.splitlines()
    assert names(line, "is of Python 3.10", f"rm -r {tmp_path}")


@pytest.mark.parametrize(("free", "torch"), [(7_999_999, "cuda"), (2_999_999, "cpu"), (3_000_000, "cpu")])
def test_a_disk_of_the_environment_that_is_too_small_is_told_in_one_line(free: int, torch: str, tmp_path: Path) -> None:
    # As POSIX has it (-P), which df of Linux and of macOS both write.
    said = f"Filesystem 1024-blocks Used Available Capacity Mounted on\\n//server/our share 9 1 {free} 99%% /a\\n"
    stand_in(tmp_path, "df", f"[ \"$1 $2\" = '-Pk {tmp_path}' ] && printf '{said}'")
    new = tmp_path / "not" / "there yet" / "venv"
    path = f"{tmp_path}:{os.environ['PATH']}"
    outcome = tool("check-machine.sh", sys.executable, str(new), torch, PATH=path)
    if free == 3_000_000:
        assert (outcome.returncode, outcome.stderr) == (0, "")
    else:
        (line,) = outcome.stderr.splitlines()
        assert names(line, f"only {free // 1000} MB are free in {tmp_path}, ", "the environment needs ")


def test_each_package_that_pip_speaks_of_is_counted_whether_it_was_there_or_not() -> None:
    begins = ("Collecting a==1 (from -r x)", "Processing /a.whl (from -r x)", "Requirement already satisfied: a==1")
    messages = [line for n in range(40) for line in (begins[n % 3], "  Downloading a-1-py3-none-any.whl (1 kB)")]
    given = "\n".join([*messages, "Installing collected packages: a", ""])
    outcome = tool("count-packages.sh", "40", given=given)
    assert outcome.returncode == 0
    assert re.findall(r"(\d+) of 40 packages, about \d+ s left", outcome.stdout) == ["20", "40"]
    assert outcome.stdout.splitlines()[-1].startswith("preln: all 40 packages are there")


def install(
    folder: Path, word: str, then: str = "", **variables: str
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run the installation with a stand-in for Python, which `then` does more: its outcome, and Python's calls."""
    calls = folder / "calls"
    calls.touch()
    python = stand_in(folder, "python", f'echo "$PIP_EXTRA_INDEX_URL $@" >> "{calls}"\n{then}')
    outcome = tool("install.sh", python, word, **variables)
    return outcome, calls.read_text().splitlines()


@pytest.mark.parametrize(
    ("word", "asked"),
    [
        ("", "{torch}"),
        ("cuda", "{torch}"),
        ("cu126", "{torch}+cu126 --extra-index-url https://download.pytorch.org/whl/cu126"),
    ],
    ids=["no word", "cuda", "cu126"],
)
def test_a_word_chooses_the_torch_that_is_installed_beside_a_users_index(word: str, asked: str, tmp_path: Path) -> None:
    (torch,) = re.findall(r"^torch==\S+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    outcome, calls = install(tmp_path, word, PIP_EXTRA_INDEX_URL="file:///mine")
    assert outcome.returncode == 0, outcome.stderr
    (call,) = (call for call in calls if "torch==" in call)
    assert call == f"file:///mine -m pip install --constraint requirements.txt {asked.format(torch=torch)}"
    assert len(calls) == 5


def test_the_pinned_pip_is_installed_by_its_hashes_before_all_else(tmp_path: Path) -> None:
    (pip,) = re.findall(r"^pip==\S+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    asked = tmp_path / "asked"
    outcome, calls = install(tmp_path, "", then=f'case $* in */dev/fd/*) cat "${{@: -1}}" > "{asked}" ;; esac')
    assert "--require-hashes" in calls[0]
    assert re.fullmatch(rf"{re.escape(pip)}( \\\n +--hash=sha256:[0-9a-f]{{64}})+\n", asked.read_text())
    assert f"step 1 of {len(calls)}: {pip}" in outcome.stdout


@pytest.mark.parametrize("word", ["gpu", "CPU", "cu12", "cu126 cpu", "12.6"])
def test_another_word_is_refused_before_anything_is_installed(word: str, tmp_path: Path) -> None:
    outcome, calls = install(tmp_path, word)
    assert (outcome.returncode, calls) == (1, [])
    (message,) = outcome.stderr.splitlines()
    assert names(message, f"TORCH={word}", "cpu", "cuda", "cu126")


def test_a_version_of_cuda_that_pytorch_does_not_have_is_told_with_where_they_are_listed(tmp_path: Path) -> None:
    outcome, calls = install(tmp_path, "cu999", then="case $* in *cu999*) exit 1 ;; esac")
    assert (outcome.returncode, len(calls)) == (1, 3)
    assert names(outcome.stderr, "+cu999", "TORCH=cu999", "https://pytorch.org"), outcome.stderr


@pytest.mark.parametrize(
    "cause",
    [
        "NewConnectionError: Failed to resolve download.pytorch.org",
        "ConnectTimeoutError(host='download.pytorch.org', port=443): timed out",
        "Failed to establish a new connection: [Errno 111] Connection refused",
    ],
)
@pytest.mark.parametrize("word", ["cpu", "cuda"])
def test_an_index_out_of_reach_is_named_last_and_not_what_pip_concludes(word: str, cause: str, tmp_path: Path) -> None:
    fail = f'echo "WARNING: {cause}" >&2; echo "ERROR: ResolutionImpossible" >&2; exit 1'
    outcome, _ = install(tmp_path, word, then=f"case $* in *torch==*) {fail} ;; esac")
    last = outcome.stderr.splitlines()[-1]
    assert names(last, f"TORCH={word}", "cannot be reached from here"), outcome.stderr
    assert names(last, "https://download.pytorch.org/whl/cpu", "leave TORCH out") == (word == "cpu")


@pytest.mark.parametrize(("given", "word"), [([], "cuda"), (["TORCH=cpu"], "cpu")], ids=["no word", "cpu"])
def test_make_hands_the_word_to_the_installation(given: list[str], word: str, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TORCH"}
    command = ["make", "--dry-run", f"VENV={tmp_path}/new", *given, "reproduce"]
    said = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    assert f'bash tools/install.sh "{tmp_path}/new/bin/python" "{word}"' in said.splitlines()
