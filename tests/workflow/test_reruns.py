"""A change reruns what depends on it, and nothing else."""

import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from preln.config import load
from preln.translation.runs import expand
from tests.conftest import RUN, study_content
from tests.moments import NewHold, in_epoch
from tests.workflow.conftest import ADDED, RUNS, Workspace

SHOWN = {"draw_figure": 5, "write_table": 2, "judge_claims": 1, "write_report": 1, "write_records": 1}


def test_a_finished_study_has_its_figures_and_tables(finished: Workspace) -> None:
    results = finished.folder / "results" / "tiny"
    for number in (2, 4, 6, "runs"):
        assert (results / "figures" / f"figure-{number}.pdf").read_bytes().startswith(b"%PDF")
        assert (results / "figures" / f"figure-{number}.png").read_bytes().startswith(b"\x89PNG")
    names = {f"{table}.{form}" for table in ("runs", "rate-budgets") for form in ("csv", "md", "tex")}
    assert {path.name for path in (results / "tables").iterdir()} == names


@pytest.mark.parametrize(
    ("runs", "jobs"),
    [
        ([*RUNS[:2], {**RUNS[2], "learning_rate": 0.003}], {"train_translation": 1, **SHOWN}),
        ([RUNS[0], RUNS[2]], SHOWN),
    ],
    ids=["a run's rate", "a run is removed"],
)
def test_a_change_of_the_study_runs_what_depends_on_it(
    runs: list[dict[str, Any]], jobs: dict[str, int], again: Workspace
) -> None:
    again.write_study(*runs)
    assert again.would_run() == jobs


def test_the_reports_code_makes_figures_tables_and_the_page_again(again: Workspace) -> None:
    again.edit("src/preln/translation/report/paper_figures.py", lambda code: code + "\nADDED = 1\n")
    outcome = again.snakemake("--dry-run")
    assert outcome.jobs.keys() == {"draw_figure", "write_table", "judge_claims", "write_report"}
    assert not outcome.computed
    reasons = [line for line in outcome.output.splitlines() if line.startswith("Reason: Params")]
    assert reasons and max(map(len, reasons)) < 200


def test_newer_files_comments_in_the_code_and_settings_that_change_no_number_rerun_nothing(again: Workspace) -> None:
    plugin = ("fairseq_plugin/translation.py", "fairseq_plugin/launch.py")
    for module in (*plugin, "translation/training.py", "fused/norm.py", "commands/cli.py"):
        again.edit(f"src/preln/{module}", lambda code: code + "\n# A remark.\n")
    again.write_study(*RUNS, execution={"log_interval": 7, "cpus": 2, "memory_mb": 5000, "tensorboard": True})
    (text,) = (again.folder / "resources" / "corpora").glob("*/text")
    studies = (again.folder / path for path in ("config/config.yaml", "results/tiny/study.yaml"))
    tomorrow = time.time() + 24 * 60 * 60
    for path in (text, *text.rglob("*"), *studies):
        os.utime(path, (tomorrow, tomorrow))
    assert again.would_run() == {}


def test_a_clone_lays_out_its_records_and_makes_the_same_tables_again(again: Workspace) -> None:
    results = again.folder / "results" / "tiny"

    def numbers() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in [*(results / "tables").iterdir(), results / "records.jsonl"]}

    before = numbers()
    again.as_cloned()
    shutil.rmtree(results / "tables")
    (results / "figures" / "figure-2.png").unlink()
    outcome = again.snakemake()
    assert outcome.computed == set()
    assert "prepare_text" not in outcome.jobs
    assert numbers() == before
    assert again.would_run() == {}
    (results / "records.jsonl").touch()
    assert again.would_run() == {}
    # A text that is prepared afterwards is no reason to lay the records out again.
    again.snakemake("prepared")
    assert again.would_run() == {}


def test_a_dry_run_writes_nothing_and_trains_in_a_clone_what_is_added_or_has_other_settings(again: Workspace) -> None:
    results = again.as_cloned()

    def files() -> dict[Path, tuple[int, bytes]]:
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in results.rglob("*") if path.is_file()}

    before = files()
    # The runs keep their ids.
    content = study_content(*RUNS)
    content["translation"] = {**content["translation"], "settings": {**RUN, "dropout": 0.2}}
    again.write(content)
    assert len(again.would_compute()) == len(RUNS)
    again.write_study(*RUNS, ADDED)
    assert len(again.would_compute()) == 1
    again.write_study(*RUNS)
    assert again.would_compute() == set()
    assert files() == before


