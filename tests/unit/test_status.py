"""`preln status`: what it reads off a job's files at each moment of its life, and what it says of the whole study."""

import io
import json
import os
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from rich.console import Console
from typer.testing import CliRunner

from preln.commands import progress
from preln.commands.cli import app
from preln.commands.progress import SILENT_SECONDS
from preln.commands.status import StudyProgress
from preln.config import Study, validate, write
from preln.fairseq_plugin.log import newest_progress
from preln.pretraining import runs
from preln.pretraining.kind import finetuning
from preln.pretraining.runs import FinetuningJob
from preln.records.files import sealed, write_json, write_json_lines, write_sealed
from preln.theory import measurement_jobs
from preln.translation.kind import TRANSLATION
from preln.translation.runs import Run, expand
from tests.conftest import ROOT, bert_content, study_content
from tests.made_up.states import LINE, NOW, training
from tests.refused import refusal


@pytest.fixture
def run() -> Run:
    return expand(validate(study_content({"epochs": 4}), "my.yaml"))[0]


def test_a_run_that_has_not_begun_waits_and_one_that_is_silent_for_long_has_stopped(run: Run, tmp_path: Path) -> None:
    assert TRANSLATION.progress(run, tmp_path, NOW).state == "waiting"
    training(tmp_path, LINE, written=NOW - SILENT_SECONDS - 1)
    assert TRANSLATION.progress(run, tmp_path, NOW).state == "stopped"


def test_a_run_with_metrics_is_done(run: Run, tmp_path: Path) -> None:
    training(tmp_path, LINE)
    ended(tmp_path, 400)
    row = TRANSLATION.progress(run, tmp_path, NOW)
    assert (row.state, row.done, row.scores["BLEU"], row.left) == ("finished", 4, 3.0, None)
    ended(tmp_path, 2, diverged=17)
    assert TRANSLATION.progress(run, tmp_path, NOW).told().plain == "diverged (update 17)"


@pytest.mark.parametrize("begun_again", [False, True])
def test_a_record_of_other_settings_is_not_done(begun_again: bool, run: Run, tmp_path: Path) -> None:
    log = training(tmp_path, LINE)
    ended(tmp_path, 400)
    write_sealed(tmp_path / "run.json", {"identity": {**run.identity, "dropout": 0.7}})
    os.utime(tmp_path / "run.json", (NOW - 10, NOW - 10))
    if not begun_again:
        os.utime(log.with_name("attempts.jsonl"), (NOW - 20, NOW - 20))
    assert TRANSLATION.progress(run, tmp_path, NOW).state == ("training" if begun_again else "waiting")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"status": "finished"'])
def test_a_record_that_is_damaged_is_named(content: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "metrics.json").write_text(content, encoding="utf-8")
    assert TRANSLATION.progress(run, tmp_path, NOW).told().plain == "damaged (metrics.json)"


def test_lines_that_are_not_progress_are_passed_over(tmp_path: Path) -> None:
    log = training(tmp_path, LINE, {"epoch": 1, "train_loss": "7.1", "train_ups": "3"})
    with open(log, "a", encoding="utf-8") as file:
        file.write('begin validation\n{"epoch": 2, "upd')
    newest = newest_progress(log)
    assert newest is not None and newest.loss == 7.5


FINAL = {"train_loss": 6.0, "valid_loss": 6.5, "test_bleu": 3.0, "tokens_per_second": 900.0}


def ended(folder: Path, seconds: float, diverged: int | None = None) -> None:
    """The metrics of a run that finished, or diverged at an update."""
    metrics = {
        **{"status": "diverged" if diverged else "finished", "diverged": diverged and {"update": diverged}},
        **{"epochs": 0 if diverged else 4, "final": None if diverged else FINAL, "seconds": seconds},
    }
    write_json(folder / "metrics.json", metrics)


@pytest.fixture
def study() -> Study:
    """Four runs."""
    return validate(study_content({"epochs": 4, "seed": [1, 2, 3, 4]}), "my.yaml")


