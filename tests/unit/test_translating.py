"""A trained run translates sentences as it translated them in its training."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from preln.commands.cli import app
from preln.config import Study, StudyError, validate
from preln.corpora.typography import as_written
from preln.errors import PrelnError
from preln.records.files import MANIFEST, checksums_in, write_sealed
from preln.translation import training
from preln.translation.runs import Run, expand
from preln.translation.translating import AT_ONCE, TrainedRun, show
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
        # Running text is compared, for that is what the command prints.
        result = [one.text for (one,) in model.translate(lines(prepared, len(recorded)))]
        assert result == [as_written(line, "en") for line in recorded]


@pytest.mark.slow
def test_alternatives_come_in_the_order_of_their_scores(trained: Trained, prepared: Path) -> None:
    _, runs, folder = trained
    for hypotheses in TrainedRun(runs[0], folder, prepared).translate(lines(prepared), alternatives=3):
        assert len(hypotheses) == 3
        assert [translation.score for translation in hypotheses] == sorted(
            (translation.score for translation in hypotheses), reverse=True
        )
        assert len({translation.text for translation in hypotheses}) > 1


@pytest.mark.slow
def test_a_blank_line_stays_blank_and_no_line_moves(trained: Trained, prepared: Path) -> None:
    _, runs, folder = trained
    model = TrainedRun(runs[0], folder, prepared)
    one, two = lines(prepared, 2)
    apart = [model.translate([line])[0][0].text for line in (one, two)]
    result = [hypotheses[0].text for hypotheses in model.translate([one, "  ", two])]
    assert result == [apart[0], "", apart[1]]


@pytest.mark.slow
def test_text_is_prepared_as_the_studys_was(trained: Trained, prepared: Path) -> None:
    _, runs, folder = trained
    model = TrainedRun(runs[0], folder, prepared)
    line = lines(prepared, 1)[0]
    assert model.translate([line.upper()]) == model.translate([line])


@pytest.mark.slow
def test_what_a_model_has_never_seen_and_what_is_too_long_is_said_with_its_line(
    trained: Trained, prepared: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, runs, folder = trained
    model = TrainedRun(runs[0], folder, prepared)
    many = ["der"] * (AT_ONCE + 1)
    show([model], io.StringIO("\n".join([*many, "der 漢"])), beam=1, alternatives=1, scores=False)
    assert f"{runs[0].id}, sentence {AT_ONCE + 2}: the model has never seen 漢" in caplog.text
    with pytest.raises(
        PrelnError, match=rf"sentence {AT_ONCE + 2}: [\d,]+ BPE pieces, and a model reads at most 1,000"
    ):
        show([model], io.StringIO("\n".join([*many, "x y z " * 1000])), beam=1, alternatives=1, scores=False)


@pytest.mark.slow
def test_one_model_prints_a_line_for_each_sentence_and_several_a_block(
    trained: Trained, prepared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, runs, folder = trained
    models = [TrainedRun(run, folder, prepared) for run in runs]
    inputs = lines(prepared, 2)
    show(models[:1], io.StringIO("\n".join(inputs) + "\n"), beam=None, alternatives=1, scores=False)
    assert capsys.readouterr().out.splitlines() == [result[0].text for result in models[0].translate(inputs)]
    show(models, io.StringIO(inputs[0]), beam=2, alternatives=2, scores=True)
    head, *rest = capsys.readouterr().out.splitlines()
    assert head == inputs[0]
    assert [line.split()[0] for line in rest if line] == [run.id for run in runs for _ in range(2)]
    assert all(float(line.split()[1]) < 0 for line in rest if line)


@pytest.mark.slow
def test_the_command_searches_with_the_beam_that_is_asked_for(
    trained: Trained, prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, runs, folder = trained
    (tmp_path / "lines.de").write_text("\n".join(inputs := lines(prepared)) + "\n", encoding="utf-8")
    arguments = [str(folder), runs[0].id, "--file", str(tmp_path / "lines.de"), "--prepared", str(prepared)]
    app(["translate", *arguments, "--beam", "20"], standalone_mode=False)
    result = capsys.readouterr().out.splitlines()
    model = TrainedRun(runs[0], folder, prepared)
    # So many alternatives need as wide a beam.
    assert result == [best.text for best, *_ in model.translate(inputs, alternatives=20)]
    assert result != [best.text for best, *_ in model.translate(inputs)]


@pytest.mark.slow
def test_the_text_is_found_beside_the_results_of_a_module_with_a_prefix(
    trained: Trained,
    prepared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, runs, folder = trained
    shutil.copytree(folder, tmp_path / "prefix" / "results" / "tiny")
    shutil.copytree(prepared, tmp_path / "prefix" / runs[0].prepared[0].folder)
    monkeypatch.chdir(tmp_path)
    Path("lines.de").write_text("\n".join(lines(prepared, 2)) + "\n", encoding="utf-8")
    app(["translate", "prefix/results/tiny", runs[0].id, "--file", "lines.de"], standalone_mode=False)
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.slow
def test_standard_output_has_the_translations_alone_and_a_mark_of_utf_8_is_no_word(
    trained: Trained, prepared: Path
) -> None:
    _, runs, folder = trained
    inputs = lines(prepared, 2)
    command = [sys.executable, "-m", "preln", "translate", str(folder), runs[0].id, "--prepared", str(prepared)]
    text = "\n".join(inputs).encode("utf-8-sig")
    done = subprocess.run(command, input=text, capture_output=True, check=True, env={**os.environ, "LC_ALL": "C"})
    expected = [result[0].text for result in TrainedRun(runs[0], folder, prepared).translate(inputs)]
    assert done.stdout.decode().splitlines() == expected
    assert done.stderr == b""


@pytest.mark.slow
def test_text_that_is_not_utf_8_is_refused(trained: Trained, prepared: Path, tmp_path: Path) -> None:
    _, runs, folder = trained
    (tmp_path / "lines.de").write_bytes("für".encode("latin-1"))
    arguments = [str(folder), runs[0].id, "--file", str(tmp_path / "lines.de"), "--prepared", str(prepared)]
    with pytest.raises(PrelnError, match="lines.de: not UTF-8 .*; convert it, for example with iconv"):
        app(["translate", *arguments], standalone_mode=False)


@pytest.mark.slow
def test_another_text_than_the_runs_is_refused(trained: Trained, prepared: Path, tmp_path: Path) -> None:
    _, runs, folder = trained
    shutil.copytree(prepared, tmp_path / "other")
    record = tmp_path / "other" / "text" / "corpus.json"
    content = json.loads(record.read_text())
    next(iter(content["parts"]["train"]["files"].values()))["sha256"] = "another"
    record.write_text(json.dumps(content))
    write_sealed(record.parent / MANIFEST, {"files": checksums_in(record.parent)})
    with pytest.raises(PrelnError, match=f"other: {runs[0].id} was trained on another text"):
        TrainedRun(runs[0], folder, tmp_path / "other")


@pytest.mark.slow
def test_a_run_of_another_name_is_refused_with_the_nearest(trained: Trained) -> None:
    _, runs, folder = trained
    with pytest.raises(StudyError, match=f"did you mean {runs[0].id}"):
        app(["translate", str(folder), runs[0].id.replace("post", "pots")], standalone_mode=False)


def test_a_run_without_weights_or_text_says_what_to_do(prepared: Path, tmp_path: Path) -> None:
    (run,) = expand(validate(study_content(), "study.yaml"))
    with pytest.raises(PrelnError, match="no weights on this machine.*train the run first"):
        TrainedRun(run, tmp_path, prepared)
    with pytest.raises(PrelnError, match="nowhere: not a prepared text: text/corpus.json is missing"):
        TrainedRun(run, tmp_path, tmp_path / "nowhere")
