"""A study's first updates become traces: of which runs, and what is wrong is said as of a grid of trainings."""

from __future__ import annotations

from typing import Any

import pytest

from preln.config import Study, StudyError, validate
from preln.jobs.checking import check
from preln.language import runs as language
from preln.theory.trace_jobs import expand
from preln.translation.runs import expand as expand_runs
from tests.conftest import language_content, study_content
from tests.made_up import traces
from tests.made_up.traces import content


def study(*runs: dict[str, Any], **changes: Any) -> Study:
    return validate(content(*runs, **changes), "my.yaml")


def test_a_trace_has_the_id_that_the_training_would_have_and_is_not_trained() -> None:
    grid = {"placement": ["post", "pre", "post-init"], "seed": [1, 2]}
    traces = expand(study(grid))
    trained = expand_runs(validate(study_content(grid), "my.yaml"))
    assert [job.id for job in traces] == [run.id for run in trained]
    assert len(traces) == 6
    assert check(content(grid), "my.yaml").jobs["translation"] == []


def test_runs_that_name_a_text_are_language_models() -> None:
    grid = {"placement": ["post", "pre"], "seed": [1, 2]}
    checked = check(traces.language_content(grid, {"placement": "peri", "text": "tiny"}), "my.yaml")
    trained = language.expand(validate(language_content(grid, {"placement": "peri"}), "my.yaml"))
    assert [job.id for job in checked.jobs["first-updates"]] == [run.id for run in trained]
    assert checked.jobs["language"] == checked.jobs["translation"] == []


def test_a_study_has_200_updates_and_a_sharpness_of_each_20_unless_it_says_otherwise() -> None:
    (usual,) = expand(study())
    (other,) = expand(study(updates=3, sharpness_every=2))
    assert (usual.updates, usual.sharpness_every) == (200, 20)
    assert (other.updates, other.sharpness_every) == (3, 2)


def test_a_study_without_the_section_has_no_traces() -> None:
    assert expand(validate(study_content(), "my.yaml")) == []


def test_a_trace_is_computed_in_fp32_and_by_one_process() -> None:
    settings = {**content({"precision": "bf16"}), "execution": {"processes": 4, "cpus": 2}}
    (job,) = expand(validate(settings, "my.yaml"))
    assert job.settings.precision == "fp32"
    assert (job.execution.processes, job.execution.cpus) == (1, 2)


@pytest.mark.parametrize(
    ("section", "line"),
    [
        ({"runs": [{"corpus": "tiny"}]}, "first_updates.runs.0.corpus: unknown key; allowed: execution, text, tokens,"),
        ({"runs": [{"text": "huge"}]}, "first_updates.runs.0.text: 'huge' is not defined; defined: tiny"),
        ({"runs": [{"heads": 3}]}, "first_updates.runs.0.width: 16 is no multiple of heads"),
        ({"updates": 0}, "first_updates.updates: 0: Input should be greater than or equal to 1"),
        ({"runs": [{}, {}]}, "first_updates.runs.1: the run pre-lr3e-3-const-s1 is defined twice"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_wrong_with_a_language_model_is_said_likewise(section: dict[str, Any], line: str) -> None:
    with pytest.raises(StudyError) as caught:
        check(traces.language_content(**section), "my.yaml")
    assert [said.startswith(f"my.yaml: {line}") for said in str(caught.value).split("\n")] == [True]


@pytest.mark.parametrize(
    ("section", "line"),
    [
        ({"updates": 0}, "first_updates.updates: 0: Input should be greater than or equal to 1"),
        ({"updates": 10_001}, "first_updates.updates: 10001: Input should be less than or equal to 10000"),
        ({"sharpness_every": 0}, "first_updates.sharpness_every: 0: Input should be greater than or equal to 1"),
        ({"runs": []}, "first_updates.runs: needs 1 or more"),
        (
            {"runs": [{"figures": [4]}]},
            "first_updates.runs.0.figures: unknown key; allowed: execution, corpus, placement,",
        ),
        ({"runs": [{"placement": "past"}]}, "first_updates.runs.0.placement: 'past' (did you mean post?): "),
        ({"runs": [{"corpus": "huge"}]}, "first_updates.runs.0.corpus: 'huge' is not defined; defined: tiny"),
        ({"runs": [{}, {}]}, "first_updates.runs.1: the run pre-adam-lr2e-3-wu10-s1 is defined twice"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_wrong_is_said_with_its_key_before_any_job(section: dict[str, Any], line: str) -> None:
    with pytest.raises(StudyError) as caught:
        check(content(**section), "my.yaml")
    assert [said.startswith(f"my.yaml: {line}") for said in str(caught.value).split("\n")] == [True]