def test_a_study_has_left_what_its_running_jobs_have_and_a_usual_time_of_others(study: Study, tmp_path: Path) -> None:
    first, second, third, _ = (tmp_path / run.folder for run in expand(study))
    ended(first, 400)
    # 125 seconds are left of 200.
    training(second, LINE)
    training(third, LINE)
    whole = StudyProgress.read(study, tmp_path, NOW)
    assert (whole.done, whole.at_once) == (1, 2)
    assert whole.left == pytest.approx((125 + 125 + (400 + 200 + 200) / 3) / 2)


def test_a_training_that_has_logged_nothing_yet_counts_among_those_that_run(study: Study, tmp_path: Path) -> None:
    first, second, *_ = (tmp_path / run.folder for run in expand(study))
    ended(first, 400)
    training(second)
    assert StudyProgress.read(study, tmp_path, NOW).left == pytest.approx(3 * 400)


def test_the_time_left_is_not_known_before_a_run_that_did_not_diverge_can_tell(study: Study, tmp_path: Path) -> None:
    first, second, *_ = (tmp_path / run.folder for run in expand(study))
    assert StudyProgress.read(study, tmp_path, NOW).left is None
    ended(first, 2, diverged=17)
    assert StudyProgress.read(study, tmp_path, NOW).left is None
    ended(second, 400)
    assert StudyProgress.read(study, tmp_path, NOW).left == pytest.approx(2 * 400)


def test_the_measurements_of_the_theory_are_done_or_not(tmp_path: Path) -> None:
    study = validate(study_content(theory={"seeds": 3, "exact": {"seeds": 5}}), "my.yaml")
    layers, depths, _ = measurement_jobs.expand(study)
    for job, record in ((layers, {"identity": layers.identity, "seconds": 4.0}), (depths, {})):
        write_sealed(tmp_path / job.folder / "run.json", record)
    _, section = StudyProgress.read(study, tmp_path, NOW).sections
    assert [(row.id, row.told().plain, row.done, row.of) for row in section.rows] == [
        ("exact-layers", "finished", 5, 5),
        ("exact-depths", "damaged (run.json)", 0, 5),
        ("exact-widths", "waiting", 0, 5),
    ]


def written(study: Study, folder: Path) -> Path:
    """The results of a study of which a run is being trained, and one has diverged."""
    folder /= study.study
    write(study, folder / "study.yaml")
    first, second, *_ = (folder / run.folder for run in expand(study))
    training(first, {**LINE, "loss": "nan", "wps": "inf"})
    ended(second, 2, diverged=17)
    return folder


def status(*arguments: object) -> str:
    """The output of `preln status`, in a file."""
    return CliRunner().invoke(app, ["status", *map(str, arguments)], catch_exceptions=False).stdout


def test_for_programs_it_is_json_with_the_fields_that_the_page_lists(study: Study, tmp_path: Path) -> None:
    content = json.loads(status(written(study, tmp_path), "--json"), parse_constant=pytest.fail)
    assert (content["study"], content["done"], content["of"]) == ("tiny", 1, 4)
    job, other, *_ = content["jobs"]
    assert (job["kind"], job["unit"]) == ("translation", "epoch")
    assert (job["scores"]["train"], job["tokens_per_second"]) == (None, None)
    assert (other["state"], other["detail"], other["is_done"]) == ("diverged", "update 17", True)
    page = (ROOT / "docs" / "your-own-study.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (`.*?`) \|", page.partition("### As JSON")[2].partition("\n#")[0], re.MULTILINE)
    fields = [field for cell in listed for field in re.findall(r"`(\w+)`", cell)]
    assert fields == [*content, *job]


BEGINNING = """\
Nothing has been trained or measured yet.
  preln plan {0}  estimates the cost
  preln run {0}   starts the study
"""


