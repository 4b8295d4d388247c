"""The evidence of questions: the records of one study, or of several together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from preln.config import Study, of_results
from preln.config.base import Settings
from preln.jobs.kinds import jobs_of
from preln.jobs.results import of_folder
from preln.language.report import records as language_records
from preln.libraries import pd
from preln.placements import PAPER
from preln.pretraining.report import records as pretraining_records
from preln.questions.core.series import LOSS, Sample, Series, series
from preln.report.core.entries import R, Source
from preln.theory.report import records as theory_records
from preln.theory.report import tables as theory_tables
from preln.theory.report import traces as trace_records
from preln.translation.report import records
from preln.translation.report.budgets import spent
from preln.translation.runs import Run


def whole(settings: Settings) -> dict[str, Any]:
    """All settings as a record has them, with those that it leaves out: a setting that came later, at its default."""
    return {name: getattr(settings, name) for name in type(settings).model_fields} | settings.model_dump(mode="json")


def _all(source: Source[Any, R], recorded: Recorded) -> R:
    return source.load(recorded.study, source.jobs(recorded.study), recorded.results)


@dataclass(frozen=True)
class Recorded:
    """The records of one study, each kind read when it is asked for: translation runs, pre-training runs with
    fine-tunings, language models, measurements of the theory, and traces of first updates. `results` is the folder of
    the results of all studies."""

    study: Study
    results: Path

    translation = cached_property(partial(_all, records.SOURCE))
    bert = cached_property(partial(_all, pretraining_records.SOURCE))
    language = cached_property(partial(_all, language_records.SOURCE))
    measurements = cached_property(partial(_all, theory_records.SOURCE))
    traces = cached_property(partial(_all, trace_records.SOURCE))

    @cached_property
    def theory(self) -> pd.DataFrame:
        """The table of the theory."""
        return theory_tables.theory(self.measurements)

    @cached_property
    def of_the_paper(self) -> list[dict[str, Any]]:
        """The rows of the table of the theory that are of the paper's placements and models."""
        rows = self.theory.to_dict("records")
        chosen = (row for row in rows if row["placement"] in PAPER and row["of"] != "language")
        return [{str(key): value for key, value in row.items()} for row in chosen]

    @cached_property
    def _translation_curves(self) -> dict[Any, pd.DataFrame]:
        """The curve of each translation run, in the order of its epochs, by the run's id."""
        return dict(iter(self.translation.curves.sort_values("epoch").groupby("run")))

    def translated(self, quantity: str) -> Iterator[Sample]:
        """The quantity of each translation run that is done. One that ended in its warm-up says nothing of it, and is
        left out."""
        done = self.translation.summary
        usable = done[(done["status"] == "diverged") | (done["updates"] > done["warmup"])]
        guesses = dict(zip(usable["run"], usable["constant_guess"], strict=True))
        for run in self.translation.runs:
            if run.id in guesses:
                curve = self._translation_curves.get(run.id, self.translation.curves.head(0))
                yield _of_run(run, curve, quantity, float(guesses[run.id]))

    def pretrained(self, quantity: str) -> Iterator[Sample]:
        """The last validation loss of each pre-training run, or the updates that it needs to the study's loss."""
        for run in self.bert.runs:
            if run.id not in self.bert.metrics:
                continue
            curve = self.bert.curve(run)
            if quantity == "updates_to_loss":
                loss = self.bert.loss
                value = math.nan if loss is None else pretraining_records.reached(curve, loss)
            else:
                last = curve[curve["updates"] >= run.settings.updates]
                value = float(last["valid_loss"].iloc[0]) if len(last) else math.nan
            settings = whole(run.settings)
            yield Sample(settings, settings.pop("seed"), (math.inf if math.isnan(value) else value,))

    def finetuned(self, share: float) -> Iterator[Sample]:
        """The accuracies at the grid's point that is best on dev, of the first checkpoint after this share of the
        pre-training."""
        for job in self.bert.jobs:
            updates = [rival.update for rival in self.bert.jobs if rival.run.id == job.run.id]
            first = min((update for update in updates if update >= share * max(updates)), default=None)
            best = pretraining_records.chosen(pretraining_records.scores_of(self.bert, job))
            if job.update != first or best is None:
                continue
            settings = {**whole(job.run.settings), "task": job.task_name, "updates": job.update}
            majority = self.bert.majority.get(job.task_name, math.nan)
            for seed, accuracy in pretraining_records.accuracies(self.bert, job, best.point).items():
                yield Sample(settings, seed, (accuracy,), (), majority, lower_is_better=False)


