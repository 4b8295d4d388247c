"""A study's first updates become traces: of which runs, and what is wrong is said as of a grid of trainings."""

import re
from typing import Any

import pytest

from preln.config import StudyError, validate
from preln.jobs.checking import check
from preln.theory.trace_jobs import expand
from tests.conftest import language_content, study_content
from tests.made_up import traces

OF_LANGUAGE, OF_TRANSLATION = traces.language_content, traces.content


@pytest.mark.parametrize(
    ("traced", "trained"),
    [(OF_TRANSLATION, study_content), (OF_LANGUAGE, language_content)],
    ids=["translations", "language models"],
)
def test_a_trace_has_the_id_that_the_training_would_have_and_is_not_trained(traced: Any, trained: Any) -> None:
    grid = {"placement": ["post", "pre", "post-init"], "seed": [1, 2]}
    jobs, runs = (check(content(grid), "my.yaml").jobs for content in (traced, trained))
    ids = [run.id for run in (*runs["translation"], *runs["language"])]
    assert [job.id for job in jobs["first-updates"]] == ids
    assert len(ids) == 6
    assert jobs["language"] == jobs["translation"] == []


def test_a_trace_is_computed_in_fp32_and_by_one_process() -> None:
    content = {**OF_TRANSLATION({"precision": "bf16"}), "execution": {"processes": 4, "cpus": 2}}
    (job,) = expand(validate(content, "my.yaml"))
    assert job.settings.precision == "fp32"
    assert (job.execution.processes, job.execution.cpus) == (1, 2)


@pytest.mark.parametrize(
    ("kind", "section", "line"),
    [
        (OF_TRANSLATION, {"updates": 0}, "updates: 0: Input should be greater than or equal to 1"),
        (OF_TRANSLATION, {"runs": [{"figures": [4]}]}, "runs.0.figures: unknown key; allowed: execution, corpus,"),
        (OF_TRANSLATION, {"runs": [{"placement": "past"}]}, "runs.0.placement: 'past' (did you mean post?): "),
        (OF_TRANSLATION, {"runs": [{"corpus": "huge"}]}, "runs.0.corpus: 'huge' is not defined; defined: tiny"),
        (OF_TRANSLATION, {"runs": [{}, {}]}, "runs.1: the run pre-adam-lr2e-3-wu10-s1 is defined twice"),
        (OF_LANGUAGE, {"runs": [{"corpus": "tiny"}]}, "runs.0.corpus: unknown key; allowed: execution, text, tokens,"),
        (OF_LANGUAGE, {"runs": [{"text": "huge"}]}, "runs.0.text: 'huge' is not defined; defined: tiny"),
    ],
)
def test_what_is_wrong_is_said_with_its_key_before_any_job(kind: Any, section: dict[str, Any], line: str) -> None:
    with pytest.raises(StudyError, match=rf"\Amy\.yaml: first_updates\.{re.escape(line)}.*\Z"):
        check(kind(**section), "my.yaml")
