"""The list of every key of a study, in Markdown, from the data model itself: what config/README.md holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, get_args

from pydantic import BaseModel

from preln.config.corpora import Corpus, TextPaths
from preln.config.execution import Execution
from preln.config.finetuning import Finetuning
from preln.config.first_updates import FirstUpdates
from preln.config.grid import Entry
from preln.config.language import Language, LanguageSettings
from preln.config.pretraining import Pretraining, PretrainingEntry, PretrainingSettings
from preln.config.pretraining_texts import EnglishText, TextSource
from preln.config.study import Study
from preln.config.tasks import Task
from preln.config.theory import ExactTheory, Gradients, Theory
from preln.config.translation import RunEntry, RunSettings, Translation

INTRODUCTION = """# The keys of a study

A study is one YAML file. `config.yaml` is the default. `snakemake --cores all --configfile config/paper.yaml` takes
another in its place.

Unknown keys, wrong values, impossible combinations and files that are not what they must be stop the workflow before
any job. It prints a line for each problem: first those of keys and values; if there are none, those of combinations and
files. `preln plan config/paper.yaml` prints the same. Each line names the file, its line and
the key: `config/paper.yaml:12: translation.runs.0.warmup: ...`. If Snakemake merges several files, or a file with
`--config`, no line is named. If a file is not YAML, `preln plan` names the line, which Snakemake does not do for a
`--configfile`. If a text cannot be used, the job that reads it stops.

Paths are from the folder in which Snakemake runs. `~` is your home.
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
    ("`first_updates.runs`", Entry),
    ("`texts.<name>`", EnglishText),
    *_by_source("texts.<name>.sources", TextSource),
    ("`pretraining`", Pretraining),
    ("`pretraining.runs`", PretrainingEntry),
    ("A pre-training", PretrainingSettings),
    ("`language`", Language),
    ("`language.runs`", Entry),
    ("A language model", LanguageSettings),
    *_by_source("tasks.<name>", Task),
    ("`finetuning`", Finetuning),
    ("`execution`", Execution),
]


_WORDS = dict(integer="whole number", number="number", boolean="`true` or `false`", string="text", array="list")
_SIGNS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def markdown() -> str:
    """The page."""
    parts = [INTRODUCTION]
    for heading, model in SECTIONS:
        schema = model.model_json_schema()
        text = " ".join((model.__doc__ or "").split())
        rows = [_row(name, key, schema.get("required", ())) for name, key in schema["properties"].items()]
        parts.append(
            "\n".join([f"## {heading}\n", f"{text}\n", "| key | value | default | |", "|---|---|---|---|", *rows])
        )
        parts.append("")
    return "\n".join(parts)


def _row(name: str, key: dict[str, Any], required: Collection[str]) -> str:
    default = "required" if name in required else ""
    if "default" in key:
        default = "none" if key["default"] in (None, []) else f"`{str(key['default']).lower()}`"
    return f"| `{name}` | {_value(key)} | {default} | {key.get('description', '')} |"


def _value(key: dict[str, Any]) -> str:
    """The values of a key, by its JSON schema: its type as the YAML file has it, and its bounds."""
    # A key that may be left out is described by what it takes when it is there.
    (kind, *others) = [kind for kind in key.get("anyOf", [key]) if kind.get("type") != "null"]
    if others:
        return "see right"
    if choices := kind.get("enum") or ([kind["const"]] if "const" in kind else []):
        return ", ".join(f"`{choice}`" for choice in choices)
    word = "path" if kind.get("format") == "path" else _WORDS.get(kind.get("type", ""), "a section")
    bounds = ((sign, kind[name]) for name, sign in _SIGNS.items() if name in kind)
    return ", ".join([word, *(f"{sign} {bound:{',' if isinstance(bound, int) else 'g'}}" for sign, bound in bounds)])


if __name__ == "__main__":
    print(markdown(), end="")
