"""A machine with two GPUs and no Slurm: real Snakemake and real trainings, on GPUs that are none."""

from pathlib import Path

import pytest

from tests.workflow.conftest import Workspace

# The machine, and a meeting: nobody trains before two have claimed what they train on, and have noted it.
TWO_GPUS = """

LOCKS = Path({folder!r})


def shown_gpus() -> list[str]:
    return ["first", "second"]


_claim = claim


def claim(execution: Execution) -> None:
    _claim(execution)
    (LOCKS / f"{{os.getpid()}}.gpu").write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "all"))
    while len(list(LOCKS.glob("*.gpu"))) < 2:
        time.sleep(0.1)
"""


def test_two_runs_train_at_once_each_on_a_gpu_of_its_own(
    again: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    machine = tmp_path / "machine"
    machine.mkdir()
    again.edit("src/preln/training/machine.py", lambda code: code + TWO_GPUS.format(folder=str(machine)))
    again.write_study({"placement": "post", "epochs": 1, "seed": [11, 12]}, execution={"gpus": 1})
    records = [f"results/tiny/translation/post-adam-lr2e-3-wu10-epochs1-s{seed}/run.json" for seed in (11, 12)]
    outcome = again.run("snakemake", *records, "--cores", "2")
    assert outcome.jobs == {"train_translation": 2}
    assert sorted(path.read_text() for path in machine.glob("*.gpu")) == ["0", "1"]
