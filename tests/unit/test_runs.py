"""A study's grid as runs: readable ids, and an identity that is exactly what changes numbers."""

from __future__ import annotations

from types import NoneType
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from preln.config import RunSettings, StudyError, validate
from preln.schedules import SCHEDULES, SETTINGS
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
        ({"width": 32}, "-width32-"),
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


def test_a_run_defined_twice_is_refused() -> None:
    with refused(StudyError, "my.yaml: translation.runs.1: ", "twice"):
        runs({"seed": [1, 2]}, {"seed": 2})


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


def test_two_corpora_give_two_ids() -> None:
    content = study_content({"corpus": ["tiny", "other"]})
    content["corpora"]["other"] = {**content["corpora"]["tiny"], "seed": 2}
    one, other = expand(validate(content, "my.yaml"))
    assert other.id.endswith("-other-s1")
    assert one.identity != other.identity


def test_figures_are_no_part_of_the_identity() -> None:
    (drawn,), (not_drawn,) = runs({"figures": [2]}), runs({})
    assert drawn.identity == not_drawn.identity


def values(key: str) -> st.SearchStrategy[Any]:
    """What a setting of a run may be."""
    field = RunSettings.model_fields[key]
    kinds = get_args(field.annotation) or (field.annotation,)
    if isinstance(kinds[0], str):
        return st.sampled_from(kinds)
    bounds = {
        name: getattr(rule, name) for rule in field.metadata for name in ("ge", "gt", "le", "lt") if hasattr(rule, name)
    }
    low, high = bounds.get("ge", bounds.get("gt", 0)), bounds.get("le", bounds.get("lt", 0))
    if float in kinds:
        found: st.SearchStrategy[Any] = st.floats(
            low, high, exclude_min="gt" in bounds, exclude_max="lt" in bounds, allow_subnormal=False
        )
    else:
        found = st.integers(low, high - ("lt" in bounds))
    return st.none() | found if NoneType in kinds else found


KEYS = sorted(RunSettings.model_fields.keys() - {"corpus"})


def some(most: int) -> st.SearchStrategy[dict[str, Any]]:
    """A few settings; those of schedules are the most frequent."""
    keys = st.lists(st.sampled_from(KEYS) | st.sampled_from(sorted(SETTINGS)), max_size=most, unique=True)
    return keys.flatmap(lambda chosen: st.fixed_dictionaries({key: values(key) for key in chosen}))


SCHEDULE = st.sampled_from([
    *({"schedule": "inverse-sqrt", "anchor": anchor} for anchor in ("warmup", "hold", "shift")),
    {"schedule": "constant"},
    {"schedule": "constant", "drop_epoch": 1},
    {"schedule": "drop-inverse-sqrt", "drop_epoch": 2},
    {"schedule": "linear", "decay_updates": 100_000_000},
])  # fmt: skip


@pytest.mark.slow
@settings(max_examples=500, suppress_health_check=[HealthCheck.filter_too_much])
@given(SCHEDULE, some(1), some(2), some(1))
def test_runs_that_differ_have_ids_that_differ(
    schedule: dict[str, Any], common: dict[str, Any], shared: dict[str, Any], changed: dict[str, Any]
) -> None:
    """Two runs that share most settings, and some of them with the study."""
    one = {"epochs": 9, **schedule, **shared}
    content = study_content(one, {**one, **changed}, execution={"gpus": 1})
    content["translation"]["settings"] = {**RUN, **common}
    try:
        found = expand(validate(content, "my.yaml"))
    except StudyError as error:
        # Many combinations are impossible, and a run that is defined twice is refused; but no two runs have one id.
        assert "has the id" not in str(error)
        assume(False)
    assert len({run.id for run in found}) == len({run.settings for run in found}) == 2


@pytest.mark.parametrize("name", SCHEDULES)
def test_an_id_tells_each_setting_that_a_schedule_reads(name: str) -> None:
    base: dict[str, Any] = {"schedule": name, "warmup": 5, "epochs": 9}
    # So that each of them changes the rates.
    base |= {"drop_epoch": 7} if name == "constant" else {"anchor": "shift"} if name == "inverse-sqrt" else {}
    needed = [key for key in SCHEDULES[name].needs() if RunSettings.model_fields[key].default is None]
    base |= {key: 7 * 10**number for number, key in enumerate(needed)}
    for key in {"warmup", *SCHEDULES[name].reads()}:
        changed = {"anchor": "hold", "drop_factor": 0.5}.get(key) or base.get(key, 7) - 1
        found = runs({**base, "decay_period": 5}, {**base, "decay_period": 5, key: changed})
        assert found[0].id != found[1].id, key


@given(st.floats(1e-12, 1e5), st.floats(1e-12, 1e5))
def test_numbers_that_differ_read_differently(one: float, other: float) -> None:
    assert (short(one) == short(other)) == (one == other)


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (0.01, "0.01"), (0.0015, "1.5e-3"), (1e-9, "1e-9"), (0.0, "0")]
)
def test_numbers_read_as_people_write_them(value: float, text: str) -> None:
    assert short(value) == text


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
