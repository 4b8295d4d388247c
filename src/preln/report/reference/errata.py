"""The paper's errors and ambiguities, as data: `errata.yaml`."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from preln.config import Study


class Erratum(BaseModel):
    """Something that the paper has wrong or leaves ambiguous about its runs of a kind, the correction, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    of: Literal["iwslt14", "bert"]
    statement: str
    source: str
    correction: str
    evidence: str


def load() -> tuple[Erratum, ...]:
    """The errata, in the order of the file."""
    text = files(__package__).joinpath("errata.yaml").read_text(encoding="utf-8")
    return TypeAdapter(tuple[Erratum, ...]).validate_python(yaml.safe_load(text)["errata"])


def of_study(study: Study) -> list[Erratum]:
    """Those that concern a study: one on the paper's text, or one that pre-trains."""
    sources = {corpus.source for corpus in study.corpora.values()}
    concerned = {"iwslt14": "iwslt14" in sources, "bert": study.pretraining is not None}
    return [erratum for erratum in load() if concerned[erratum.of]]
