"""From a study to its language models, with ids and identities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from preln import schedules
from preln.config import EnglishText, Entry, Execution, Grid, LanguageSettings, Origin, Study
from preln.jobs.base import Job
from preln.jobs.grid import GridKind, unused, unusual
from preln.jobs.prepared import Prepared, of_text
from preln.language.text import BYTES
from preln.placements import PLACEMENTS
from preln.placements.base import Placement, Residual
from preln.pretraining.runs import ENGLISH_VERSION
from preln.records import recording
from preln.values import short

LANGUAGE_VERSION = 1
"""Raised when the code may change a language model's numbers, or its tokens; a raise trains every run again."""


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
        """Everything that can change the run's numbers, as plain JSON values."""
        return {
            "language_version": LANGUAGE_VERSION,
            "english_version": ENGLISH_VERSION,
            "text_settings": self.text.identity,
            **self.settings.model_dump(mode="json"),
        }

    @property
    def vocabulary(self) -> int:
        """The tokens of the model, which are fewer where the text has fewer pieces than it may."""
        return BYTES if self.settings.tokens == "bytes" else self.text.vocabulary + 1

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        """The prepared text, with its tokens."""
        text = of_text(self.settings.text, self.text)
        return (replace(text, stages=("text", f"tokens-{self.settings.tokens}")),)


def expand(study: Study, origin: Origin = "study") -> list[LanguageRun]:
    """The runs of a study's language models, in the order of the file.

    Raises:
        StudyError: with a line for each entry that is impossible, names a text that is not defined, or defines a run
            that another entry defines already.
    """
    return [] if study.language is None else runs_of(study.language, "language", study, origin)


def runs_of(grid: Grid[Any], section: str, study: Study, origin: Origin) -> list[LanguageRun]:
    """The language models of a grid in a study's `section`.

    Raises:
        StudyError: as `expand`.
    """

    def problems(run: LanguageRun) -> Iterable[str]:
        if run.execution.nodes > 1:
            yield f".execution.nodes: {run.execution.nodes}; a language model is trained on one node"

    def new_run(
        run_id: str, settings: LanguageSettings, text: EnglishText, entry: Entry, execution: Execution
    ) -> LanguageRun:
        return LanguageRun(run_id, settings, text, execution)

    return GRID.expand(grid, section, study, origin, new_run, problems)


def has_own_initialisation(placement: Placement) -> bool:
    """Whether a placement's paper gives an initialisation."""
    is_scaled = placement.residual.initial_scale is not Residual.initial_scale
    return is_scaled or placement.embedding_scale is not None or placement.profiled


def _id_parts(settings: LanguageSettings, common: Mapping[str, Any], usual: Mapping[str, Any]) -> list[str]:
    """Placement, rate, schedule, and the settings that differ from the study's."""
    schedule = schedules.of(settings)
    told = schedule.told() | schedules.not_for(settings)
    required = {key: common.get(key) for key in ("updates", "validate_every")}
    fixed = [PLACEMENTS[settings.placement].name, f"lr{short(settings.learning_rate)}", *schedule.parts()]
    differing = unusual(settings, {key: value for key, value in usual.items() if key not in told})
    return [*fixed, *differing, *unusual(settings, required)]


def _unused(settings: LanguageSettings) -> frozenset[str]:
    """The settings that the run does not use."""
    has_common_alone = not has_own_initialisation(PLACEMENTS[settings.placement])
    return unused(settings) | ({"initialisation"} if has_common_alone else set())


GRID = GridKind(
    LanguageSettings,
    text="text",
    texts="texts",
    named=frozenset({"placement", "learning_rate", "schedule", "warmup", "seed"}),
    id_parts=_id_parts,
    unused=_unused,
)
