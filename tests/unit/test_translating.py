"""A trained run translates sentences as it translated them in its training."""

import io
import json
import os
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from preln.config import StudyError, validate, write
from preln.corpora.typography import as_written
from preln.errors import PrelnError
from preln.records.files import MANIFEST, checksums_in, write_sealed
from preln.translation import training
from preln.translation.runs import Run, expand
from preln.translation.translating import AT_ONCE, TrainedRun, _read, show
from tests.conftest import study_content
from tests.refused import call

pytestmark = pytest.mark.slow

Trained = tuple[list[Run], Path]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Trained:
    """Two runs of a study, of an epoch each, and the folder of its results."""
    folder = tmp_path_factory.mktemp("trained")
    study = validate(study_content({"placement": ["post", "pre"], "epochs": 1}), "study.yaml")
    write(study, folder / "study.yaml")
    runs = expand(study)
    for run in runs:
        training.train_run(study, run, prepared, folder / run.folder)
    return runs, folder


@pytest.fixture(scope="module")
def model(trained: Trained, prepared: Path) -> TrainedRun:
    runs, folder = trained
    return TrainedRun(runs[0], folder, prepared)


def lines(prepared: Path, count: int = 10) -> list[str]:
    return (prepared / "text" / "test.de").read_text(encoding="utf-8").splitlines()[:count]


def test_the_translations_are_those_of_the_last_epoch(trained: Trained, prepared: Path) -> None:
    runs, folder = trained
    for run in runs:
        recorded = training.tested(folder / run.folder, 1)
        assert recorded is not None
        model = TrainedRun(run, folder, prepared)
        # Running text is compared, for that is what the command prints.
        result = [hypothesis.text for (hypothesis,) in model.translate(lines(prepared, len(recorded)))]
        assert result == [as_written(line, "en") for line in recorded]


def test_alternatives_come_in_the_order_of_their_scores(model: TrainedRun, prepared: Path) -> None:
    for hypotheses in model.translate(lines(prepared), alternatives=3):
        assert len(hypotheses) == 3
        scores = [translation.score for translation in hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len({translation.text for translation in hypotheses}) > 1


def test_a_blank_line_stays_blank_and_no_line_moves(model: TrainedRun, prepared: Path) -> None:
    first, second = lines(prepared, 2)
    apart = [model.translate([line])[0][0].text for line in (first, second)]
    result = [hypotheses[0].text for hypotheses in model.translate([first, "  ", second])]
    assert result == [apart[0], "", apart[1]]


def test_a_carriage_return_ends_no_line(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(b"one\rstill one\r\ntwo\n")
    with path.open(newline="\n") as file:
        assert list(_read(file)) == ["one\rstill one", "two"]


def test_text_is_prepared_as_the_studys_was(model: TrainedRun, prepared: Path) -> None:
    (line,) = lines(prepared, 1)
    assert model.translate([line.upper()]) == model.translate([line])


def test_accents_are_composed(model: TrainedRun) -> None:
    assert model.translate([unicodedata.normalize("NFD", "für")]) == model.translate(["für"])


def test_what_is_unseen_or_too_long_is_said_with_its_line(model: TrainedRun, caplog: pytest.LogCaptureFixture) -> None:
    def show_last(line: str) -> None:
        show([model], io.StringIO("\n".join([*["der"] * (AT_ONCE + 1), line])), beam=1, alternatives=1, scores=False)

    show_last("der 漢")
    assert f"{model.run.id}, sentence {AT_ONCE + 2}: the model has never seen 漢" in caplog.text
    message = rf"sentence {AT_ONCE + 2}: [\d,]+ BPE pieces, and a model reads at most 1,000"
    with pytest.raises(PrelnError, match=message):
        show_last("x y z " * 1000)


def test_several_models_print_a_block_for_each_sentence(
    trained: Trained, prepared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, folder = trained
    models = [TrainedRun(run, folder, prepared) for run in runs]
    (sentence,) = lines(prepared, 1)
    show(models, io.StringIO(sentence), beam=2, alternatives=2, scores=True)
    head, *rest = capsys.readouterr().out.splitlines()
    assert head == sentence
    assert [line.split()[0] for line in rest if line] == [run.id for run in runs for _ in range(2)]
    assert all(float(line.split()[1]) < 0 for line in rest if line)


def test_the_command_searches_with_the_beam_that_is_asked_for(
    trained: Trained, model: TrainedRun, prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, folder = trained
    (tmp_path / "lines.de").write_text("\n".join(inputs := lines(prepared)) + "\n", encoding="utf-8")
    call("translate", folder, runs[0].id, "--file", tmp_path / "lines.de", "--prepared", prepared, "--beam", 20)
    result = capsys.readouterr().out.splitlines()
    # So many alternatives need as wide a beam.
    assert result == [best.text for best, *_ in model.translate(inputs, alternatives=20)]
    assert result != [best.text for best, *_ in model.translate(inputs)]


def test_standard_output_has_the_translations_alone_and_a_mark_of_utf_8_is_no_word(
    trained: Trained, model: TrainedRun, prepared: Path
) -> None:
    runs, folder = trained
    inputs = lines(prepared, 2)
    command = [sys.executable, "-m", "preln", "translate", str(folder), runs[0].id, "--prepared", str(prepared)]
    text = "\n".join(inputs).encode("utf-8-sig")
    done = subprocess.run(command, input=text, capture_output=True, check=True, env={**os.environ, "LC_ALL": "C"})
    assert done.stdout.decode().splitlines() == [result[0].text for result in model.translate(inputs)]
    assert done.stderr == b""


def test_text_that_is_not_utf_8_is_refused(trained: Trained, prepared: Path, tmp_path: Path) -> None:
    runs, folder = trained
    (tmp_path / "lines.de").write_bytes("für".encode("latin-1"))
    with pytest.raises(PrelnError, match="lines.de: not UTF-8 .*; convert it, for example with iconv"):
        call("translate", folder, runs[0].id, "--file", tmp_path / "lines.de", "--prepared", prepared)


def test_another_text_than_the_runs_is_refused(trained: Trained, prepared: Path, tmp_path: Path) -> None:
    runs, folder = trained
    shutil.copytree(prepared, tmp_path / "other")
    record = tmp_path / "other" / "text" / "corpus.json"
    content = json.loads(record.read_text())
    next(iter(content["parts"]["train"]["files"].values()))["sha256"] = "another"
    record.write_text(json.dumps(content))
    write_sealed(record.parent / MANIFEST, {"files": checksums_in(record.parent)})
    with pytest.raises(PrelnError, match=f"other: {runs[0].id} was trained on another text"):
        TrainedRun(runs[0], folder, tmp_path / "other")


def test_a_run_of_another_name_is_refused_with_the_nearest(trained: Trained) -> None:
    runs, folder = trained
    with pytest.raises(StudyError, match=f"did you mean {runs[0].id}"):
        call("translate", folder, runs[0].id.replace("post", "pots"))


def test_a_run_without_weights_or_text_says_what_to_do(prepared: Path, tmp_path: Path) -> None:
    (run,) = expand(validate(study_content(), "study.yaml"))
    with pytest.raises(PrelnError, match="no weights on this machine.*train the run first"):
        TrainedRun(run, tmp_path, prepared)
    with pytest.raises(PrelnError, match="nowhere: not a prepared text: text/corpus.json is missing"):
        TrainedRun(run, tmp_path, tmp_path / "nowhere")
