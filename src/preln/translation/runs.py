"""From a study to its translation runs, with ids and identities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from preln import schedules
from preln.config import Corpus, Execution, Grid, Origin, RunSettings, Study
from preln.config.translation import RunEntry
from preln.jobs.base import Job
from preln.jobs.grid import GridKind, unused, unusual
from preln.jobs.prepared import Prepared, of_corpus
from preln.placements import PLACEMENTS
from preln.records import recording
from preln.values import short

TRAINING_VERSION = 2
"""Raised when the numbers of a training can change with the code; a raise retrains every run.

It was not raised when BLEU on GPUs became that of translations in fp32: nothing had been trained on a GPU.
Nor was it when the gradients of LayerNorm and of the tokens' embeddings became exact in bf16 (`preln.fused.norm`,
`preln.fused.embedding`): docs/speed.md says what the committed runs have. Nor was it when processors that are slow in
bf16 came to multiply in fp32 (`preln.fused.products`): their sums are rounded in another way, as between processors."""

PREPARATION_VERSION = 1
"""Raised when the text or the pieces of a prepared corpus can change with the code.

It was not raised when sentences without a visible character became empty: no text of a committed study has one."""


@dataclass(frozen=True)
class Run(Job):
    """One training: its id in the study, its settings, its corpus, the figures that draw it, and its execution, which
    is not part of its identity."""

    kind: ClassVar[str] = "translation"
    records: ClassVar[tuple[str, ...]] = (recording.RUN, "curve.csv", recording.METRICS)
    id: str
    settings: RunSettings
    corpus: Corpus
    figures: tuple[int, ...]
    execution: Execution

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that can change the run's numbers, as plain JSON values."""
        return {
            "training_version": TRAINING_VERSION,
            "preparation_version": PREPARATION_VERSION,
            "corpus_settings": self.corpus.identity,
            **self.settings.model_dump(mode="json"),
        }

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        """The prepared corpus."""
        return (of_corpus(self.settings.corpus, self.corpus),)


def expand(study: Study, origin: Origin = "study") -> list[Run]:
    """The runs of a study's translation grid, in the order of the file.

    Raises:
        StudyError: as `runs_of`.
    """
    return runs_of(study.translation, "translation", study, origin) if study.translation else []


def runs_of(grid: Grid[Any], section: str, study: Study, origin: Origin) -> list[Run]:
    """The translation runs of a grid of a study, which is its `section`.

    Raises:
        StudyError: as `GridKind.expand`.
    """

    def new_run(run_id: str, settings: RunSettings, corpus: Corpus, entry: Any, execution: Execution) -> Run:
        figures = entry.figures if isinstance(entry, RunEntry) else ()
        return Run(run_id, settings, corpus, figures, execution)

    return GRID.expand(grid, section, study, origin, new_run)


def _id_parts(settings: RunSettings, common: Mapping[str, Any], usual: Mapping[str, Any]) -> list[str]:
    """Placement, optimizer, rate, schedule, and the settings that differ from the study's."""
    schedule = schedules.of(settings)
    named = schedule.told() | schedules.not_for(settings)
    rest = {key: value for key, value in usual.items() if key not in named}
    rate = f"lr{short(settings.learning_rate)}"
    fixed = [PLACEMENTS[settings.placement].name, settings.optimizer, rate]
    return [*fixed, *schedule.parts(), *unusual(settings, rest)]


GRID = GridKind(
    RunSettings,
    text="corpus",
    texts="corpora",
    named=frozenset({"placement", "optimizer", "learning_rate", "schedule", "warmup", "seed"}),
    id_parts=_id_parts,
    unused=unused,
)