def test_copied_records_of_other_settings_are_computed_again(again: Workspace) -> None:
    shutil.rmtree(again.folder / ".snakemake")
    content = study_content(*RUNS)
    content["translation"] = {**content["translation"], "settings": {**RUN, "dropout": 0.2}}
    again.write(content)
    results = again.folder / "results" / "tiny"
    run, *others = expand(load(results / "study.yaml"))
    assert again.snakemake(f"results/tiny/{run.folder}/metrics.json").computed == {run.id}
    assert all((results / other.folder / "run.json").exists() for other in others)


def test_without_its_text_a_finished_study_has_nothing_to_do_and_a_new_text_trains_nothing(again: Workspace) -> None:
    shutil.rmtree(again.folder / "resources")
    assert again.would_run() == {}
    again.snakemake("prepared")
    assert again.would_compute() == set()


def test_the_file_of_the_study_as_it_was_run_is_written_again_and_trains_nothing(again: Workspace) -> None:
    results = again.folder / "results" / "tiny"
    content = (results / "study.yaml").read_bytes()
    (results / "study.yaml").write_text("study: tiny\n", encoding="utf-8")
    (results / "tables" / "runs.csv").unlink()
    assert again.snakemake().jobs == {"write_table": 1}
    assert (results / "study.yaml").read_bytes() == content


def test_a_run_of_a_clone_is_trained_again_if_forced_and_laid_out_by_a_submitted_job(again: Workspace) -> None:
    again.as_cloned()
    run, *_ = expand(load(again.folder / "results" / "tiny" / "study.yaml"))
    record = f"results/tiny/{run.folder}/metrics.json"
    for forced, runs in ((["--forceall"], len(RUNS)), (["--force", record], 1)):
        jobs = again.snakemake("--dry-run", *forced).jobs
        assert (jobs["binarise"], jobs["train_translation"]) == (1, runs)
    # Snakemake forces what it submits.
    submitted = ("--mode", "remote", "--force", "--target-jobs", f"train_translation:run={run.id}")
    outcome = again.snakemake("--dry-run", *submitted, "--allowed-rules", "train_translation")
    assert outcome.computed == set()
    assert f"Lay out the record of {run.id}" in outcome.output


def test_a_new_version_of_the_preparation_prepares_and_trains_everything(again: Workspace) -> None:
    again.edit("src/preln/translation/runs.py", lambda code: code + "\nPREPARATION_VERSION = 1000\n")
    jobs = again.would_run()
    assert (jobs["prepare_text"], jobs["train_translation"]) == (1, len(RUNS))


def test_a_workflow_that_is_killed_is_taken_up_again_and_meanwhile_a_second_one_leaves_its_study_alone(
    again: Workspace, hold: NewHold
) -> None:
    again.write_study(ADDED)
    process = again.start("snakemake", "--cores", "2", hold=(here := hold(in_epoch(1))))
    here.wait(process)
    study = again.folder / "results" / "tiny" / "study.yaml"
    before = study.read_bytes()
    again.write_study({**ADDED, "seed": 3})
    refused = again.snakemake(fails=True)
    assert "LockException" in refused.output or "cannot be locked" in refused.output, refused.output
    assert study.read_bytes() == before
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    again.write_study(ADDED)
    again.snakemake("--unlock")
    outcome = again.snakemake("--rerun-incomplete", "--until", "train_translation")
    assert outcome.jobs == {"train_translation": 1}


def test_a_training_that_outlives_its_workflow_is_computed_anew_without_a_lock(again: Workspace, hold: NewHold) -> None:
    again.write_study(ADDED)
    process = again.start("snakemake", "--cores", "2", hold=(here := hold(in_epoch(1))))
    here.wait(process)
    os.kill(process.pid, signal.SIGKILL)
    here.let_go()
    process.communicate()
    again.write_study(ADDED, description="Without a lock")
    outcome = again.snakemake("--nolock", "--rerun-incomplete", "--until", "train_translation")
    assert len(outcome.computed) == outcome.jobs["train_translation"] == 1
    assert b"Without a lock" in (again.folder / "results" / "tiny" / "study.yaml").read_bytes()


def test_snakemakes_report_is_made(again: Workspace) -> None:
    again.snakemake("--report", "report.zip")
    assert (again.folder / "report.zip").stat().st_size > 100_000


def ages(folder: Path) -> dict[str, int]:
    """When each file was written, by its path."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_a_clone_trains_on_the_text_that_another_has_prepared_and_leaves_it(again: Workspace, fresh: Workspace) -> None:
    fresh.write_study({"epochs": 1})
    assert fresh.would_run().keys() > {"prepare_text", "prepare_bpe", "binarise"}
    before = ages(again.folder / "resources")
    # A link is all that it takes.
    (fresh.folder / "resources").symlink_to(again.folder / "resources")
    assert fresh.snakemake("--until", "train_translation").jobs == {"train_translation": 1}
    assert ages(again.folder / "resources") == before
    assert "train_translation" not in fresh.would_run()
    assert again.would_run() == {}
