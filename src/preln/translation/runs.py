"""From a study to its translation runs, with ids and identities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from preln.config import Corpus, Execution, Origin, RunSettings, Study
from preln.config.translation import RunEntry
from preln.jobs.base import Job, Prepared, of_corpus
from preln.jobs.grid import GridKind, id_of_schedule, unused
from preln.records import recording

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
        return {"training_version": TRAINING_VERSION, **self.text_identity, **self.settings.model_dump(mode="json")}

    @property
    def text_identity(self) -> dict[str, Any]:
        """The part of it that is of the text."""
        return {"preparation_version": PREPARATION_VERSION, "corpus_settings": self.corpus.identity}

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        return (of_corpus(self.settings.corpus, self.corpus),)


GRID = GridKind(
    RunSettings,
    text="corpus",
    texts="corpora",
    id_of_schedule=id_of_schedule,
    leading=("optimizer",),
    # An entry of first updates is in no figure.
    new_run=lambda run_id, settings, corpus, entry, execution: Run(
        run_id, settings, corpus, entry.figures if isinstance(entry, RunEntry) else (), execution
    ),
    unused=unused,
)


def expand(study: Study, origin: Origin = "study") -> list[Run]:
    """The runs of a study's translation grid, as `GridKind.expand`."""
    return GRID.expand(study.translation, "translation", study, origin)