@dataclass(frozen=True)
class Evidence:
    """The records of some studies."""

    studies: tuple[Recorded, ...]
    _runs: dict[str, list[Sample]] = field(default_factory=dict, compare=False)

    @property
    def paper_settings(self) -> bool:
        """Tell whether they are of one study, at the paper's settings."""
        return len(self.studies) == 1 and self.studies[0].study.paper_settings

    def runs(self, quantity: str = LOSS) -> list[Sample]:
        """A quantity of every translation run."""
        if quantity not in self._runs:
            self._runs[quantity] = [sample for study in self.studies for sample in study.translated(quantity)]
        return self._runs[quantity]

    def translated(self, quantity: str = LOSS) -> list[Series]:
        """The translation runs by all settings but the seed."""
        return series(self.runs(quantity))

    def pretrained(self, quantity: str = LOSS) -> list[Series]:
        """The pre-training runs, likewise."""
        return series(sample for study in self.studies for sample in study.pretrained(quantity))

    def finetuned(self, share: float) -> list[Series]:
        """The fine-tunings of a checkpoint, likewise."""
        return series(sample for study in self.studies for sample in study.finetuned(share))

    def rows(self, name: str, of: str = "", placement: str = "", stack: str = "") -> list[dict[str, Any]]:
        """The rows of the tables of the theory that are of a quantity, by its id, and of the paper's placements."""
        wanted = {"id": name, "of": of, "placement": placement, "stack": stack}
        return [
            row
            for study in self.studies
            for row in study.of_the_paper
            if all(row[key] == value for key, value in wanted.items() if value)
        ]

    def unbiased(self, name: str, **where: str) -> list[dict[str, Any]]:
        """The rows of a quantity's unbiased estimate, where there are any, and otherwise those with the noise of the
        mini-batches."""
        return self.rows(f"{name}-unbiased", **where) or self.rows(name, **where)


def of_study(study: Study, results: Path) -> Evidence:
    """The records of one study; `results` is the folder of the results of all studies."""
    return Evidence((Recorded(study, results),))


def of_folders(folders: Iterable[Path]) -> Evidence:
    """The records of the studies whose results are in some folders, of which one that is not there has none."""
    existing = [folder for folder in folders if of_folder(folder).exists()]
    return Evidence(tuple(Recorded(of_results(of_folder(folder)), folder.resolve().parent) for folder in existing))


def _of_run(run: Run, curve: pd.DataFrame, quantity: str, guess: float) -> Sample:
    settings: dict[str, Any] = {**whole(run.settings), "source": run.corpus.source}
    del settings["seed"]
    is_loss = quantity == LOSS
    sums = spent(run.settings, curve["updates"].tolist()) if len(curve) == run.settings.epochs else ()
    return Sample(
        settings,
        run.settings.seed,
        tuple(curve[quantity].tolist()),
        tuple(sums),
        guess if is_loss else math.nan,
        lower_is_better=is_loss,
        epochs=run.settings.epochs,
        updates=tuple(int(update) for update in curve["updates"]),
    )


SOURCE: Source[Any, Evidence] = Source(jobs_of, lambda study, jobs, results: of_study(study, results))
"""All that a study records."""
