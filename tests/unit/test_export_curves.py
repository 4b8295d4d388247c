"""Exported curves are those of the records, read with the software that they are for."""

import math
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from preln.config import of_results, validate, write
from preln.errors import PrelnError
from preln.export.curves import SETTINGS, load
from preln.pretraining import runs as pretraining
from preln.records import packed
from preln.theory import trace_jobs
from preln.translation.runs import expand
from tests.conftest import ROOT
from tests.made_up.traces import content, done, made_up
from tests.made_up.translation import ADAM, recorded_study
from tests.refused import call, refused

RECORDS = ROOT / "results" / "quick-record"
"""Translation runs and pre-trainings."""


@pytest.fixture
def table(tmp_path: Path) -> pd.DataFrame:
    call("export", RECORDS, "--to", "csv", "--out", tmp_path / "curves.csv")
    return pd.read_csv(tmp_path / "curves.csv")


def recorded(path: Path) -> pd.DataFrame:
    """A run's own table, whose `learning_rate` is the rate at the time."""
    return pd.read_csv(BytesIO(packed.read_bytes(path / "curve.csv"))).rename(columns={"learning_rate": "rate"})


@pytest.mark.slow
def test_the_table_has_every_number_of_every_curve(table: pd.DataFrame) -> None:
    study = of_results(RECORDS / "study.yaml")
    runs = [*expand(study), *pretraining.expand(study)]
    numbers = 0
    for run in runs:
        expected = recorded(RECORDS / run.folder)
        own_rows = table[(table["kind"] == run.kind) & (table["run"] == run.id)]
        for quantity in set(expected) - {"updates", "epoch"}:
            result = own_rows[own_rows["quantity"] == quantity].set_index("update")["value"]
            assert result.to_dict() == expected.set_index("updates")[quantity].to_dict(), (run.id, quantity)
            numbers += len(result)
    assert len(table) == numbers > 500


def test_a_row_has_the_settings_that_tell_runs_apart(table: pd.DataFrame) -> None:
    assert set(SETTINGS) < set(table)
    settings = {run.id: run.settings for run in expand(of_results(RECORDS / "study.yaml"))}
    rows = table[table["kind"] == "translation"].drop_duplicates("run")
    names = ["placement", "optimizer", "learning_rate", "warmup", "seed"]
    assert rows.set_index("run")[names].T.to_dict("list") == {
        run: [getattr(settings[run], name) for name in names] for run in rows["run"]
    }
    assert table[table["kind"] == "pretraining"]["optimizer"].isna().all()


def test_traces_are_curves_without_what_was_not_measured(tmp_path: Path) -> None:
    study = validate(content({"placement": ["post"], "decoder_layers": 2}, updates=12), "my.yaml")
    (job,) = trace_jobs.expand(study)
    done(study, job, tmp_path, made_up(job))
    write(study, tmp_path / "tiny" / "study.yaml")
    call("export", tmp_path / "tiny", "--to", "csv", "--out", tmp_path / "curves.csv")
    table = pd.read_csv(tmp_path / "curves.csv")
    assert set(table["kind"]) == {"first-updates"}
    sharpness = table[table["quantity"] == "sharpness"]
    assert sharpness[["update", "value"]].to_numpy().tolist() == [[0, 10], [4, 14], [8, 18], [12, 22]]
    assert {"loss", "rate", "gradient_norm.decoder.2"} <= set(table["quantity"])


