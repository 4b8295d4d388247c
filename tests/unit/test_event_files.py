"""A training that TensorBoard shows is the same training, and its curve is one however often it was interrupted."""

from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

from preln.config import validate
from preln.errors import PrelnError
from preln.jobs.checking import check
from preln.pretraining import runs as pretraining
from preln.pretraining.training import pretrain_run
from preln.translation.training import train_run
from tests.conftest import Trained, bert_content, hide_tensorboard, study_content
from tests.moments import NewHold, in_epoch
from tests.refused import refused
from tests.trainings import finish, kill_at, numbers, write_study

# At other intervals, the first point after an interruption may be the mean over fewer updates.
WATCHED = {"log_interval": 1, "tensorboard": True}
TENSORBOARD = pytest.mark.skipif(
    find_spec("tensorboard") is None, reason="tensorboard is not installed (requirements-watch.txt)"
)


@pytest.mark.slow
def test_where_tensorboard_is_not_installed_a_study_is_planned_and_a_training_refused(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_tensorboard(monkeypatch)
    assert check(study_content(execution=WATCHED), "my.yaml").jobs["translation"]
    study, run = write_study(tmp_path, execution=WATCHED)
    install = "python -m pip install --no-deps --requirement"
    parts = ("execution.tensorboard", "not installed", install, "locks/requirements-watch.txt", "false")
    with refused(PrelnError, *parts):
        train_run(study, run, prepared, tmp_path / run.id)


def read(folder: Path) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """The updates and values of each part and quantity that TensorBoard reads in a folder, without times."""
    from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer

    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    return {
        (Path(part).name, tag): [(event.step, event.value) for event in multiplexer.Scalars(part, tag)]
        for part, result in multiplexer.Runs().items()
        for tag in result["scalars"]
        if tag not in ("wps", "ups", "wall", "train_wall", "gb_free")
    }


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Trained:
    folder = tmp_path_factory.mktemp("watched")
    _, run = write_study(folder, execution=WATCHED)
    finish(folder, run, prepared)
    return folder, run


@pytest.mark.slow
@TENSORBOARD
def test_tensorboard_shows_every_logged_update_and_every_validation(watched: Trained) -> None:
    folder, run = watched
    curve = pd.read_csv(folder / run.id / "curve.csv")
    curves = read(folder / run.id)
    updates = [update for update, _ in curves["train_inner", "loss"]]
    assert updates == list(range(1, curve["updates"].iloc[-1] + 1))
    for part in ("valid", "test"):
        losses = dict(curves[part, "loss"])
        assert losses == pytest.approx(dict(zip(curve["updates"], curve[f"{part}_loss"], strict=True)), abs=1e-3)


@pytest.mark.slow
@TENSORBOARD
def test_it_changes_no_number(watched: Trained, uninterrupted: Trained) -> None:
    assert numbers(*uninterrupted) == numbers(*watched)
    assert not list(uninterrupted[0].rglob("events.out.*"))


@pytest.mark.slow
@TENSORBOARD
def test_a_killed_training_has_the_curves_of_an_uninterrupted_one(
    watched: Trained, hold: NewHold, prepared: Path, tmp_path: Path
) -> None:
    _, run = write_study(tmp_path, execution=WATCHED)
    kill_at([in_epoch(1), in_epoch(3)], hold, tmp_path, run, prepared)
    finish(tmp_path, run, prepared)
    assert len(list(tmp_path.rglob("train_inner/events.out.*"))) > 2
    assert read(tmp_path / run.id) == read(watched[0] / watched[1].id)


@pytest.mark.slow
@TENSORBOARD
def test_several_processes_write_one_curve(prepared: Path, tmp_path: Path) -> None:
    _, run = write_study(tmp_path, processes=2, accumulate=2, epochs=1, execution=WATCHED)
    finish(tmp_path, run, prepared)
    last = pd.read_csv(tmp_path / run.id / "curve.csv")["updates"].iloc[-1]
    assert [update for update, _ in read(tmp_path / run.id)["train_inner", "loss"]] == list(range(1, last + 1))


@pytest.mark.slow
@TENSORBOARD
def test_a_pre_training_is_shown_too(prepared_text: Path, tmp_path: Path) -> None:
    study = validate(bert_content(execution=WATCHED), "my.yaml")
    (run,) = pretraining.expand(study)
    pretrain_run(study, run, prepared_text, tmp_path / run.id)
    curve = pd.read_csv(tmp_path / run.id / "curve.csv")
    losses = dict(read(tmp_path)["valid", "loss"])
    assert losses == pytest.approx(dict(zip(curve["updates"], curve["valid_loss"], strict=True)), abs=1e-3)
