"""Two studies are compared by what they have in common, and a number is called worse only where that can be told."""

import hashlib
import json
import math
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from preln.commands.cli import app
from preln.commands.compare import Comparison, compare, text
from preln.config import load, validate, write
from preln.jobs.base import text_id
from preln.records.files import append_json, read_sealed
from preln.records.recording import RecordError
from preln.training.state import RunState
from preln.translation.curve import COLUMNS
from preln.translation.runs import expand
from preln.translation.scores import p_value
from tests.conftest import RUN, study_content
from tests.made_up.translation import changed, records_of

pytestmark = pytest.mark.numbers


def write_results(folder: Path, losses: dict[str, dict[int, float]], dropout: float = 0.1) -> Path:
    """Results of runs with the placements and the seeds, that end with the losses."""
    entries = [{"placement": placement, "seed": seed} for placement, by_seed in losses.items() for seed in by_seed]
    settings = {"settings": {**RUN, "dropout": dropout}, "runs": entries}
    study = validate(study_content(translation=settings) | {"study": folder.name}, "study.yaml")
    for run in expand(study):
        loss = losses[run.settings.placement][run.settings.seed]
        diverged = {"update": 9, "epoch": 1} if math.isinf(loss) else None
        records_of(study, run, folder.parent, [loss], diverged=diverged)
    write(study, folder / "study.yaml")
    return folder


def losses(comparison: Comparison) -> dict[str, str]:
    return {
        number.what.split("-")[0]: number.verdict for number in comparison.numbers if number.quantity == "valid_loss"
    }


def compute_on(results: Path, **hardware: Any) -> Path:
    for record in results.rglob("run.json"):
        changed(record, hardware=read_sealed(record)["hardware"] | hardware)
    return results


@pytest.mark.parametrize(
    ("before", "after", "here", "elsewhere"),
    [
        ({1: 4.0}, {1: 4.01}, "same", "same"),
        ({1: 4.0}, {1: 4.5}, "worse", "undecided"),
        ({1: 4.0}, {1: 3.5}, "better", "undecided"),
        ({1: 4.0, 2: 4.1, 3: 4.2}, {1: 4.1, 2: 4.2, 3: 4.3}, "same", "same"),
        ({1: 4.0, 2: 4.1, 3: 4.2}, {1: 5.0, 2: 5.1, 3: 5.2}, "worse", "worse"),
        ({1: 4.0}, {1: math.inf}, "worse", "undecided"),
        ({1: 4.0, 2: 4.1, 3: 4.2}, {1: math.inf, 2: math.inf, 3: math.inf}, "worse", "worse"),
        ({1: 4.0, 2: 4.1, 3: math.inf}, {1: 4.0, 2: 4.1, 3: 4.2}, "better", "better"),
        ({1: 4.0, 2: math.inf}, {1: 9.0, 2: math.inf}, "worse", "undecided"),
        ({1: math.inf, 2: math.inf}, {1: math.inf, 2: math.inf}, "same", "same"),
        ({1: 4.0, 2: 4.1, 3: math.inf}, {1: 5.0, 2: 5.1, 3: math.inf}, "worse", "worse"),
        # Beside one seed, the same one of several counts.
        ({1: 3.0, 2: 9.0, 3: 9.0}, {1: 4.0}, "worse", "undecided"),
    ],
)
def test_a_loss_is_called_by_its_seeds_of_which_one_decides_nothing_on_other_hardware(
    before: dict[int, float], after: dict[int, float], here: str, elsewhere: str, tmp_path: Path
) -> None:
    first, second = (write_results(tmp_path / name, {"pre": of}) for name, of in (("one", before), ("two", after)))
    for verdict, processor in ((here, "A & B"), (elsewhere, "a slide rule")):
        result = compare(first, compute_on(second, processor=processor))
        assert losses(result) == {"pre": verdict}
        assert result.is_worse == (verdict == "worse")
        assert (" undecided: a larger share" in text(result)) == (verdict == "undecided")


