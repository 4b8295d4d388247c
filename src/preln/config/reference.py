"""The list of every key of a study, in Markdown, from the data model itself: what config/README.md holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import NoneType
from typing import Annotated, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from preln.config.corpora import EmbeddedCorpus, FilesCorpus, Iwslt14Corpus, TextPaths, Wmt14Corpus
from preln.config.execution import Execution
from preln.config.finetuning import Finetuning
from preln.config.pretraining import Pretraining, PretrainingEntry, PretrainingSettings
from preln.config.study import Study
from preln.config.tasks import EmbeddedTask, MrpcTask, RteTask
from preln.config.texts import (
    BookcorpusSource,
    EmbeddedSource,
    EnglishText,
    TextFilesSource,
    WikipediaSource,
    WikitextSource,
)
from preln.config.theory import ExactTheory, Gradients, Theory
from preln.config.translation import RunEntry, RunSettings, Translation

INTRODUCTION = """# The keys of a study

A study is one YAML file. `config.yaml` is the default; `snakemake --configfile config/other.yaml` takes another in its
place. Unknown keys, wrong values and impossible combinations stop the workflow before any job; a text that cannot be
used stops the job that reads it. Paths are from the folder in which Snakemake runs; `~` is your home.

This page is generated from the data model: `python -m preln.config.reference > config/README.md`.
"""


def _by_source(
    where: str, models: tuple[tuple[type[BaseModel], str], ...]
) -> Iterator[tuple[str, str, type[BaseModel]]]:
    """A section for each kind of source that may stand at a place."""
    for model, text in models:
        (source,) = get_args(model.model_fields["source"].annotation)
        yield f"`{where}` with `source: {source}`", text, model


SECTIONS: list[tuple[str, str, type[BaseModel]]] = [
    ("A study", "The top level of the file.", Study),
    ("`corpora.<name>` with `source: embedded`", "Generated sentences; nothing is downloaded.", EmbeddedCorpus),
    (
        "`corpora.<name>` with `source: iwslt14`",
        "IWSLT14 German-English: 160,239 training pairs, every 23rd line as valid, the five official sets as test. The "
        "paper speaks of 153K/7K/7K, another known split of the same talks; this one is the field's, and it can be "
        "checked line by line against published checksums.",
        Iwslt14Corpus,
    ),
    (
        "`corpora.<name>` with `source: wmt14`",
        "WMT14 English-German: about 4.5 million pairs of Europarl, Common Crawl and News Commentary, with their case.",
        Wmt14Corpus,
    ),
    ("`corpora.<name>` with `source: files`", "Your own parallel text, in any two languages.", FilesCorpus),
    ("`train`, `valid`, `test` of such a corpus", "One sentence a line, UTF-8.", TextPaths),
    ("`translation`", "The grid of runs.", Translation),
    (
        "`translation.runs`",
        "Beside `figures`, each entry has keys of a run, below; so has `translation.settings`.",
        RunEntry,
    ),
    ("A run", "All of these can change its numbers: changing one trains the run anew.", RunSettings),
    ("`theory`", "Lemmas 1 to 3, theorem 1, boundedness and figure 3; measured only where it is given.", Theory),
    ("`theory.exact`", "The model of the paper's proofs.", ExactTheory),
    ("`theory.gradients`", "Figure 3, on a run's translation model.", Gradients),
    ("`texts.<name>`", "English documents, one of each 200 of which is held out as valid.", EnglishText),
    *_by_source(
        "texts.<name>.sources",
        (
            (EmbeddedSource, "Generated documents, and the English prose that the Python installation carries."),
            (WikitextSource, "WikiText, raw: articles of the English Wikipedia."),
            (WikipediaSource, "A dump of the English Wikipedia, whose mark-up is stripped."),
            (BookcorpusSource, "BookCorpus: sentences of novels, whose books are not divided."),
            (TextFilesSource, "Your own text."),
        ),
    ),
    ("`pretraining`", "BERT: masked language models (section 4.2).", Pretraining),
    (
        "`pretraining.runs`",
        "Beside `finetune`, each entry has keys of a pre-training, below; so has `pretraining.settings`.",
        PretrainingEntry,
    ),
    ("A pre-training", "All of these can change its numbers: changing one trains it anew.", PretrainingSettings),
    *_by_source(
        "tasks.<name>",
        (
            (EmbeddedTask, "Generated pairs of sentences, one half of them positive."),
            (MrpcTask, "Is the second sentence a paraphrase of the first? 3,668 pairs of train, 408 of dev."),
            (RteTask, "Does the second sentence follow from the first? 2,490 pairs of train, 277 of dev."),
        ),
    ),
    ("`finetuning`", "Each kept checkpoint on each task, at each point of a grid (appendix A.3).", Finetuning),
    ("`execution`", "How the study is computed; nothing here trains a run anew.", Execution),
]


def markdown() -> str:
    """The page."""
    parts = [INTRODUCTION]
    for heading, text, model in SECTIONS:
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
    """What a key takes: its type as the YAML file has it, and its bounds."""
    annotation = field.annotation
    if get_args(annotation)[1:] == (NoneType,):
        # What may be left out takes what it takes where it is there.
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
        f"{sign} {getattr(rule, key):g}"
        for rule in field.metadata
        for key, sign in signs.items()
        if getattr(rule, key, None) is not None
    ]
    return ", ".join([words.get(base, "see below"), *bounds])


if __name__ == "__main__":
    print(markdown(), end="")
