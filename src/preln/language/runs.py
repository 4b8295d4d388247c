"""From a study to its language models, with ids and identities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from preln.config import EnglishText, Execution, LanguageSettings, Origin, Study
from preln.jobs.base import Job, Prepared, of_text
from preln.jobs.grid import GridKind, id_of_schedule, unused
from preln.language.text import BYTES
from preln.placements import PLACEMENTS
from preln.placements.base import Residual
from preln.pretraining.runs import ENGLISH_VERSION
from preln.records import recording

LANGUAGE_VERSION = 1
"""Raised when the code may change a language model's numbers, or its tokens; a raise trains every run again. Not
raised when the initial weights came to be drawn on the CPU: all committed models were trained there."""


@dataclass(frozen=True)
class LanguageRun(Job):
    """A language model: its id in the study, its settings, its text, and its execution, which is not part of its
    identity."""

    kind: ClassVar[str] = "language"
    records: ClassVar[tuple[str, ...]] = (recording.RUN, "curve.csv", recording.METRICS)
    id: str
    settings: LanguageSettings
    text: EnglishText
    execution: Execution

    @property
    def identity(self) -> dict[str, Any]:
        return {**self.text_identity, **self.settings.model_dump(mode="json")}

    @property
    def text_identity(self) -> dict[str, Any]:
        """The part of it that is of the text and its tokens."""
        versions = {"language_version": LANGUAGE_VERSION, "english_version": ENGLISH_VERSION}
        return {**versions, "text_settings": self.text.identity}

    @property
    def vocabulary(self) -> int:
        """The tokens of the model, which are fewer where the text has fewer pieces than it may."""
        return BYTES if self.settings.tokens == "bytes" else self.text.vocabulary + 1

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        text = of_text(self.settings.text, self.text)
        return (replace(text, stages=("text", f"tokens-{self.settings.tokens}")),)


def _unused(settings: LanguageSettings) -> frozenset[str]:
    """With the initialisation, where the placement's paper gives none of its own."""
    placement = PLACEMENTS[settings.placement]
    is_scaled = placement.residual.initial_scale is not Residual.initial_scale
    has_own = is_scaled or placement.embedding_scale is not None or placement.profiled
    return unused(settings) | (set() if has_own else {"initialisation"})


def _on_several_nodes(run: LanguageRun, study: Study) -> Iterable[str]:
    if run.execution.nodes > 1:
        yield f".execution.nodes: {run.execution.nodes}; a language model is trained on one node"


GRID = GridKind(
    LanguageSettings,
    text="text",
    texts="texts",
    id_of_schedule=id_of_schedule,
    new_run=lambda run_id, settings, text, entry, execution: LanguageRun(run_id, settings, text, execution),
    problems=_on_several_nodes,
    unused=_unused,
)


def expand(study: Study, origin: Origin = "study") -> list[LanguageRun]:
    """The language models of a study, as `GridKind.expand`."""
    return GRID.expand(study.language, "language", study, origin)
