"""What makes a record stale: every setting that can change a number, also one that nobody thought of; and what does
not: a setting that is added later, while it has the value by which the code went before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from preln.config import PretrainingSettings, RunSettings, Study, of_results, validate
from preln.config.base import later
from preln.pretraining import runs as pretraining
from preln.runs import digest, expand
from preln.theory import measurement_jobs
from tests.conftest import bert_content, study_content

RESULTS = Path(__file__).parents[2] / "results"
COMMITTED = [path for path in sorted(RESULTS.glob("*/study.yaml")) if path.parent.name != "quick"]


class RunSettingsToCome(RunSettings):
    """The settings of a run with a key that is added later."""

    to_come: int = later(7, "A key of the future.")


class PretrainingSettingsToCome(PretrainingSettings):
    """Likewise."""

    to_come: int = later(7, "A key of the future.")


def with_theory(**changes: Any) -> Study:
    run = {"placement": "post", "warmup": 10, "schedule": "inverse-sqrt", **changes}
    content = study_content(run)
    (name,) = (one.id for one in expand(validate(content, "study")))
    content["theory"] = {"seeds": 2, "gradients": {"runs": [name], "depths": [1], "batches": 2}}
    return validate(content, "study")


def jobs_of(study: Study) -> dict[str, Any]:
    """Every job of a study that computes numbers, by what it is."""
    runs = expand(study)
    return {
        **{f"run {run.id}": run for run in runs},
        **{f"part {part.id}": part for part in measurement_jobs.expand(study, runs)},
        **{f"pre-training {run.id}": run for run in pretraining.expand(study)},
        **{f"fine-tuning {job.id}": job for job in pretraining.finetunings(study)},
    }


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_a_key_that_is_added_later_leaves_every_committed_record_as_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = of_results(path)
    monkeypatch.setattr("preln.runs.RunSettings", RunSettingsToCome)
    monkeypatch.setattr("preln.pretraining.runs.PretrainingSettings", PretrainingSettingsToCome)
    rooms = {"run": "translation", "part": "theory", "pre-training": "pretraining", "fine-tuning": "finetuning"}
    for name, job in jobs_of(study).items():
        kind, identity = name.split(" ")
        record = json.loads((path.parent / rooms[kind] / identity / "run.json").read_text(encoding="utf-8"))
        assert as_json(job.identity) == record["identity"], name


def test_a_key_that_is_added_later_counts_once_it_has_another_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("preln.runs.RunSettings", RunSettingsToCome)
    monkeypatch.setattr("preln.config.translation.Translation.run", RunSettingsToCome)
    before, after = (
        {name.split("-s1")[0]: as_json(job.identity) for name, job in jobs_of(with_theory(**changes)).items()}
        for changes in ({}, {"to_come": 8})
    )
    unchanged = [name for name in before if before[name] == after.get(name)]
    assert unchanged == ["part exact-layers", "part exact-depths", "part exact-widths"]


def another(model: type[BaseModel], key: str, value: Any) -> Any:
    """Another value of a setting than the one that it has; it need not be a sensible one."""
    if choices := [choice for choice in get_args(model.model_fields[key].annotation) if isinstance(choice, str)]:
        return next(choice for choice in choices if choice != value)
    if isinstance(value, bool):
        return not value
    return "another" if isinstance(value, str) else 1 if value is None else value + 1


@pytest.mark.parametrize("key", sorted(RunSettings.model_fields.keys()))
def test_every_setting_of_a_run_makes_all_stale_that_depends_on_it(key: str) -> None:
    study = with_theory()
    (run,) = expand(study)
    changed = run.settings.model_copy(update={key: another(RunSettings, key, getattr(run.settings, key))})
    other = type(run)(run.id, changed, run.corpus, run.figures, run.execution)
    assert digest(as_json(other.identity)) != digest(as_json(run.identity))
    initial, trained = (
        part
        for part in measurement_jobs.expand(study, [run])
        if isinstance(part, measurement_jobs.GradientJob) and part.settings.placement == "post"
    )
    of_weights = type(trained)(**{**vars(trained), "settings": changed, "trained": (other,)})
    assert as_json(of_weights.identity) != as_json(trained.identity)
    if key not in measurement_jobs.OF_THE_TRAINING | {"corpus", "seed"}:
        of_model = type(initial)(**{**vars(initial), "settings": changed})
        assert as_json(of_model.identity) != as_json(initial.identity)


@pytest.mark.parametrize("key", sorted(PretrainingSettings.model_fields.keys()))
def test_every_setting_of_a_pretraining_makes_all_stale_that_depends_on_it(key: str) -> None:
    study = validate(bert_content(), "study")
    (run,) = pretraining.expand(study)
    changed = run.settings.model_copy(update={key: another(PretrainingSettings, key, getattr(run.settings, key))})
    other = type(run)(run.id, changed, run.text, run.finetune, run.execution)
    job = pretraining.finetunings(study)[0]
    assert as_json(other.identity) != as_json(run.identity)
    assert type(job)(**{**vars(job), "run": other}).identity != job.identity


def test_a_sweep_of_the_proofs_is_measured_again_for_each_of_its_own_settings() -> None:
    own = {
        "layers": {"width", "depth", "length"},
        "depths": {"width", "depths", "length"},
        "widths": {"depth", "widths", "length"},
    }
    (exact,) = {part.setting for part in jobs_of(with_theory()).values() if isinstance(part, measurement_jobs.ExactJob)}
    for sweep, keys in own.items():
        for key in type(exact).model_fields:
            value = getattr(exact, key)
            changed = exact.model_copy(update={key: (*value, 4096) if isinstance(value, tuple) else value + 1})
            one, other = (measurement_jobs.ExactJob(sweep, setting, 2) for setting in (exact, changed))
            assert (one.identity != other.identity) is (key in keys), (sweep, key)
