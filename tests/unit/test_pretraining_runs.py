"""From a study to its pre-training runs and fine-tunings: ids, identities, and what is refused."""

from typing import Any

import pytest

from preln.config import StudyError, validate
from preln.pretraining.runs import PretrainingRun, expand, finetunings
from tests.conftest import PRETRAINING, bert_content
from tests.refused import refused


def runs(*entries: dict[str, Any], **sections: Any) -> list[PretrainingRun]:
    return expand(validate(bert_content(*entries, **sections), "my.yaml"), "my.yaml")


def test_what_the_study_has_no_usual_value_of_is_in_the_id() -> None:
    content = bert_content({"updates": 12}, {"updates": 24}, checkpoints=())
    content["pretraining"]["settings"] = {key: value for key, value in PRETRAINING.items() if key != "updates"}
    del content["finetuning"]
    assert len(expand(validate(content, "my.yaml"))) == 2


@pytest.mark.parametrize("change", [{"execution": {"log_interval": 7}}, {"checkpoints": (3, 12)}])
def test_what_cannot_change_the_numbers_is_no_identity(change: dict[str, Any]) -> None:
    assert runs(**change)[0].identity == runs()[0].identity


def test_each_checkpoint_of_each_run_is_fine_tuned_on_each_task() -> None:
    content = bert_content({"placement": ["post", "pre"]}, {"learning_rate": 0.01, "finetune": False})
    content["tasks"]["more"] = {"source": "embedded", "relation": "entailment"}
    content["finetuning"]["tasks"] = ["pairs", "more"]
    # It is not fine-tuned, and may end before the last checkpoint.
    content["pretraining"]["runs"][1]["updates"] = 6
    ids = [job.id for job in finetunings(validate(content, "my.yaml"))]
    assert len(ids) == 8
    assert ids[0] == "post-lr2e-3-wu0-s1-u6-pairs"
    assert ids[-1] == "pre-lr2e-3-wu0-s1-u12-more"


@pytest.mark.parametrize(
    ("entry", "parts"),
    [
        ({"text": "other"}, ("my.yaml: pretraining.runs.0.text: 'other' ", "defined: tiny")),
        ({"updates": 9}, ("pretraining.runs.0.updates: 9 ", "pretraining.checkpoints, 12")),
        ({"warmup": 12}, ("pretraining.runs.0.", "warmup: 12 ", "updates 12")),
        ({"validate_every": 5}, ("pretraining.runs.0.", "validate_every: 5 ", "updates 12")),
        ({"heads": 3}, ("pretraining.runs.0.width: 16 ", "heads", "15 and 18")),
        ({"seed": [1, 1]}, ("pretraining.runs.0: ", "pre-lr2e-3-wu0-s1", "twice")),
    ],
)
def test_an_impossible_run_is_refused_with_its_place(entry: dict[str, Any], parts: tuple[str, ...]) -> None:
    with refused(StudyError, *parts):
        runs(entry)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"pretraining": None}, ("finetuning: ", "pretraining", "checkpoints")),
        ({"tasks": {}}, ("finetuning.tasks: pairs ", "defined: ")),
        (
            {"pretraining": {"settings": PRETRAINING, "runs": [{}], "checkpoints": [6, 3]}},
            ("pretraining.checkpoints", "[6, 3]", "ascend"),
        ),
        (
            {"finetuning": {"tasks": ["pairs"], "fixed": {"batch_size": 5, "learning_rate": 1e-3, "epochs": 1}}},
            ("finetuning: fixed: ", "grid"),
        ),
    ],
)
def test_a_wrong_section_is_refused_with_its_key(change: dict[str, Any], parts: tuple[str, ...]) -> None:
    with refused(StudyError, *parts):
        validate({**bert_content(), **change}, "my.yaml")


def test_a_study_needs_something_to_do() -> None:
    with refused(StudyError, "my.yaml: ", "translation", "theory", "first_updates", "pretraining"):
        validate({"study": "empty"}, "my.yaml")
