"""Every setting that can change a number makes a record stale; one that is added later does not, by its default."""

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
from preln.jobs.base import Job, digest
from preln.jobs.kinds import jobs_of
from preln.pretraining import runs as pretraining
from preln.records.recording import Record
from preln.theory import measurement_jobs, trace_jobs
from preln.translation.runs import expand
from tests.conftest import ROOT, bert_content, committed_studies, every_kind
from tests.made_up import traces
from tests.made_up.theory import language_theory

COMMITTED = committed_studies()


def named(study: Study) -> dict[str, Job]:
    """The jobs of a study by kind and id."""
    return {f"{job.kind} {job.id}": job for job in jobs_of(study)}


def stale(path: Path) -> list[str]:
    """The folders of those jobs of a committed study whose records are not current."""
    folders = {path.parent / job.folder: job for job in jobs_of(of_results(path))}
    return [str(folder) for folder, job in folders.items() if not Record(job, folder).is_current]


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
    """The value that an expression of this module's names has with the copy of the code."""
    script = f"import json; from tests.unit.test_identity import *; print(json.dumps({expression}))"
    variables = {**os.environ, "PYTHONPATH": str(code)}
    command = [sys.executable, "-c", script]
    return json.loads(subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, check=True).stdout)


@pytest.mark.slow
def test_a_key_that_every_class_of_settings_has_later_leaves_every_committed_record_as_it_is(grown: Path) -> None:
    assert in_grown(grown, "'to_come' in EnglishText.model_fields")
    assert COMMITTED and in_grown(grown, "sum(map(stale, COMMITTED), [])") == []


PLACES: dict[str, tuple[str, ...]] = {
    "corpora.tiny": ("translation", "theory post", "theory pre", "first-updates"),
    "translation.settings": ("translation", "theory post", "theory pre"),
    "theory.exact": ("theory exact",),
    "first_updates.settings": ("first-updates",),
    "texts.tiny": ("pretraining", "finetuning"),
    "texts.tiny.sources.0": ("pretraining", "finetuning"),
    "pretraining.settings": ("pretraining", "finetuning"),
    "tasks.pairs": ("finetuning",),
}
"""Where a key of a study stands that can change numbers, and the jobs whose numbers these are."""


def changed_by(place: str) -> list[str]:
    """The jobs that are others if the key to come has another value at a place."""
    # Sections share their settings, unlike those of a file.
    content: Any = json.loads(json.dumps(every_kind()))
    before = named(validated(content, "study"))
    section = content
    for key in place.split("."):
        section = section[int(key)] if isinstance(section, list) else section.setdefault(key, {})
    section["to_come"] = 8
    kept = [job.identity for job in jobs_of(validated(content, "study"))]
    return [name for name, job in before.items() if job.identity not in kept]


@pytest.mark.slow
def test_a_key_that_is_added_later_counts_where_it_has_another_value(grown: Path) -> None:
    jobs = named(validated(every_kind(), "study"))
    changed = in_grown(grown, "{place: changed_by(place) for place in PLACES}")
    for place, kinds in PLACES.items():
        assert changed[place] == [job for job in jobs if job.startswith(kinds)], place


OF_LANGUAGE = ("language language", "language theory post", "language theory pre", "language first-updates")
VERSIONS: dict[str, tuple[str, ...]] = {
    "TRAINING_VERSION": ("translation", "theory post-1-after-warm-up"),
    "PREPARATION_VERSION": ("translation", "theory post", "theory pre", "first-updates"),
    "THEORY_VERSION": ("theory", "first-updates", "language theory", "language first-updates"),
    "PRETRAINING_VERSION": ("pretraining", "finetuning"),
    "FINETUNING_VERSION": ("finetuning",),
    "ENGLISH_VERSION": ("pretraining", "finetuning", *OF_LANGUAGE),
    "LANGUAGE_VERSION": OF_LANGUAGE,
}
"""The versions of the code, and the jobs whose numbers can change with it."""


