"""Fine-tuning through real fairseq: from the weights of a checkpoint, scored once, and continued where it was."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from fairseq.data import Dictionary

from preln.config import GridPoint, PretrainingSettings, Study, validate
from preln.fairseq_plugin import launch, options
from preln.fairseq_plugin.checkpoints import keep_weights, kept_weights
from preln.fairseq_plugin.masked_lm import weights_name
from preln.pretraining import finetuning, training
from preln.pretraining.finetuning import COLUMNS, finetune
from preln.pretraining.runs import FinetuningJob, finetunings
from preln.records.files import MANIFEST, replaced_folder, write_json
from preln.training.state import RunState
from tests.conftest import bert_content, hide_tensorboard
from tests.models import model_of

pytestmark = pytest.mark.slow

UPDATE = 6


def study_and_job(**changes: Any) -> tuple[Study, FinetuningJob]:
    study = validate(bert_content(checkpoints=(UPDATE,), **changes), "study.yaml")
    return study, finetunings(study)[0]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, prepared_text: Path) -> Path:
    """The folder of a finished run that has kept weights: those of its initialisation, as any will do here."""
    study, job = study_and_job()
    folder = tmp_path_factory.mktemp("pretraining")
    state = training.state_of(job.run, prepared_text, folder / job.run.id).folder
    state.mkdir(parents=True)
    arguments = options.pretraining(job.run.settings, prepared_text / "binary", state, [], study.execution)
    keep_weights(state / weights_name(UPDATE), model_of(arguments).state_dict())
    write_json(folder / job.run.id / "metrics.json", {"diverged": None, "updates": 12})
    return folder


@pytest.fixture(scope="module")
def weights(runs: Path) -> Path:
    (path,) = runs.rglob(weights_name(UPDATE))
    return path


def scores(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "scores.csv")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, runs: Path, prepared_text: Path, prepared_task: Path) -> Path:
    """The folder of fine-tunings that are done. The trainings of such a study are watched; its fine-tunings need no
    TensorBoard."""
    study, job = study_and_job(execution={"tensorboard": True})
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        hide_tensorboard(patch)
        finetune(study, job, prepared_text, prepared_task, runs, folder)
    return folder


def test_every_point_and_seed_is_scored(whole: Path) -> None:
    table = scores(whole)
    assert list(table.columns) == COLUMNS
    assert list(zip(table["learning_rate"], table["seed"], strict=True)) == [(1e-3, 1), (1e-3, 2), (2e-3, 1), (2e-3, 2)]
    # Dev has 20 pairs.
    assert ((table["accuracy"] * 20).round(9) % 1 == 0).all()
    record = json.loads((whole / "run.json").read_text())
    assert record["status"] == "finished"
    assert record["task"]["parts"]["dev"]["pairs"] == 20
    assert record["identity"] == json.loads(json.dumps(study_and_job()[1].identity))


def rewrite(folder: Path, name: str, text: str) -> None:
    """Prepare a folder once more, with another content of one file."""
    contents = {path.name: path.read_text() for path in folder.iterdir() if path.name != MANIFEST} | {name: text}
    with replaced_folder(folder) as anew:
        for file, content in contents.items():
            (anew / file).write_text(content)


def test_other_pairs_are_fine_tuned_anew_and_the_same_pairs_from_elsewhere_are_not(
    runs: Path, whole: Path, prepared_text: Path, prepared_task: Path, tmp_path: Path
) -> None:
    study, job = study_and_job()
    shutil.copytree(whole, tmp_path / "out")
    task = Path(shutil.copytree(prepared_task, tmp_path / "task"))
    pieces = task / "pieces"

    def states() -> int:
        finetune(study, job, prepared_text, task, runs, tmp_path / "out")
        return len(list((tmp_path / "out" / "state").iterdir()))

    assert states() == 1
    record = json.loads((pieces / "task.json").read_text())
    rewrite(pieces, "task.json", json.dumps({**record, "settings": {**record["settings"], "folder": "elsewhere"}}))
    assert states() == 1
    rewrite(pieces, "dev.label", "".join(f"{1 - int(label)}\n" for label in (pieces / "dev.label").read_text().split()))
    assert states() == 2


def test_a_grid_that_is_half_done_goes_on_and_ends_as_a_whole_one(
    runs: Path, whole: Path, prepared_text: Path, prepared_task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, job = study_and_job()
    done = 0
    real = finetuning._finetuned

    def killed(*arguments: Any) -> dict[str, Any]:
        nonlocal done
        done += 1
        if done == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(finetuning, "_finetuned", killed)
    with pytest.raises(KeyboardInterrupt):
        finetune(study, job, prepared_text, prepared_task, runs, tmp_path / "half")
    state = next((tmp_path / "half" / "state").iterdir())
    # The kill may have cut off a line.
    with open(state / "record.jsonl", "a") as record:
        record.write('{"batch_size": 16, "learn')
    done = 10
    finetune(study, job, prepared_text, prepared_task, runs, tmp_path / "half")
    assert done == 12
    pd.testing.assert_frame_equal(scores(tmp_path / "half"), scores(whole))
    assert [entry["finetunings_before"] for entry in RunState(state).attempts()] == [0, 2]


def begun(settings: PretrainingSettings, weights: Path, task: Path, folder: Path, seed: int) -> Any:
    """The model that a fine-tuning begins with."""
    study, _ = study_and_job()
    point = GridPoint(batch_size=16, learning_rate=1e-3, epochs=1)
    arguments = options.finetuning(settings, point, seed, 4, weights, task / "binary", folder, study.execution)
    return model_of(arguments, seed)


def test_it_begins_with_a_checkpoints_weights_and_new_head(weights: Path, prepared_task: Path, tmp_path: Path) -> None:
    _, job = study_and_job()
    first, second = (begun(job.run.settings, weights, prepared_task, tmp_path, seed) for seed in (1, 2))
    kept = kept_weights(weights)
    state = first.state_dict()
    assert all(torch.equal(state[name], value) for name, value in kept.items())
    assert all(name.startswith("classification_heads.") for name in state.keys() - kept.keys())
    head = "classification_heads.sentence_classification_head.out_proj.weight"
    assert not torch.equal(state[head], second.state_dict()[head])


def test_scores_are_what_counting_the_answers_gives(weights: Path, prepared_task: Path, tmp_path: Path) -> None:
    """At a rate that moves nothing, the model that is scored is the one that it began with."""
    study, job = study_and_job()
    point = GridPoint(batch_size=16, learning_rate=1e-12, epochs=1)
    binary = prepared_task / "binary"
    arguments = options.finetuning(job.run.settings, point, 2, 4, weights, binary, tmp_path, study.execution)
    launch.train(arguments, "fp32", RunState(tmp_path), study.execution)
    result = json.loads((tmp_path / "scores.json").read_text())

    model = begun(job.run.settings, weights, prepared_task, tmp_path, seed=2).eval()
    words = Dictionary.load(str(binary / "input0" / "dict.txt"))
    lines = [(prepared_task / "pieces" / f"dev.{side}").read_text().splitlines() for side in ("input0", "input1")]
    labels = [int(line) for line in (prepared_task / "pieces" / "dev.label").read_text().split()]
    answers = []
    for first, second in zip(*lines, strict=True):
        left, right = (words.encode_line(line, add_if_not_exist=False).long() for line in (first, second))
        tokens = torch.cat([torch.tensor([words.bos()]), left, torch.tensor([words.eos()]), right])
        scores, _ = model(tokens[None], features_only=True, classification_head_name="sentence_classification_head")
        answers.append(int(scores.argmax()))
    right = sum(answer == label for answer, label in zip(answers, labels, strict=True))
    both = sum(answer == label == 1 for answer, label in zip(answers, labels, strict=True))
    assert result["pairs"] == len(labels)
    assert result["accuracy"] == pytest.approx(right / len(labels))
    assert result["f1"] == pytest.approx(2 * both / (sum(answers) + sum(labels)))


def test_a_checkpoint_that_a_diverged_run_never_reached_has_no_scores(
    prepared_text: Path, prepared_task: Path, tmp_path: Path
) -> None:
    study, job = study_and_job()
    write_json(tmp_path / job.run.id / "metrics.json", {"diverged": {"update": 4}, "updates": 3})
    finetune(study, job, prepared_text, prepared_task, tmp_path, tmp_path / "out")
    assert len(scores(tmp_path / "out")) == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["status"] == "not reached"


def test_a_fine_tuning_that_diverges_has_no_score_and_the_others_go_on(
    runs: Path, prepared_text: Path, prepared_task: Path, tmp_path: Path
) -> None:
    content = bert_content(checkpoints=(UPDATE,))
    content["finetuning"]["learning_rates"] = [1e-3]
    study = validate(content, "study.yaml")
    job = finetunings(study)[0]
    copied = shutil.copytree(runs, tmp_path / "pretraining")
    state = training.state_of(job.run, prepared_text, copied / job.run.id).folder
    broken = kept_weights(state / weights_name(UPDATE))
    broken["encoder.sentence_encoder.layers.0.fc2.weight"].fill_(math.inf)
    keep_weights(state / weights_name(UPDATE), broken)
    finetune(study, job, prepared_text, prepared_task, copied, tmp_path / "out")
    assert scores(tmp_path / "out")["accuracy"].isna().all()
    assert len(scores(tmp_path / "out")) == 2