def test_tensorboard_reads_every_number_of_a_run_over_its_updates(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed (requirements-watch.txt)")
    from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer

    call("export", RECORDS, "--to", "tensorboard", "--out", tmp_path / "curves")
    read = EventMultiplexer().AddRunsFromDirectory(str(tmp_path / "curves"))
    read.Reload()
    study = of_results(RECORDS / "study.yaml")
    runs = [run for run in [*expand(study), *pretraining.expand(study)] if len(recorded(RECORDS / run.folder))]
    assert set(read.Runs()) == {run.folder for run in runs}
    for run in runs:
        expected = recorded(RECORDS / run.folder).set_index("updates")
        quantities = set(expected) - {"epoch"}
        assert set(read.Runs()[run.folder]["tensors"]) == quantities
        for quantity in quantities:
            events = read.Tensors(run.folder, quantity)
            values = {event.step: event.tensor_proto.float_val[0] for event in events}
            assert values == {update: np.float32(value) for update, value in expected[quantity].items()}
            # So that its axis of time is that of the training.
            assert [event.wall_time for event in events] == pytest.approx(expected["seconds"].cumsum().tolist())


def test_one_run_may_be_exported_alone(tmp_path: Path) -> None:
    run = "pre-lr1e-3-wu0-s1"
    call("export", RECORDS, run, "--to", "csv", "--out", tmp_path / "curves.csv")
    assert set(pd.read_csv(tmp_path / "curves.csv")["run"]) == {run}


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["pre-lr1e-3-wu0-s2", "--to", "csv"], ("no run pre-lr1e-3-wu0-s2", "pre-lr1e-3-wu0-s1")),
        (["--to", "csv"], ("study.yaml", "ends in .csv")),
        (["--to", "huggingface"], ("--to huggingface", "name the run", "preln status")),
    ],
    ids=["no such run", "no table by its name", "a model of no run"],
)
def test_a_refused_export_leaves_a_file_as_it_is(arguments: list[str], parts: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "study.yaml"
    out.write_text("study: mine\n", encoding="utf-8")
    with refused(PrelnError, *parts):
        call("export", RECORDS, *arguments, "--out", out)
    assert out.read_text(encoding="utf-8") == "study: mine\n"


def test_of_a_study_of_which_nothing_is_done_there_are_no_curves(tmp_path: Path) -> None:
    write(validate(content(), "my.yaml"), tmp_path / "study.yaml")
    with refused(PrelnError, str(tmp_path), "no finished curve", "preln status"):
        call("export", tmp_path, "--to", "csv", "--out", tmp_path / "curves.csv")
    assert not (tmp_path / "curves.csv").exists()


@pytest.fixture
def ended(tmp_path: Path) -> pd.DataFrame:
    """The curves of a study whose runs differ in dropout too: one finished, one diverged at once, one later."""
    grid = [{**ADAM, "warmup": 0, "dropout": [0.1, 0.3], "seed": [1, 2]}]
    study, runs = recorded_study(tmp_path, [7.0, 6.0], ([], 7), ([3.0], 130), grid=grid)
    return load(study, tmp_path, runs)


def test_a_placement_of_ones_own_is_called_by_its_name(placement_file: Path, tmp_path: Path) -> None:
    study, runs = recorded_study(tmp_path, [7.0], grid=[{**ADAM, "placement": str(placement_file)}])
    assert set(load(study, tmp_path, runs)["placement"]) == {"again"}


def test_no_mean_is_the_better_for_a_run_that_diverged(ended: pd.DataFrame) -> None:
    last = ended.sort_values("update").groupby(["dropout", "seed", "quantity"])["value"].last().unstack()
    mean = last.groupby("dropout")[["valid_loss", "test_bleu", "test_sacrebleu"]].mean()
    assert mean["valid_loss"].tolist() == [math.inf, math.inf]
    assert mean["test_bleu"].tolist() == [12.3456 / 2, 0]


def test_a_run_has_its_status_and_each_setting_that_differs_in_the_study(ended: pd.DataFrame) -> None:
    rows = ended.drop_duplicates("run")[["dropout", "seed", "status"]]
    assert rows.to_numpy().tolist() == [[0.1, 1, "finished"], [0.1, 2, "diverged"], [0.3, 1, "diverged"]]
    assert "label_smoothing" not in ended, "it does not differ"
    # One without a curve is there at the update at which it diverged.
    at_once = ended[(ended["dropout"] == 0.1) & (ended["seed"] == 2)]
    assert set(at_once["update"]) == {7}
    assert {"valid_loss", "test_bleu"} <= set(at_once["quantity"])


def test_parquet_has_what_csv_has(table: pd.DataFrame, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (requirements-parquet.txt)")
    call("export", RECORDS, "--to", "parquet", "--out", tmp_path / "curves.parquet")
    read = pd.read_parquet(tmp_path / "curves.parquet")
    pd.testing.assert_frame_equal(read, table, check_dtype=False)
    assert read["epoch"].dtype == "Int64"