def identities() -> dict[str, Any]:
    """The identities of jobs of every kind, and behind `language` those of a study of language models."""
    traced = traces.language_content()["first_updates"]
    of_language = named(validated({**language_theory(), "first_updates": traced}, "study"))
    jobs = named(validated(every_kind(), "study")) | {f"language {name}": job for name, job in of_language.items()}
    return {name: job.identity for name, job in jobs.items()}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_new_version_makes_jobs_others_that_depend_on_it(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


def with_another(settings: Any, key: str) -> Any:
    """Settings of which one has another value."""
    return settings.model_copy(update={key: another(type(settings), key, getattr(settings, key))})


@pytest.mark.parametrize("key", sorted(RunSettings.model_fields.keys()))
def test_every_setting_of_a_run_makes_all_stale_that_depends_on_it(key: str) -> None:
    study = validated(every_kind(), "study")
    (run,) = expand(study)
    other = replace(run, settings=with_another(run.settings, key))
    assert other.identity != run.identity
    initial, trained = (
        part
        for part in measurement_jobs.expand(study)
        if isinstance(part, measurement_jobs.GradientJob) and part.settings.placement == "post"
    )
    assert replace(trained, run=other, trained=(other,)).identity != trained.identity
    is_same = key in measurement_jobs.NOT_AT_INITIALISATION | {"corpus", "seed"}
    assert (replace(initial, run=other).identity == initial.identity) is is_same


OWN_CORPUS: dict[str, Any] = {
    **{"source": "files", "source_language": "nl", "target_language": "fr"},
    **{part: {"source": f"{part}.nl", "target": f"{part}.fr"} for part in ("train", "valid", "test")},
}
SECTIONS: dict[Any, list[dict[str, Any]]] = {
    Corpus: [{"source": "embedded"}, {"source": "iwslt14"}, {"source": "wmt14"}, OWN_CORPUS],
    Task: [{"source": "embedded"}, {"source": "mrpc"}, {"source": "rte"}],
    TextSource: [
        *({"source": "embedded"}, {"source": "wikitext"}, {"source": "bookcorpus", "folder": "books"}),
        *({"source": "wikipedia", "date": "20260101"}, {"source": "files", "path": "novels"}),
    ],
    EnglishText: [{"sources": [{"source": "embedded"}]}],
}
"""The sections that a run or a fine-tuning is of, one of each kind."""
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
    other = replace(run, settings=with_another(run.settings, key))
    job = pretraining.finetunings(study)[0]
    assert other.identity != run.identity
    assert replace(job, run=other).identity != job.identity


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
            first, second = (measurement_jobs.ExactJob(sweep, setting, 2, Execution()) for setting in (exact, changed))
            assert (first.identity != second.identity) is (key in keys), (sweep, key)


@pytest.mark.parametrize(
    ("traced", "key"),
    [(every_kind(), key) for key in sorted(RunSettings.model_fields)]
    + [(traces.language_content(), key) for key in sorted(LanguageSettings.model_fields)],
    ids=lambda value: value if isinstance(value, str) else min(value),
)
def test_every_setting_of_a_run_that_its_trace_reaches_makes_the_trace_stale(traced: dict[str, Any], key: str) -> None:
    (job,) = trace_jobs.expand(validated(traced, "study"))
    other = replace(job, run=replace(job.run, settings=with_another(job.settings, key)))
    # The text is told by what it was prepared from, and not by its name.
    is_same = key in trace_jobs.NOT_IN_A_TRACE | {"corpus", "text"}
    assert (other.identity == job.identity) is is_same


def test_a_trace_that_is_longer_or_has_more_of_the_sharpness_is_another() -> None:
    (job,) = trace_jobs.expand(validated(every_kind(), "study"))
    assert (
        len({digest(variant.identity) for variant in (job, replace(job, updates=7), replace(job, sharpness_every=7))})
        == 3
    )
