"""A study's grid as runs: readable ids, and an identity that is exactly what changes numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.config import EmbeddedCorpus, StudyError, load, validate
from preln.pretraining import runs as pretraining
from preln.runs import Run, corpus_id, digest, expand
from tests.conftest import study_content


def runs(*entries: dict[str, Any]) -> list[Run]:
    return expand(validate(study_content(*entries), "my.yaml"), "my.yaml")


def test_an_id_reads_like_the_run() -> None:
    entry = {"placement": "post", "learning_rate": 1e-3, "warmup": 4000}
    assert [run.id for run in runs(entry)] == ["post-adam-lr1e-3-wu4000-s1"]


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ({"warmup": 0, "anchor": "hold", "decay_period": 4000}, "-wu0-hold4000-"),
        ({"schedule": "constant", "warmup": 0, "drop_epoch": 2}, "-const-drop2-"),
        ({"schedule": "linear", "warmup": 0, "decay_updates": 900}, "-linear900-"),
        ({"learning_rate": 1.5e-3}, "-lr1.5e-3-"),
        ({"learning_rate": 1}, "-lr1-"),
        ({"dropout": 0.3}, "-dropout0.3-"),
        ({"width": 32}, "-width32-"),
        ({"seed": 7}, "-s7"),
    ],
)
def test_an_id_says_what_is_unusual_in_the_study(entry: dict[str, Any], part: str) -> None:
    (run,) = runs(entry)
    assert part in run.id


def test_an_id_is_silent_on_what_all_runs_share() -> None:
    (run,) = runs({})
    assert run.id == "pre-adam-lr2e-3-wu10-s1"


def test_lists_make_the_grid_of_their_values() -> None:
    ids = [run.id for run in runs({"placement": ["post", "pre"], "warmup": [0, 10]})]
    assert len(ids) == len(set(ids)) == 4


def test_a_run_defined_twice_is_refused() -> None:
    with pytest.raises(StudyError, match="my.yaml: translation.runs.1: the run .* is defined twice"):
        runs({"seed": [1, 2]}, {"seed": 2})


def test_a_corpus_that_is_not_defined_is_refused_with_those_that_are() -> None:
    with pytest.raises(StudyError, match="'ted' is not defined; defined: tiny"):
        runs({"corpus": "ted"})


def test_a_negative_rate_is_refused_with_its_value() -> None:
    with pytest.raises(StudyError, match=r"runs.0.learning_rate: -1: .*greater than 0"):
        runs({"learning_rate": -1})


def test_two_corpora_give_two_ids() -> None:
    content = study_content({"corpus": ["tiny", "other"]})
    content["corpora"]["other"] = {**content["corpora"]["tiny"], "seed": 2}
    one, other = expand(validate(content, "my.yaml"))
    assert other.id.endswith("-other-s1")
    assert one.identity != other.identity


def test_the_same_name_for_another_corpus_is_another_run() -> None:
    content = study_content({})
    (before,) = expand(validate(content, "my.yaml"))
    content["corpora"] = {"tiny": {**content["corpora"]["tiny"], "pairs": 2000}}
    (after,) = expand(validate(content, "my.yaml"))
    assert before.identity != after.identity


def test_gpus_that_cannot_share_a_batch_are_refused() -> None:
    content = study_content({"accumulate": 3}, execution={"gpus": 2})
    with pytest.raises(StudyError, match="runs.0.accumulate: 3 cannot be shared by 2 GPUs"):
        expand(validate(content, "my.yaml"), "my.yaml")


def test_a_limit_that_is_lifted_is_named_in_small_letters() -> None:
    (run,) = runs({"bleu_sentences": None})
    assert "-bleusentencesall-" in run.id


def test_figures_are_no_part_of_the_identity() -> None:
    (drawn,), (not_drawn,) = runs({"figures": [2]}), runs({})
    assert drawn.identity == not_drawn.identity


SETTINGS = st.fixed_dictionaries(
    {
        "placement": st.sampled_from(["post", "pre"]),
        "optimizer": st.sampled_from(["adam", "radam", "sgd"]),
        "learning_rate": st.sampled_from([1e-4, 5e-4, 1e-3, 1.5e-3, 2e-3]),
        "warmup": st.sampled_from([0, 1, 500, 4000]),
        "dropout": st.sampled_from([0.0, 0.1, 0.3]),
        "width": st.sampled_from([16, 32]),
        "precision": st.sampled_from(["fp32", "bf16"]),
        "bleu_sentences": st.sampled_from([10, 20]),
        "seed": st.integers(0, 20),
    }
)


@given(SETTINGS, SETTINGS)
def test_runs_that_differ_have_ids_that_differ(first: dict[str, Any], second: dict[str, Any]) -> None:
    (one,), (other,) = runs(first), runs(second)
    assert (one.id == other.id) == (one.identity == other.identity)


def test_the_folder_of_a_corpus_depends_on_its_settings() -> None:
    one = corpus_id("a", EmbeddedCorpus(source="embedded"))
    assert one != corpus_id("a", EmbeddedCorpus(source="embedded", seed=2))
    assert one == corpus_id("a", EmbeddedCorpus(source="embedded"))


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})


@pytest.mark.parametrize("path", sorted(Path("config").glob("*.yaml")), ids=lambda path: path.name)
def test_the_grids_that_come_along_expand(path: Path) -> None:
    study = load(path)
    assert expand(study) or pretraining.expand(study)


def test_a_run_may_have_more_gpus_than_the_others_and_is_the_same_run() -> None:
    runs: list[dict[str, Any]] = [
        {"accumulate": 8},
        {"accumulate": 8, "seed": 2, "execution": {"gpus": 8, "runtime_minutes": 99}},
    ]
    plain, shared = expand(validate(study_content(*runs, execution={"gpus": 1}), "my.yaml"))
    assert (plain.execution.gpus, shared.execution.gpus, shared.execution.runtime_minutes) == (1, 8, 99)
    assert {**plain.identity, "seed": 2} == shared.identity


@pytest.mark.parametrize(
    ("execution", "message"),
    [
        ({"gpus": 16}, "runs.0.accumulate: 8 cannot be shared by 16 GPUs"),
        ({"processes": 5}, "runs.0.accumulate: 8 cannot be shared by 5 processes"),
        ({"gpus": 2, "processes": 2}, "processes: 2 are for CPUs"),
        ({"gpus": 8, "nodes": 3}, "nodes: 3 cannot share 8"),
        ({"gpu": 2}, "runs.0.execution.gpu"),
    ],
)
def test_what_a_run_cannot_be_computed_on_is_refused(execution: dict[str, int], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        expand(validate(study_content({"accumulate": 8, "execution": execution}), "my.yaml"))
