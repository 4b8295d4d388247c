"""A study's grid as runs: readable ids, and an identity that is exactly what changes numbers."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.config import RunSettings, StudyError, validate
from preln.schedules import SCHEDULES
from preln.translation.runs import Run, expand
from preln.values import short
from tests.conftest import RUN, study_content
from tests.refused import refused


def runs(*entries: dict[str, Any]) -> list[Run]:
    return expand(validate(study_content(*entries), "my.yaml"), "my.yaml")


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ({"warmup": 0, "anchor": "hold", "decay_period": 4000}, "-wu0-hold4000-"),
        ({"schedule": "constant", "warmup": 0, "drop_epoch": 2}, "-const-drop2-"),
        ({"schedule": "linear", "warmup": 0, "decay_updates": 900}, "-linear900-"),
        ({"learning_rate": 1.5e-3}, "-lr1.5e-3-"),
        ({"learning_rate": 1}, "-lr1-"),
        ({"dropout": 0.3}, "-dropout0.3-"),
        ({"seed": 7}, "-s7"),
        ({"bleu_sentences": None}, "-bleusentencesall-"),
    ],
)
def test_an_id_says_what_is_unusual_in_the_study(entry: dict[str, Any], part: str) -> None:
    (run,) = runs(entry)
    assert part in run.id


def test_lists_make_the_grid_of_their_values_and_ids_read_like_the_runs() -> None:
    ids = [run.id for run in runs({"placement": ["post", "pre"], "learning_rate": 1e-3, "warmup": [0, 4000]})]
    assert ids == [f"{placement}-adam-lr1e-3-wu{warmup}-s1" for placement in ("post", "pre") for warmup in (0, 4000)]


@pytest.mark.parametrize(
    "entry",
    [
        {"optimizer": "sgd", "beta2": [0.9, 0.98]},
        {"schedule": "constant", "decay_period": [100, 200]},
        {"schedule": "constant", "drop_factor": [0.1, 0.2]},
        {"anchor": "warmup", "decay_period": [100, 200]},
    ],
)
def test_runs_that_differ_in_what_has_no_effect_on_them_are_refused(entry: dict[str, Any]) -> None:
    (key,) = (key for key, value in entry.items() if isinstance(value, list))
    with pytest.raises(StudyError, match=rf"is the same training as .*: they differ only in {key}, which neither uses"):
        runs(entry)


@pytest.mark.parametrize(("key", "text", "other"), [("qk_norm", "n", True), ("learning_rate", "2e-3", 0.001)])
def test_a_setting_of_the_study_that_is_given_as_text_is_its_value(key: str, text: str, other: object) -> None:
    content = study_content({}, {key: other})
    content["translation"]["settings"] = {**RUN, key: text}
    ids = [run.id for run in expand(validate(content, "my.yaml"))]
    assert ids == [run.id for run in runs({}, {key: other})]


def test_two_corpora_give_two_ids() -> None:
    content = study_content({"corpus": ["tiny", "other"]})
    content["corpora"]["other"] = {**content["corpora"]["tiny"], "seed": 2}
    first, second = expand(validate(content, "my.yaml"))
    assert second.id.endswith("-other-s1")
    assert first.identity != second.identity


def test_another_corpus_leaves_the_ids_of_runs_as_they_are() -> None:
    content = study_content({"corpus": "tiny"})
    settings = {key: value for key, value in RUN.items() if key != "corpus"}
    content["translation"]["settings"] = settings
    (alone,) = expand(validate(content, "my.yaml"))
    content["corpora"]["other"] = content["corpora"]["tiny"]
    content["translation"]["runs"].append({"corpus": "other"})
    first, second = expand(validate(content, "my.yaml"))
    assert first.id == alone.id != second.id


def test_figures_are_no_part_of_the_identity() -> None:
    (drawn,), (not_drawn,) = runs({"figures": [2]}), runs({})
    assert drawn.identity == not_drawn.identity


@pytest.mark.parametrize("name", SCHEDULES)
def test_an_id_tells_each_setting_that_a_schedule_reads(name: str) -> None:
    base: dict[str, Any] = {"schedule": name, "warmup": 5, "epochs": 9}
    # So that each of them changes the rates.
    base |= {"drop_epoch": 7} if name == "constant" else {"anchor": "shift"} if name == "inverse-sqrt" else {}
    needed = [key for key in SCHEDULES[name].needs() if RunSettings.model_fields[key].default is None]
    base |= {key: 7 * 10**number for number, key in enumerate(needed)}
    for key in {"warmup", *SCHEDULES[name].reads()}:
        changed = {"anchor": "hold", "drop_factor": 0.5}.get(key) or base.get(key, 7) - 1
        pair = runs({**base, "decay_period": 5}, {**base, "decay_period": 5, key: changed})
        assert pair[0].id != pair[1].id, key


@given(st.floats(1e-12, 1e5), st.floats(1e-12, 1e5))
def test_numbers_that_differ_read_differently(first: float, second: float) -> None:
    assert (short(first) == short(second)) == (first == second)


def test_a_corpus_whose_name_reads_like_a_setting_of_another_run_is_refused() -> None:
    constant = {"schedule": "constant", "warmup": 0}
    content = study_content({**constant, "drop_epoch": 2}, {**constant, "corpus": "drop2"})
    content["corpora"]["drop2"] = content["corpora"]["tiny"]
    id_of_both = "the run has the id pre-adam-lr2e-3-const-drop2-s1 of another"
    with refused(StudyError, f"runs.1: {id_of_both}, which differs in corpus, drop_epoch"):
        expand(validate(content, "my.yaml"))


def test_a_run_may_have_more_gpus_than_the_others_and_is_the_same_run() -> None:
    own = {"seed": 2, "execution": {"gpus": 8, "runtime_minutes": 99}}
    content = study_content({"accumulate": 8}, {"accumulate": 8, **own}, execution={"gpus": 1})
    plain, shared = expand(validate(content, "my.yaml"))
    assert (plain.execution.gpus, shared.execution.gpus, shared.execution.runtime_minutes) == (1, 8, 99)
    assert {**plain.identity, "seed": 2} == shared.identity


@pytest.mark.parametrize(
    ("execution", "parts"),
    [
        ({"gpus": 16}, ("runs.0.accumulate: 8 ", "16 GPUs (execution.gpus)")),
        ({"processes": 5}, ("runs.0.accumulate: 8 ", "5 processes (execution.processes)")),
        ({"gpus": 2, "processes": 2}, ("processes: 2 ", "CPUs")),
        ({"gpus": 8, "nodes": 3}, ("nodes: 3 ", "8")),
        ({"gpu": 2}, ("runs.0.execution.gpu",)),
    ],
)
def test_what_a_run_cannot_be_computed_on_is_refused(execution: dict[str, int], parts: tuple[str, ...]) -> None:
    with refused(StudyError, *parts):
        expand(validate(study_content({"accumulate": 8, "execution": execution}), "my.yaml"))