@pytest.fixture
def in_a_folder(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the study is written and nothing was run."""
    monkeypatch.chdir(tmp_path)
    write(study, Path("config/mine.yaml"))
    Path("config/another.yaml").write_text("study: [", encoding="utf-8")
    return tmp_path


def test_a_study_that_was_never_run_is_shown_from_its_file_with_the_command_that_begins_it(in_a_folder: Path) -> None:
    assert status("results/tiny").startswith("tiny: 0 of 4 jobs done")
    assert status("results/tiny").endswith(BEGINNING.format("config/mine.yaml"))
    assert json.loads(status("results/tiny", "--json"))["of"] == 4


def test_a_study_of_which_no_job_has_begun_says_so_until_one_has(in_a_folder: Path, study: Study) -> None:
    results = in_a_folder / "results" / "tiny"
    results.mkdir(parents=True)
    (in_a_folder / "config" / "mine.yaml").rename(results / "study.yaml")
    assert status("results/tiny").endswith(BEGINNING.format("results/tiny"))
    training(results / expand(study)[0].folder, LINE)
    assert "Nothing has been" not in status("results/tiny")


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("results/norms", "did you mean norms/results/norms?"),
        ("norms/results/norm", "did you mean norms/results/norms?"),
        ("norms/results/mine", "there are results in norms/results/norms"),
    ],
)
def test_where_a_folder_holds_no_results_the_nearest_are_named(asked: str, hint: str, in_a_folder: Path) -> None:
    (in_a_folder / "norms" / "results" / "norms").mkdir(parents=True)
    (in_a_folder / "norms" / "results" / "norms" / "study.yaml").touch()
    assert refusal("status", asked) == f"preln: {asked}: holds no results; {hint}"


def test_the_file_of_a_study_stands_for_its_results(in_a_folder: Path, study: Study) -> None:
    assert status("config/mine.yaml").endswith(BEGINNING.format("config/mine.yaml"))
    training(in_a_folder / "results" / "tiny" / expand(study)[0].folder, LINE)
    Path("results/tiny/study.yaml").write_bytes(Path("config/mine.yaml").read_bytes())
    assert status("config/mine.yaml") == status("results/tiny")
    assert "not YAML" in refusal("status", "config/another.yaml")


def test_a_study_that_is_watched_by_its_file_is_looked_for_in_the_folder_of_its_results(
    in_a_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Mock()
    monkeypatch.setattr("preln.commands.status.show", shown)
    status("config/mine.yaml", "--watch")
    assert shown.call_args.args[1:3] == (Path("results/tiny"), Path("config/mine.yaml"))


def test_a_study_without_results_is_refused_with_the_command_that_makes_them_and_a_wrong_name_with_the_one_meant(
    in_a_folder: Path,
) -> None:
    asked = "preln run config/mine.yaml"
    assert refusal("summary", "config/mine.yaml") == f"preln: results/tiny: holds no results yet; they come by {asked}"
    assert "did you mean config/mine.yaml?" in refusal("summary", "config/mime.yaml")


def test_beside_the_results_of_others_a_study_that_was_never_run_is_shown_from_its_file(in_a_folder: Path) -> None:
    (in_a_folder / "results" / "other").mkdir(parents=True)
    (in_a_folder / "results" / "other" / "study.yaml").touch()
    assert status("results/tiny").startswith("tiny: 0 of 4 jobs done")


def test_a_terminal_gets_bars_and_colours(study: Study, tmp_path: Path) -> None:
    terminal = Console(file=io.StringIO(), force_terminal=True, color_system="standard", no_color=False, width=140)
    with terminal.capture() as shown:
        terminal.print(StudyProgress.read(study, written(study, tmp_path), NOW).view(bars=True))
    assert "\x1b[35mdiverged (update 17)" in shown.get() and "━" in shown.get()


def test_watching_a_study_ends_when_all_of_it_is_done() -> None:
    assert "12 of 12 jobs done" in status(ROOT / "results" / "first-updates", "--watch")


def test_a_training_shows_its_newest_loss_its_last_epochs_scores_and_the_time_left(run: Run, tmp_path: Path) -> None:
    training(tmp_path, {**LINE, "update": 1.2, "loss": "7.9"}, LINE)
    row = TRANSLATION.progress(run, tmp_path, NOW)
    assert (row.state, row.done, row.scores) == ("training", 1.5, {"train": 7.5, "valid": 8.0, "BLEU": 1.25})
    # 100 updates an epoch, 2.5 epochs left, 2 updates a second.
    assert row.left == pytest.approx(125)


ROW = {"batch_size": 16, "learning_rate": 1e-3, "epochs": 1, "seed": 1, "f1": 0.5, "seconds": 30.0}


@pytest.fixture
def job() -> FinetuningJob:
    return runs.finetunings(validate(bert_content(), "my.yaml"))[0]


def state(folder: Path, files: dict[str, Any], written: float = NOW) -> None:
    """A job's state with files of lines of JSON."""
    for name, lines in {"attempts.jsonl": [{}], **files}.items():
        path = folder / "state" / "abc" / name
        write_json_lines(path, lines)
        os.utime(path, (written, written))


def test_a_fine_tuning_that_has_not_begun_waits(job: FinetuningJob, tmp_path: Path) -> None:
    assert finetuning(job, tmp_path, NOW).state == "waiting"


def test_a_pre_training_shows_its_updates_its_losses_and_the_time_left(tmp_path: Path) -> None:
    (bert,) = runs.expand(validate(bert_content(), "my.yaml"))
    log, validations = [{**LINE, "num_updates": "8"}], [{"updates": 6, "valid_loss": 8.25}]
    state(tmp_path, {"training.log": log, "record.jsonl": validations})
    row = progress.training(bert, tmp_path, NOW)
    assert (row.state, row.done, row.of) == ("training", 8, bert.settings.updates)
    assert row.scores == {"train": 7.5, "valid": 8.25}
    assert row.left == pytest.approx((bert.settings.updates - 8) / 2)


def test_fine_tunings_show_how_many_are_done_and_their_mean_accuracy(job: FinetuningJob, tmp_path: Path) -> None:
    rows = [{**ROW, "accuracy": 0.5}, {**ROW, "seed": 2, "accuracy": 0.75}, {**ROW, "seed": 3, "accuracy": None}]
    state(tmp_path, {"record.jsonl": rows})
    row = finetuning(job, tmp_path, NOW)
    assert (row.state, row.done, row.of, row.scores) == ("fine-tuning", 3, 4, {"accuracy": 0.625})
    assert row.left == pytest.approx(30)


def test_a_fine_tuning_that_takes_long_has_not_stopped(job: FinetuningJob, tmp_path: Path) -> None:
    rows = [{**ROW, "accuracy": 0.5, "seconds": SILENT_SECONDS}]
    state(tmp_path, {"record.jsonl": rows}, NOW - 2 * SILENT_SECONDS)
    assert finetuning(job, tmp_path, NOW).state == "fine-tuning"


SCORES, FINISHED = "seed,accuracy\n1,0.5\n2,\n", json.dumps(sealed({"status": "finished"}))


def test_fine_tunings_with_a_run_json_are_done_without_their_state(job: FinetuningJob, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text(SCORES, encoding="utf-8")
    (tmp_path / "run.json").write_text(FINISHED, encoding="utf-8")
    row = finetuning(job, tmp_path, NOW)
    assert (row.state, row.done, row.scores) == ("finished", 2, {"accuracy": 0.5})


@pytest.mark.parametrize(
    ("record", "scores", "damaged"),
    [
        ("", SCORES, "run.json"),
        ('{"status": "finished"}', SCORES, "run.json"),
        (FINISHED, "", "scores.csv"),
        (FINISHED, None, "scores.csv"),
    ],
)
def test_a_fine_tunings_record_that_is_damaged_is_named(
    record: str, scores: str | None, damaged: str, job: FinetuningJob, tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text(record, encoding="utf-8")
    if scores is not None:
        (tmp_path / "scores.csv").write_text(scores, encoding="utf-8")
    assert finetuning(job, tmp_path, NOW).told().plain == f"damaged ({damaged})"
