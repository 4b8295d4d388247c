"""A trained run translates sentences as it translated them in its training."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import yaml

from preln.cli import app
from preln.config import Study, StudyError, validate
from preln.corpora.tokenisation import detokenise
from preln.errors import PrelnError
from preln.runs import Run, expand
from preln.translation import training
from preln.translation.translating import TrainedRun, show
from tests.conftest import study_content

Trained = tuple[Study, list[Run], Path]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Trained:
    """Two runs of a study, of an epoch each."""
    folder = tmp_path_factory.mktemp("trained")
    content = study_content({"placement": ["post", "pre"], "epochs": 1})
    (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    study = validate(content, "study.yaml")
    runs = expand(study)
    for run in runs:
        training.train_run(study, run, prepared, folder / run.folder)
    return study, runs, folder


def lines(prepared: Path, count: int = 10) -> list[str]:
    return (prepared / "text" / "test.de").read_text(encoding="utf-8").splitlines()[:count]


@pytest.mark.slow
def test_the_translations_are_those_of_the_last_epoch(trained: Trained, prepared: Path) -> None:
    _, runs, folder = trained
    for run in runs:
        recorded = training.tested(folder / run.folder, 1)
        assert recorded is not None
        model = TrainedRun(run, folder, prepared)
        # Detokenised text is compared, for that is what the command prints.
        found = [one.text for (one,) in model.translate(lines(prepared, len(recorded)))]
        assert found == [detokenise(line, "en") for line in recorded]


@pytest.mark.slow
def test_alternatives_come_in_the_order_of_their_scores(trained: Trained, prepared: Path) -> None:
    _, runs, folder = trained
    for hypotheses in TrainedRun(runs[0], folder, prepared).translate(lines(prepared), alternatives=3):
        assert len(hypotheses) == 3
        assert [one.score for one in hypotheses] == sorted((one.score for one in hypotheses), reverse=True)
        assert len({one.text for one in hypotheses}) > 1


@pytest.mark.slow
def test_a_blank_line_stays_blank_and_no_line_moves(trained: Trained, prepared: Path) -> None:
    _, runs, folder = trained
    model = TrainedRun(runs[0], folder, prepared)
    one, two = lines(prepared, 2)
    apart = [model.translate([line])[0][0].text for line in (one, two)]
    found = [hypotheses[0].text for hypotheses in model.translate([one, "  ", two])]
    assert found == [apart[0], "", apart[1]]


@pytest.mark.slow
def test_text_is_prepared_as_the_studys_was(trained: Trained, prepared: Path) -> None:
    _, runs, folder = trained
    model = TrainedRun(runs[0], folder, prepared)
    line = lines(prepared, 1)[0]
    assert model.translate([line.upper()]) == model.translate([line])


@pytest.mark.slow
def test_what_a_model_has_never_seen_and_what_is_too_long_is_said(
    trained: Trained, prepared: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, runs, folder = trained
    model = TrainedRun(runs[0], folder, prepared)
    model.translate(["der 漢"])
    assert "sentence 1: the model has never seen 漢" in caplog.text
    with pytest.raises(PrelnError, match=r"sentence 2: [\d,]+ BPE pieces, and a model reads at most 1,000; divide it"):
        model.translate(["der", "x y z " * 1000])


@pytest.mark.slow
def test_one_model_prints_a_line_for_each_sentence_and_several_a_block(
    trained: Trained, prepared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, runs, folder = trained
    models = [TrainedRun(run, folder, prepared) for run in runs]
    given = lines(prepared, 2)
    show(models[:1], io.StringIO("\n".join(given) + "\n"), beam=None, alternatives=1, scores=False)
    assert capsys.readouterr().out.splitlines() == [found[0].text for found in models[0].translate(given)]
    show(models, io.StringIO(given[0]), beam=2, alternatives=2, scores=True)
    head, *rest = capsys.readouterr().out.splitlines()
    assert head == given[0]
    assert [line.split()[0] for line in rest if line] == [run.id for run in runs for _ in range(2)]
    assert all(float(line.split()[1]) < 0 for line in rest if line)


@pytest.mark.slow
def test_the_command_translates_a_file(
    trained: Trained, prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, runs, folder = trained
    (tmp_path / "lines.de").write_text("\n".join(lines(prepared, 3)) + "\n", encoding="utf-8")
    arguments = [str(folder), runs[1].id, "--file", str(tmp_path / "lines.de"), "--prepared", str(prepared)]
    app(["translate", *arguments], standalone_mode=False)
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.slow
def test_a_run_of_another_name_is_refused_with_the_nearest(trained: Trained) -> None:
    _, runs, folder = trained
    with pytest.raises(StudyError, match=f"did you mean {runs[0].id}"):
        app(["translate", str(folder), runs[0].id.replace("post", "pots")], standalone_mode=False)


def test_a_run_without_weights_or_text_says_what_to_do(prepared: Path, tmp_path: Path) -> None:
    (run,) = expand(validate(study_content(), "study.yaml"))
    with pytest.raises(PrelnError, match="has no weights on this machine.*train the run first"):
        TrainedRun(run, tmp_path, prepared)
    with pytest.raises(PrelnError, match="is not there; run this in the folder in which the study was trained"):
        TrainedRun(run, tmp_path, tmp_path / "nowhere")
