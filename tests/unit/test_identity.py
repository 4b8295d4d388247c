"""What makes a record stale: every setting that can change a number, also one that nobody thought of; and what does
not: a setting that is added later, while it has the value by which the code went before."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, TypeAdapter

import preln
from preln.config import (
    Corpus,
    EnglishText,
    Execution,
    LanguageSettings,
    PretrainingSettings,
    RunSettings,
    Settings,
    Study,
    Task,
    of_results,
)
from preln.config import validate as validated
from preln.config.pretraining_texts import TextSource
from preln.jobs.base import digest
from preln.language import runs as language
from preln.pretraining import runs as pretraining
from preln.records.recording import Record
from preln.theory import measurement_jobs, trace_jobs
from preln.translation.runs import expand
from tests.conftest import ROOT, bert_content, committed_studies, every_kind
from tests.made_up import traces
from tests.made_up.theory import language_theory

COMMITTED = committed_studies()


def jobs_of(study: Study) -> dict[str, Any]:
    """Every job of a study that computes numbers, by what it is."""
    runs = expand(study)
    return {
        **{f"run {run.id}": run for run in runs},
        **{f"part {part.id}": part for part in measurement_jobs.expand(study)},
        **{f"trace {job.id}": job for job in trace_jobs.expand(study)},
        **{f"pre-training {run.id}": run for run in pretraining.expand(study)},
        **{f"fine-tuning {job.id}": job for job in pretraining.finetunings(study)},
    }


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def stale(path: Path) -> list[str]:
    """The jobs of a committed study whose records are not current."""
    return [
        f"{path.parent.name} {name}"
        for name, job in jobs_of(of_results(path)).items()
        if not Record(job, path.parent / job.folder).is_current
    ]


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code in which every class of settings has a key more, `to_come`, whose default is 7."""
    folder = tmp_path_factory.mktemp("grown")
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(Path(preln.__file__).parent, folder / "preln", ignore=ignored)
    base = folder / "preln" / "config" / "base.py"
    head, of_settings = base.read_text(encoding="utf-8").split("class Settings(BaseModel):")
    key = '\n    to_come: int = later(7, "A key of the future.")\n\n    @model_validator'
    base.write_text(f"{head}class Settings(BaseModel):{of_settings.replace('    @model_validator', key, 1)}")
    return folder


def in_grown(code: Path, expression: str) -> Any:
    """What an expression of this module's names is with the copy of the code."""
    script = f"import json; from tests.unit.test_identity import *; print(json.dumps({expression}))"
    variables = {**os.environ, "PYTHONPATH": str(code)}
    command = [sys.executable, "-c", script]
    return json.loads(subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, check=True).stdout)


@pytest.mark.slow
def test_a_key_that_every_class_of_settings_has_later_leaves_every_committed_record_as_it_is(grown: Path) -> None:
    assert in_grown(grown, "'to_come' in EnglishText.model_fields")
    assert COMMITTED and in_grown(grown, "sum(map(stale, COMMITTED), [])") == []


PLACES: dict[str, tuple[str, ...]] = {
    "corpora.tiny": ("run", "part post", "part pre", "trace"),
    "translation.settings": ("run", "part post", "part pre"),
    "theory.exact": ("part exact",),
    "first_updates.settings": ("trace",),
    "texts.tiny": ("pre-training", "fine-tuning"),
    "texts.tiny.sources.0": ("pre-training", "fine-tuning"),
    "pretraining.settings": ("pre-training", "fine-tuning"),
    "tasks.pairs": ("fine-tuning",),
}
"""Where a key of a study stands that can change numbers, and the jobs whose numbers these are."""


def changed_by(place: str) -> list[str]:
    """The jobs that are others if the key to come has another value at a place."""
    content = as_json(every_kind())
    before = jobs_of(validated(content, "study"))
    section = content
    for key in place.split("."):
        section = section[int(key)] if isinstance(section, list) else section.setdefault(key, {})
    section["to_come"] = 8
    after = jobs_of(validated(content, "study"))
    kept = [as_json(job.identity) for job in after.values()]
    return [name for name, job in before.items() if as_json(job.identity) not in kept]


