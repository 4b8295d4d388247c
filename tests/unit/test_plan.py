"""`preln plan` says what a study will cost."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.commands import cost, plan
from preln.commands.plan import CORE, GPUS, UPDATES_A_SECOND, critical_path, items
from preln.config import write
from preln.errors import PrelnError
from preln.jobs.checking import Checked, check, check_file
from preln.pretraining.runs import expand
from preln.records.files import write_json, write_sealed, write_text
from tests.conftest import bert_content, study_content
from tests.made_up.translation import records_of

GPU = GPUS["h100"]
BASE = {"layers": 12, "width": 768, "ffn_width": 3072, "heads": 12, "sequence_length": 512, "batch_sequences": 256}
Printed = Callable[..., str]


@pytest.fixture
def printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Printed:
    """A function that prints a plan, and returns its output as one line."""

    def show(asked: Checked, gpu: str = "l4", peak: float | None = None) -> str:
        plan.show(asked, Path("my.yaml"), gpu, tmp_path, peak)
        return " ".join(capsys.readouterr().out.split())

    return show


@pytest.fixture
def large() -> Checked:
    """A pre-training of a model that fills a GPU."""
    return check(bert_content(BASE), "my.yaml")


def write_speed(results: Path, identity: dict[str, Any], gpus: list[str], speeds: list[float]) -> None:
    folder = results / "other" / "pretraining" / "a-run"
    write_sealed(folder / "run.json", {"identity": identity, "hardware": {"gpus": gpus, "cores_used": 4}})
    pd.DataFrame({"tokens_per_second": speeds}).to_csv(folder / "curve.csv", index=False)


def test_a_pre_training_is_its_updates_of_its_batches(tmp_path: Path) -> None:
    study = check(bert_content({**BASE, "accumulate": 2}), "my.yaml")
    first = items(study, GPU, tmp_path)[0]
    assert (first.estimate.updates, first.estimate.tokens) == (12, 12 * 2 * 256 * 512)
    known = cost.pretraining(expand(study.study)[0].settings, 300)
    assert first.flops == pytest.approx(12 * 2 * 256 * 512 * known.flops_per_token)


def test_small_models_are_held_up_by_the_number_of_updates(tmp_path: Path) -> None:
    first = items(check(bert_content(), "my.yaml"), GPU, tmp_path)[0]
    assert first.hours == pytest.approx(12 / UPDATES_A_SECOND / 3600)


def test_the_hours_of_a_core_are_by_its_recorded_speed_or_else_about_known(large: Checked, tmp_path: Path) -> None:
    guessed = items(large, GPU, tmp_path)[0]
    assert guessed.flops and guessed.core_hours == pytest.approx(guessed.flops / CORE["fp32"] / 3600)
    write_speed(tmp_path / "results", expand(large.study)[0].identity, [], [1000.0])
    first = items(large, GPU, tmp_path)[0]
    assert (first.measured, first.core_measured) == (False, True)
    assert first.core_hours == pytest.approx(4 * 12 * 256 * 512 / 1000 / 3600)


@pytest.mark.parametrize(
    ("changes", "gpus", "measured"),
    [
        ({"seed": 7, "placement": "post"}, ["NVIDIA H100 80GB HBM3"] * 2, True),
        ({}, ["NVIDIA H1000"], False),
        ({}, ["NVIDIA H100 Laptop GPU"], False),
        ({}, [], False),
        ({"width": 1024}, ["H100"], False),
        ({"feed_forward": "swiglu"}, ["H100"], False),
        ({"text_settings": {"vocabulary": 30_000}}, ["H100"], False),
    ],
    ids=str,
)
def test_the_recorded_speed_of_such_a_model_on_such_a_gpu_is_taken(
    changes: dict[str, Any], gpus: list[str], measured: bool, large: Checked, tmp_path: Path
) -> None:
    (run,) = expand(large.study)
    write_speed(tmp_path / "results", {**run.identity, **changes}, gpus, [1000.0, 2000.0, 9000.0])
    first = items(large, GPU, tmp_path)[0]
    assert first.measured is measured
    assert not measured or first.hours == pytest.approx(12 * 256 * 512 / 1000 / 3600)


@pytest.mark.parametrize("curve", [None, "updates\n3\n", "tokens_per_second\nfast\n"])
def test_a_record_that_is_not_whole_tells_no_speed(curve: str | None, large: Checked, tmp_path: Path) -> None:
    write_speed(tmp_path / "results", expand(large.study)[0].identity, ["H100"], [1000.0])
    path = tmp_path / "results" / "other" / "pretraining" / "a-run" / "curve.csv"
    path.unlink() if curve is None else path.write_text(curve)
    assert not items(large, GPU, tmp_path)[0].measured


@pytest.mark.parametrize("prefix", ["", "norms", "modules/norms"])
def test_tokens_are_counted_once_a_text_is_prepared_also_where_a_module_has_it(prefix: str, tmp_path: Path) -> None:
    study = check(study_content({"batch_tokens": 512}), "my.yaml")
    assert items(study, GPU, tmp_path)[0].hours is None
    folder = tmp_path / prefix / study.jobs["translation"][0].prepared[0].folder
    write_json(folder / "text" / "corpus.json", {"languages": {"source": "de", "target": "en"}})
    write_text(folder / "bpe" / "train.de", "a b c d e\n" * 90)
    write_text(folder / "bpe" / "train.en", "a b c\n" * 90)
    write_json(folder / "bpe" / "bpe.json", {})
    run = items(study, GPU, tmp_path)[0]
    # Three pieces and the end of a sentence, three times. Of 85 sentences of six source pieces that fit into a batch of
    # 512 tokens, it has 80. Of the ten left, two are in no batch.
    assert (run.estimate.tokens, run.estimate.updates) == (3 * 90 * 4, 3 * 2)


@pytest.mark.parametrize(
    ("chosen", "share"),
    [({}, 1.0), ({"subset": "50k"}, 50_428 / 160_239), ({"subset": "50k", "pairs": 32_000}, 32_000 / 160_239)],
    ids=str,
)
def test_a_part_of_iwslt14_is_planned_by_its_pairs(chosen: dict[str, Any], share: float, tmp_path: Path) -> None:
    def tokens(**corpus: Any) -> int:
        study = check(study_content(corpora={"tiny": {"source": "iwslt14", **corpus}}), "my.yaml")
        return int(items(study, GPU, tmp_path)[0].estimate.tokens or 0)

    assert tokens(**chosen) == pytest.approx(share * tokens(), rel=1e-3)


def test_the_longest_chain_is_a_pre_training_and_its_longest_fine_tuning(large: Checked, tmp_path: Path) -> None:
    planned = items(large, GPU, tmp_path)
    first, *rest = [item.hours or 0.0 for item in planned]
    assert critical_path(planned) == pytest.approx(first + max(rest))


def test_an_unknown_gpu_is_refused_with_those_that_are_known(printed: Printed) -> None:
    with pytest.raises(PrelnError, match="known: t4, l4, l40s, .*, h200, b200. For another card"):
        printed(check(study_content(), "my.yaml"), "tpu")


def test_a_peak_of_ones_own_is_taken_in_place_of_the_data_sheets(printed: Printed) -> None:
    checked = check_file(Path("config/paper.yaml"))

    def hours(peak: float | None, name: str) -> float:
        (total,) = re.findall(rf"In all ([\d,.]+) {name} hours", printed(checked, "a100", peak))
        return float(total.replace(",", ""))

    assert hours(1.0, "your GPU") > 10 * hours(None, "A100")


def test_a_plan_of_less_than_an_hour_is_in_minutes(printed: Printed) -> None:
    output = printed(check_file(Path("config/demo-gpu.yaml")))
    assert re.search(r"In all \d L4 minutes; the longest chain of jobs takes \d\.", output)


def test_an_id_that_fills_the_line_cuts_no_number_off(printed: Printed) -> None:
    changes = {"ffn_width": 48, "batch_sequences": 16, "sequence_length": 64, "weight_decay": 0.02, "clip_norm": 0.5}
    assert "…" not in printed(check(bert_content({**changes, "dropout": 0.2, "placement": "post-init"}), "my.yaml"))


def test_a_sum_says_of_how_many_jobs_it_is(printed: Printed) -> None:
    content = bert_content()
    assert "In all " in printed(check(content, "my.yaml"))
    # The text of these runs is not prepared.
    checked = check({**study_content({}, {"seed": 2}), **content, "study": "both"}, "my.yaml")
    output = printed(checked)
    known = len(checked.jobs["pretraining"]) + len(checked.jobs["finetuning"])
    assert f"The {known} jobs whose length is known take " in output
    assert "In all " not in output


def test_jobs_that_do_not_fit_the_gpu_are_told(printed: Printed) -> None:
    checked = check(bert_content({"layers": 24, "width": 16384, "ffn_width": 65536, "heads": 16}), "my.yaml")
    wide = checked.jobs["pretraining"][0].id
    assert re.search(rf"Jobs that need more than the GPU's 24 GB: \d+, such as {wide}\.", printed(checked))
    assert "Jobs that need more" not in printed(check(bert_content(), "my.yaml"))


@pytest.mark.parametrize("below", [".", "prefix"])
def test_jobs_that_are_done_already_are_told(below: str, printed: Printed, tmp_path: Path) -> None:
    checked = check(study_content({}, {"seed": 2}), "my.yaml")
    assert "done already" not in printed(checked)
    results = tmp_path / below / "results" / checked.study.study
    records_of(checked.study, checked.jobs["translation"][0], results.parent, [6.0])
    write(checked.study, results / "study.yaml")
    assert f"1 of the study's 2 jobs are done already, in {results}." in printed(checked)


def test_runs_that_end_within_their_warm_up_are_told(printed: Printed) -> None:
    entries = [{"warmup": warmup, "decay_period": 10**6} for warmup in (10, 10**6)]
    corpora = {"tiny": {"source": "iwslt14", "vocabulary": 10000}}
    checked = check(study_content(*entries, corpora=corpora), "my.yaml")
    _, long = checked.jobs["translation"]
    said = f"Runs that end within their warm-up: 1. {long.id} has a warm-up of 1,000,000 and"
    assert said in printed(checked)


@pytest.mark.parametrize(
    ("execution", "model", "said"),
    [
        ({"gpus": 1}, {}, True),
        # Shared already; on CPUs; a model that fills the GPU; one that leaves no room for another.
        ({"gpus": 1, "runs_a_gpu": 4}, {}, False),
        ({}, {}, False),
        ({"gpus": 1}, BASE, False),
        ({"gpus": 1}, {"layers": 2, "width": 16384, "ffn_width": 16384, "heads": 16}, False),
    ],
)
def test_jobs_that_do_not_fill_a_gpu_are_told_how_to_share_it(
    execution: dict[str, int], model: dict[str, int], said: bool, printed: Printed
) -> None:
    checked = check({**bert_content(model, {**model, "seed": 2}), "execution": execution}, "my.yaml")
    if model:
        checked = replace(checked, jobs={**checked.jobs, "finetuning": []})
    sharing = "`execution: {gpus: 1, runs_a_gpu: 12}` lets 12 share it"
    assert (sharing in printed(checked, "h100")) == said


def test_a_gpu_without_bf16_is_planned_as_in_fp32() -> None:
    old, new = GPUS["t4"], GPUS["l4"]
    assert old.peak("bf16") == old.peak("fp32") < old.peak("fp16")
    assert new.peak("bf16") == new.peak("fp16")