def test_a_seed_that_diverged_makes_bleu_worse(tmp_path: Path) -> None:
    first = write_results(tmp_path / "one", {"pre": {1: 4.0, 2: 4.1, 3: 4.2}})
    result = compare(first, write_results(tmp_path / "two", {"pre": {1: math.inf, 2: 4.1, 3: 4.2}}))
    assert {number.quantity: number.verdict for number in result.numbers} == dict.fromkeys(
        ("valid_loss", "test_bleu", "test_chrf"), "worse"
    )


@pytest.mark.parametrize("other", [True, False])
def test_runs_on_other_text_are_named(other: bool, tmp_path: Path) -> None:
    first, second = (write_results(tmp_path / name, {"pre": {1: 4.0}}) for name in ("one", "two"))
    for results, checksum in ((first, "b"), (second, "a" if other else "b")):
        (record,) = results.rglob("run.json")
        changed(record, corpus={"sha256": {"train.de": checksum}})
    result = compare(first, second)
    assert (len(result.of_other_text), "The text differs" in text(result)) == (int(other), other)


def test_what_changed_for_all_runs_is_said_once(tmp_path: Path) -> None:
    first = write_results(tmp_path / "one", {"pre": {1: 4.0}})
    result = compare(first, write_results(tmp_path / "two", {"pre": {1: 4.0}}, dropout=0.3))
    assert result.settings == [("translation.settings.dropout", "0.1", "0.3")]


@pytest.mark.parametrize(
    ("hardware", "said"),
    [
        ({}, None),
        ({"processor": "a slide rule"}, "and a slide rule"),
        ({"loops": "AVX2"}, "A & B, 2 core(s) a run (AVX512), and A & B, 2 core(s) a run (AVX2)."),
        ({"libraries": {"MKL_CBWR": "COMPATIBLE"}}, "A & B, 2 core(s) a run (MKL_CBWR=COMPATIBLE)."),
    ],
    ids=str,
)
def test_other_hardware_is_said(hardware: dict[str, Any], said: str | None, tmp_path: Path) -> None:
    first, second = (write_results(tmp_path / name, {"pre": {1: 4.0}}) for name in ("one", "two"))
    if "loops" in hardware:
        compute_on(first, loops="AVX512")
    shown = text(compare(first, compute_on(second, **hardware)))
    assert ("The hardware differs" in shown) == bool(said)
    assert said is None or said in shown


WORDS = random.Random(1)
REFERENCES = [" ".join(WORDS.choices("abcdefghij", k=12)) for _ in range(100)]
SHUFFLED = [" ".join(WORDS.sample(line.split(), 12)) for line in REFERENCES]


def test_the_bootstrap_tells_a_system_that_translates_from_one_that_does_not() -> None:
    pairs = list(enumerate(zip(REFERENCES, SHUFFLED, strict=True)))
    odd, even = ([pair[(number + shift) % 2] for number, pair in pairs] for shift in (0, 1))
    for metric in ("bleu", "chrf"):
        assert p_value(metric, REFERENCES, SHUFFLED, REFERENCES, "en") < 0.01
        assert p_value(metric, odd, even, REFERENCES, "en") > 0.05
        assert p_value(metric, odd, odd, REFERENCES, "en") == 1.0


def write_translations(results: Path, lines: list[str], text: str) -> None:
    """Translations that the records of the only run are of, and newer ones of another state."""
    path = next(results.glob("translation/*/run.json"))
    files = {"test.en": {"sha256": hashlib.sha256(text.encode()).hexdigest()}}
    changed(path, state="recorded", corpus={"parts": {"test": {"pairs": len(lines), "files": files}}})
    (run,) = expand(load(results / "study.yaml"))
    for state, written in (("recorded", lines), ("newer", ["something else"] * len(lines))):
        epoch = run.settings.epochs
        file = RunState(path.parent / "state" / state).translations("test", epoch)
        file.parent.mkdir(parents=True)
        file.write_text("\n".join(written) + "\n")
        columns = {key: 1.0 for key in COLUMNS if key != "epoch"}
        scored = {"translations": hashlib.sha256(file.read_bytes()).hexdigest()}
        record = path.parent / "state" / state / "record.jsonl"
        append_json(record, {"epoch": epoch, "part": "train", **columns})
        append_json(record, {"epoch": epoch, "part": "test", **scored})
        append_json(record.with_name("attempts.jsonl"), {})