@pytest.mark.slow
def test_a_key_that_is_added_later_counts_where_it_has_another_value(grown: Path) -> None:
    jobs = jobs_of(validated(every_kind(), "study"))
    changed = in_grown(grown, "{place: changed_by(place) for place in PLACES}")
    for place, kinds in PLACES.items():
        assert changed[place] == [job for job in jobs if job.startswith(kinds)], place


OF_LANGUAGE = ("language run", "language part post", "language part pre", "language trace")
VERSIONS: dict[str, tuple[str, ...]] = {
    "TRAINING_VERSION": ("run", "part post-1-after-warm-up"),
    "PREPARATION_VERSION": ("run", "part post", "part pre", "trace"),
    "THEORY_VERSION": ("part", "trace", "language part", "language trace"),
    "PRETRAINING_VERSION": ("pre-training", "fine-tuning"),
    "FINETUNING_VERSION": ("fine-tuning",),
    "ENGLISH_VERSION": ("pre-training", "fine-tuning", *OF_LANGUAGE),
    "LANGUAGE_VERSION": OF_LANGUAGE,
}
"""The versions of the code, and the jobs whose numbers can change with it."""


def identities() -> dict[str, Any]:
    """The identities of jobs of every kind, also of those of language models."""
    language_models = validated(
        {**language_theory(), "first_updates": traces.language_content()["first_updates"]}, "study"
    )
    jobs = {
        **jobs_of(validated(every_kind(), "study")),
        **{f"language run {run.id}": run for run in language.expand(language_models)},
        **{f"language {name}": job for name, job in jobs_of(language_models).items()},
    }
    return {name: as_json(job.identity) for name, job in jobs.items()}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_new_version_of_the_code_makes_those_jobs_others_whose_numbers_can_change(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = identities()
    for name, module in list(sys.modules.items()):
        if name.startswith("preln.") and hasattr(module, version):
            monkeypatch.setattr(module, version, 1000)
    after = identities()
    changed = [name for name in before if after[name] != before[name]]
    assert changed == [name for name in before if name.startswith(VERSIONS[version])]


def choices(annotation: Any) -> list[str]:
    words = [annotation] if isinstance(annotation, str) else []
    return words + [word for inner in get_args(annotation) for word in choices(inner)]


def kind(annotation: Any) -> Callable[[Any], Any]:
    """The first type that a setting may have."""
    if isinstance(annotation, type) and issubclass(annotation, Path):
        return lambda value: Path(str(value))
    return annotation if isinstance(annotation, type) else kind(get_args(annotation)[0])


def another(model: type[BaseModel], key: str, value: Any) -> Any:
    """Another value of a setting than the one that it has; it need not be a sensible one."""
    if words := choices(model.model_fields[key].annotation):
        return next(word for word in words if word != value)
    match value:
        case _ if key.endswith("_language"):
            return "sv"
        case bool():
            return not value
        case str() | Path():
            return type(value)("another")
        case tuple():
            return value + value
        case BaseModel():
            first = next(iter(type(value).model_fields))
            return value.model_copy(update={first: another(type(value), first, getattr(value, first))})
        case None:
            return kind(model.model_fields[key].annotation)(1)
        case _:
            return value + 1


@pytest.mark.parametrize("key", sorted(RunSettings.model_fields.keys()))
def test_every_setting_of_a_run_makes_all_stale_that_depends_on_it(key: str) -> None:
    study = validated(every_kind(), "study")
    (run,) = expand(study)
    changed = run.settings.model_copy(update={key: another(RunSettings, key, getattr(run.settings, key))})
    other = type(run)(run.id, changed, run.corpus, run.figures, run.execution)
    assert digest(as_json(other.identity)) != digest(as_json(run.identity))
    initial, trained = (
        part
        for part in measurement_jobs.expand(study)
        if isinstance(part, measurement_jobs.GradientJob) and part.settings.placement == "post"
    )
    of_weights = type(trained)(**{**vars(trained), "run": other, "trained": (other,)})
    assert as_json(of_weights.identity) != as_json(trained.identity)
    of_model = type(initial)(**{**vars(initial), "run": other})
    is_same = key in measurement_jobs.NOT_AT_INITIALISATION | {"corpus", "seed"}
    assert (as_json(of_model.identity) == as_json(initial.identity)) is is_same


SECTIONS: dict[Any, list[dict[str, Any]]] = {
    Corpus: [
        {"source": "embedded"},
        {"source": "iwslt14"},
        {"source": "wmt14"},
        {
            **{"source": "files", "source_language": "nl", "target_language": "fr"},
            **{part: {"source": f"{part}.nl", "target": f"{part}.fr"} for part in ("train", "valid", "test")},
        },
    ],
    Task: [{"source": "embedded"}, {"source": "mrpc"}, {"source": "rte"}],
    TextSource: [
        *({"source": "embedded"}, {"source": "wikitext"}, {"source": "bookcorpus", "folder": "books"}),
        *({"source": "wikipedia", "date": "20260101"}, {"source": "files", "path": "novels"}),
    ],
    EnglishText: [{"sources": [{"source": "embedded"}]}],
}
"""What a run or a fine-tuning is of: a section of each kind."""
WHERE_IT_LIES = "folder"
"""The key that says where this machine has a published text, which is the same wherever it lies."""


@pytest.mark.parametrize(
    ("kind", "content"),
    [(kind, content) for kind, contents in SECTIONS.items() for content in contents],
    ids=lambda value: value.get("source", "a text") if isinstance(value, dict) else "",
)
def test_every_setting_of_what_a_run_is_of_makes_it_another(kind: Any, content: dict[str, Any]) -> None:
    section: Settings = TypeAdapter(kind).validate_python(content)
    for key in type(section).model_fields.keys() - {"source"}:
        value = Path("here") if key == WHERE_IT_LIES else another(type(section), key, getattr(section, key))
        changed = section.model_copy(update={key: value})
        assert (changed.identity == section.identity) is (key == WHERE_IT_LIES), key


@pytest.mark.parametrize("key", sorted(PretrainingSettings.model_fields.keys()))
def test_every_setting_of_a_pretraining_makes_all_stale_that_depends_on_it(key: str) -> None:
    study = validated(bert_content(), "study")
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
    theory = validated(every_kind(), "study").theory
    assert theory
    exact = theory.exact
    for sweep, keys in own.items():
        # Its seeds are an argument of a job.
        for key in type(exact).model_fields.keys() - {"seeds"}:
            value = getattr(exact, key)
            changed = exact.model_copy(update={key: (*value, 4096) if isinstance(value, tuple) else value + 1})
            one, other = (measurement_jobs.ExactJob(sweep, setting, 2, Execution()) for setting in (exact, changed))
            assert (one.identity != other.identity) is (key in keys), (sweep, key)


@pytest.mark.parametrize(
    ("traced", "key"),
    [(every_kind(), key) for key in sorted(RunSettings.model_fields)]
    + [(traces.language_content(), key) for key in sorted(LanguageSettings.model_fields)],
    ids=lambda value: value if isinstance(value, str) else min(value),
)
def test_every_setting_of_a_run_that_its_trace_reaches_makes_the_trace_stale(traced: dict[str, Any], key: str) -> None:
    (job,) = trace_jobs.expand(validated(traced, "study"))
    settings = job.run.settings
    changed: Any = settings.model_copy(update={key: another(type(settings), key, getattr(settings, key))})
    other = replace(job, run=replace(job.run, settings=changed))
    # The text is told by what it was prepared from, and not by its name.
    is_same = key in trace_jobs.NOT_IN_A_TRACE | {"corpus", "text"}
    assert (as_json(other.identity) == as_json(job.identity)) is is_same


def test_a_trace_that_is_longer_or_has_more_of_the_sharpness_is_another() -> None:
    (job,) = trace_jobs.expand(validated(every_kind(), "study"))
    assert len({digest(one.identity) for one in (job, replace(job, updates=7), replace(job, sharpness_every=7))}) == 3
