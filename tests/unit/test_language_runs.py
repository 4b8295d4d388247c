"""From a study to its language models: identities, costs, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from preln.commands import cost
from preln.config import StudyError, validate
from preln.jobs.kinds import KINDS
from preln.language.model import LanguageModel
from preln.language.runs import LanguageRun, expand
from preln.placements import PLACEMENTS
from tests.conftest import LANGUAGE, language_content, language_settings
from tests.refused import refused


def runs(*entries: dict[str, Any], **sections: Any) -> list[LanguageRun]:
    return expand(validate(language_content(*entries, **sections), "my.yaml"), "my.yaml")


@pytest.mark.parametrize("change", [{"beta2": 0.98}, {"tokens": "bytes"}, {"precision": "bf16"}])
def test_what_can_change_the_numbers_is_identity_and_how_it_is_computed_is_not(change: dict[str, Any]) -> None:
    assert runs(change)[0].identity != runs()[0].identity
    assert runs({"execution": {"cpus": 2, "log_interval": 7}})[0].identity == runs()[0].identity


@pytest.mark.parametrize(
    ("entry", "parts"),
    [
        ({"initialisation": ["own", "common"]}, ("is the same training as", "only in initialisation, which neither")),
        ({"execution": {"nodes": 2, "gpus": 2}, "accumulate": 2}, ("execution.nodes: 2", "one node")),
        ({"heads": 3}, ("width: 16 is no multiple of heads",)),
        ({"positions": "rope", "width": 18, "heads": 2}, ("rope needs an even one",)),
        ({"validate_every": 5}, ("validate_every: 5 does not divide updates 12",)),
        ({"schedule": "drop-inverse-sqrt"}, ("schedule",)),
        ({"schedule": "stable-decay"}, ("decay_start: needed by the schedule stable-decay",)),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(entry: dict[str, Any], parts: tuple[str, ...]) -> None:
    with refused(StudyError, *parts):
        runs(entry)


def test_a_list_among_the_settings_that_all_runs_share_is_refused() -> None:
    shared = {**LANGUAGE, "schedule": ["linear", "cosine"]}
    with refused(StudyError, "schedule", "linear"):
        runs(language={"settings": shared, "runs": [{}]})


@pytest.mark.parametrize(
    "changes",
    [
        *({"placement": placement} for placement in PLACEMENTS),
        {"feed_forward": "swiglu", "norm": "rms", "qk_norm": True, "positions": "rope", "tied": False},
    ],
    ids=str,
)
def test_a_plan_counts_the_models_parameters(changes: dict[str, Any]) -> None:
    settings = language_settings(**changes)
    built = LanguageModel(settings, 301)
    assert cost.language(settings, 301).parameters == sum(weight.numel() for weight in built.parameters())


def test_a_study_plans_its_language_models() -> None:
    study = validate(language_content({"tokens": ["bpe", "bytes"]}), "my.yaml")
    estimates: Any = KINDS["language"].estimates
    first, second = estimates(expand(study), Path())
    assert first.tokens == 12 * 4 * 16
    assert first.cost.parameters - second.cost.parameters == (301 - 256) * 16