@pytest.mark.parametrize("now", ["as they were", "of other epochs", "of another text", "damaged"])
def test_bleu_of_one_seed_is_compared_by_the_translations_that_the_records_are_of(now: str, tmp_path: Path) -> None:
    first, second = (write_results(tmp_path / "results" / name, {"pre": {1: 4.0}}) for name in ("one", "two"))
    text = "\n".join(REFERENCES) + "\n"
    if now == "of other epochs":
        content = yaml.safe_load((first / "study.yaml").read_text())
        content["translation"]["settings"]["epochs"] += 1
        (first / "study.yaml").write_text(yaml.safe_dump(content))
        (longer,) = expand(load(first / "study.yaml"))
        changed(first / longer.folder / "run.json", identity=longer.identity)
    write_translations(first, REFERENCES, text)
    write_translations(second, SHUFFLED, "another" if now == "of another text" else text)
    (run,) = expand(load(second / "study.yaml"))
    if now == "damaged":
        state = RunState(next(second.glob("translation/*/state/recorded")))
        state.translations("test", run.settings.epochs).write_text("empty\n")
    prepared = tmp_path / "resources" / "corpora" / text_id(run.settings.corpus, run.corpus) / "text"
    prepared.mkdir(parents=True)
    (prepared / "test.en").write_text(text)
    (result,) = (number for number in compare(first, second).numbers if number.quantity == "test_bleu")
    assert (result.p < 0.01) if now in ("as they were", "of other epochs") else math.isnan(result.p)


def with_chrf(results: Path, **chrf: float) -> Path:
    """The results with other chrF, or without any."""
    (path,) = results.rglob("metrics.json")
    metrics = json.loads(path.read_text())
    del metrics["final"]["test_chrf"]
    path.write_text(json.dumps(metrics | {"final": metrics["final"] | chrf}))
    return results


def test_chrf_is_compared_where_both_studies_have_it(tmp_path: Path) -> None:
    older, first, second = (write_results(tmp_path / name, {"pre": {1: 4.0}}) for name in ("older", "one", "two"))
    compared = compare(with_chrf(first, test_chrf=50.0), with_chrf(second, test_chrf=48.0))
    assert {number.quantity: number.verdict for number in compared.numbers}["test_chrf"] == "worse"
    compared = compare(with_chrf(older), second)
    assert "test_chrf" not in {number.quantity for number in compared.numbers}
    assert not compared.alone


def test_a_copy_is_read_where_it_is(tmp_path: Path) -> None:
    first = write_results(tmp_path / "one", {"pre": {1: 4.0}})
    copy = tmp_path / "before"
    shutil.copytree(first, copy)
    for name in ("metrics.json", "curve.csv"):
        record = next(copy.glob(f"translation/*/{name}"))
        record.write_text(record.read_text().replace("4.0", "3.0"))
    assert losses(compare(copy, first)) == {"pre": "worse"}


@pytest.mark.parametrize("given", ["", "study.yaml"], ids=["the folder", "its study"])
def test_the_command_takes_a_folder_of_results_or_the_study_in_it(given: str, tmp_path: Path) -> None:
    before = write_results(tmp_path / "before" / "small", {"post": {1: 5.0}}) / given
    after = write_results(tmp_path / "after" / "small", {"post": {1: 5.0}, "pre": {1: 4.0}}) / given
    outcome = CliRunner().invoke(app, ["compare", str(before), str(after)])
    assert outcome.exit_code == 0, outcome.output
    assert f"only in {tmp_path / 'after' / 'small'}" in outcome.output


def test_studies_with_no_run_in_common_are_not_compared(tmp_path: Path) -> None:
    first = write_results(tmp_path / "one", {"pre": {1: 4.0}})
    with pytest.raises(RecordError, match="no run is finished in both"):
        compare(first, write_results(tmp_path / "two", {"post": {1: 4.0}}))
