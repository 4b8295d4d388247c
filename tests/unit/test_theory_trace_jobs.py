"""A study's first updates become traces: of which runs, and what is wrong is said as of a grid of trainings."""

import re
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


def test_a_trace_is_computed_in_fp32_and_by_one_process() -> None:
    settings = {**content({"precision": "bf16"}), "execution": {"processes": 4, "cpus": 2}}
    (job,) = expand(validate(settings, "my.yaml"))
    assert job.settings.precision == "fp32"
    assert (job.execution.processes, job.execution.cpus) == (1, 2)


OF_LANGUAGE, OF_TRANSLATION = traces.language_content, content


@pytest.mark.parametrize(
    ("kind", "section", "line"),
    [
        (OF_TRANSLATION, {"updates": 0}, "updates: 0: Input should be greater than or equal to 1"),
        (OF_TRANSLATION, {"sharpness_every": 0}, "sharpness_every: 0: Input should be greater than or equal to 1"),
        (OF_TRANSLATION, {"runs": []}, "runs: needs 1 or more"),
        (OF_TRANSLATION, {"runs": [{"figures": [4]}]}, "runs.0.figures: unknown key; allowed: execution, corpus,"),
        (OF_TRANSLATION, {"runs": [{"placement": "past"}]}, "runs.0.placement: 'past' (did you mean post?): "),
        (OF_TRANSLATION, {"runs": [{"corpus": "huge"}]}, "runs.0.corpus: 'huge' is not defined; defined: tiny"),
        (OF_TRANSLATION, {"runs": [{}, {}]}, "runs.1: the run pre-adam-lr2e-3-wu10-s1 is defined twice"),
        (OF_LANGUAGE, {"runs": [{"corpus": "tiny"}]}, "runs.0.corpus: unknown key; allowed: execution, text, tokens,"),
        (OF_LANGUAGE, {"runs": [{"text": "huge"}]}, "runs.0.text: 'huge' is not defined; defined: tiny"),
        (OF_LANGUAGE, {"runs": [{"heads": 3}]}, "runs.0.width: 16 is no multiple of heads"),
        (OF_LANGUAGE, {"runs": [{}, {}]}, "runs.1: the run pre-lr3e-3-const-s1 is defined twice"),
    ],
)
def test_what_is_wrong_is_said_with_its_key_before_any_job(kind: Any, section: dict[str, Any], line: str) -> None:
    with pytest.raises(StudyError, match=rf"\Amy\.yaml: first_updates\.{re.escape(line)}.*\Z"):
        check(kind(**section), "my.yaml")
