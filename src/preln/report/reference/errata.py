"""The paper's errors and ambiguities, as data: `errata.yaml`."""

from __future__ import annotations

from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter


class Erratum(BaseModel):
    """Something that the paper has wrong or leaves ambiguous, the correction, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    statement: str
    source: str
    correction: str
    evidence: str


def load() -> tuple[Erratum, ...]:
    """The errata, in the order of the file."""
    text = files(__package__).joinpath("errata.yaml").read_text(encoding="utf-8")
    return TypeAdapter(tuple[Erratum, ...]).validate_python(yaml.safe_load(text)["errata"])
