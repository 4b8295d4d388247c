"""The list of every key of a study, in Markdown, from the data model itself: what config/README.md holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from preln.config.corpora import Corpus, TextPaths
from preln.config.execution import Execution
from preln.config.finetuning import Finetuning
from preln.config.first_updates import FirstUpdates, TracedEntry
from preln.config.language import Language, LanguageEntry, LanguageSettings
from preln.config.pretraining import Pretraining, PretrainingEntry, PretrainingSettings
from preln.config.pretraining_texts import EnglishText, TextSource
from preln.config.study import Study
from preln.config.tasks import Task
from preln.config.theory import ExactTheory, Gradients, Theory
from preln.config.translation import RunEntry, RunSettings, Translation

INTRODUCTION = """# The keys of a study

A study is one YAML file. `config.yaml` is the default. `snakemake --cores all --configfile config/paper.yaml` takes
another in its place.

A study may have unknown keys, wrong values or impossible combinations. It may name files and folders that are not
what they must be. Then the workflow stops before any job, with a line for each problem: first those of keys and
values; if there are none, those of combinations and files. `preln plan config/paper.yaml` says the same. Each names
the file, its line and the key: `config/paper.yaml:12: translation.runs.0.warmup: ...`. If Snakemake merges several
files, or a file with `--config`, it names no line. If a file is not YAML, `preln plan` names the line, which Snakemake
does not do for a `--configfile`. If a text cannot be used, the job that reads it stops.

Paths are from the folder in which Snakemake runs. `~` is your home.

This page is generated from the data model: `python -m preln.config.reference > config/README.md`.
"""


def _by_source(where: str, union: Any) -> Iterator[tuple[str, type[BaseModel]]]:
    """A section for each kind of source that may stand at a place."""
    for model in get_args(get_args(union)[0]):
        (source,) = get_args(model.model_fields["source"].annotation)
        yield f"`{where}` with `source: {source}`", model


SECTIONS: list[tuple[str, type[BaseModel]]] = [
    ("A study", Study),
    *_by_source("corpora.<name>", Corpus),
    ("`train`, `valid`, `test` of such a corpus", TextPaths),
    ("`translation`", Translation),
    ("`translation.runs`", RunEntry),
    ("A run", RunSettings),
    ("`theory`", Theory),
    ("`theory.exact`", ExactTheory),
    ("`theory.gradients`", Gradients),
    ("`first_updates`", FirstUpdates),
    ("`first_updates.runs`", TracedEntry),
    ("`texts.<name>`", EnglishText),
    *_by_source("texts.<name>.sources", TextSource),
    ("`pretraining`", Pretraining),
    ("`pretraining.runs`", PretrainingEntry),
    ("A pre-training", PretrainingSettings),
    ("`language`", Language),
    ("`language.runs`", LanguageEntry),
    ("A language model", LanguageSettings),
    *_by_source("tasks.<name>", Task),
    ("`finetuning`", Finetuning),
    ("`execution`", Execution),
]


def markdown() -> str:
    """The page."""
    parts = [INTRODUCTION]
    for heading, model in SECTIONS:
        text = " ".join((model.__doc__ or "").split())
        rows = [_row(name, field) for name, field in model.model_fields.items()]
        parts.append(
            "\n".join([f"## {heading}\n", f"{text}\n", "| key | value | default | |", "|---|---|---|---|", *rows])
        )
        parts.append("")
    return "\n".join(parts)


def _row(name: str, field: FieldInfo) -> str:
    if field.is_required():
        default = "required"
    elif field.default is PydanticUndefined or isinstance(field.default, BaseModel):
        default = ""
    else:
        default = "none" if field.default in (None, ()) else f"`{str(field.default).lower()}`"
    return f"| `{name}` | {_value(field)} | {default} | {field.description or ''} |"


def _value(field: FieldInfo) -> str:
    """The values of a key: its type as the YAML file has it, and its bounds."""
    annotation = field.annotation
    if get_args(annotation)[1:] == (NoneType,):
        # A key that may be left out is described by what it takes when it is there.
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(annotation))
    name = annotation.__name__ if isinstance(annotation, type) and not get_args(annotation) else str(annotation)
    words = {
        "int": "whole number",
        "float": "number",
        "bool": "`true` or `false`",
        "str": "text",
        "Path": "path",
        "TextPaths": "`source` and `target`",
        "GridPoint": "a point of the grid",
        "tuple": "list",
        "typing.Union": "see right",
    }
    base = re.split(r"[ \[]", name)[0]
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    bounds = [
        f"{sign} {_number(getattr(rule, key))}"
        for rule in field.metadata
        for key, sign in signs.items()
        if getattr(rule, key, None) is not None
    ]
    return ", ".join([words.get(base, "see below"), *bounds])


def _number(bound: float) -> str:
    return f"{bound:,}" if isinstance(bound, int) else f"{bound:g}"


if __name__ == "__main__":
    print(markdown(), end="")
