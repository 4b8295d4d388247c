"""What a study's records say to the tests of the claims."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from preln.config import Study
from preln.config.base import Settings
from preln.jobs.runs import Run
from preln.libraries import pd
from preln.placements import PAPER, PLACEMENTS
from preln.pretraining import runs as pretraining
from preln.pretraining.report import records as pretraining_records
from preln.report.claims import samples
from preln.report.claims.rules import Finding
from preln.report.claims.samples import Sample
from preln.report.core.entries import Source
from preln.report.core.statistics import Estimate
from preln.report.reference.claims import OfRuns, OfTheory
from preln.theory.report import records as theory_records
from preln.theory.report import tables as theory_tables
from preln.theory.report import traces
from preln.translation.report import records
from preln.translation.report.budgets import spent

_OF_THE_PAPER = re.compile(rf"({'|'.join(PLACEMENTS[name].label for name in PAPER)})[ ,]")
"""How the models of the table of the theory begin that are of the paper's placements."""


def whole(settings: Settings) -> dict[str, Any]:
    """All settings as a record has them, with those that it leaves out: a setting that came later, at its default."""
    return {name: getattr(settings, name) for name in type(settings).model_fields} | settings.model_dump(mode="json")


@dataclass(frozen=True)
class Evidence:
    """All that a study has recorded.

    Attributes:
        curves: a row for each translation run and epoch.
        runs: the translation runs, of which those in `done` are.
        done: ids of the translation runs that are done, but for those that ended before their warm-up did, which say
            nothing of it.
        guesses: the loss of a constant guess by the translation runs' ids, where it is known.
        bert: the records of BERT.
        theory: the table of the theory.
    """

    curves: pd.DataFrame
    runs: Sequence[Run]
    done: frozenset[str]
    guesses: Mapping[str, float]
    bert: pretraining_records.Records
    theory: pd.DataFrame

    def findings(self, test: OfRuns | OfTheory) -> list[Finding]:
        """What the records say to a test; nothing where they have no runs of it."""
        if isinstance(test, OfTheory):
            return self._of_theory(test)
        return samples.findings(test, cache(partial(self._samples, test)))

    def _of_theory(self, test: OfTheory) -> list[Finding]:
        table = self.theory
        found = []
        rows = [
            row
            for row in table[table["statement"] == test.statement].to_dict("records")
            if test.quantity in row["quantity"]
            and _OF_THE_PAPER.match(row["model"])
            and all(word in row["model"] for word in test.model.split(", "))
        ]
        preferred = [row for row in rows if test.rather and test.rather in row["quantity"]]
        for row in preferred or rows:
            if test.margin is None:
                low, high = test.bounds
            else:
                low, high = row["predicted_low"] - test.margin, row["predicted_high"] + test.margin
            measured = Estimate(row["measured"], row["low"], row["high"], row["seeds"])
            found.append(Finding(f"{row['quantity']}, {row['model']}", measured, low, high))
        return found

    def _samples(self, test: OfRuns, at: float) -> list[Sample]:
        match test.of:
            case "translation":
                return [self._of_run(run, test.quantity, at) for run in self.runs if run.id in self.done]
            case "pretraining":
                return [
                    self._of_pretraining(run, test.quantity, at)
                    for run in self.bert.runs
                    if run.id in self.bert.metrics
                ]
            case "finetuning":
                return self._of_finetunings(at)

    @cached_property
    def _curve_by_run(self) -> Mapping[Any, pd.DataFrame]:
        """The rows of each translation run that has any, in the order of their epochs."""
        return dict(iter(self.curves.sort_values("epoch").groupby("run")))

    def _of_run(self, run: Run, quantity: str, at: float) -> Sample:
        settings = {**whole(run.settings), "source": run.corpus.source}
        del settings["seed"]
        curve = self._curve_by_run.get(run.id, self.curves.head(0))
        sums = spent(run.settings, curve["updates"].tolist()) if len(curve) == run.settings.epochs else ()
        points = tuple(zip(sums, curve[quantity].tolist(), strict=True)) if sums else ()
        constant = self.guesses.get(run.id, math.nan) if quantity == "valid_loss" else math.nan
        epoch = max(1, round(at * run.settings.epochs))
        value = curve.loc[curve["epoch"] == epoch, quantity]
        if len(value):
            return Sample(settings, run.settings.seed, float(value.iloc[0]), constant, points)
        # A run that diverged has no more epochs.
        return Sample(settings, run.settings.seed, samples.worst(quantity), constant)

    def _of_pretraining(self, run: pretraining.PretrainingRun, quantity: str, at: float) -> Sample:
        settings = whole(run.settings)
        del settings["seed"]
        curve = self.bert.curves[self.bert.curves["run"] == run.id]
        if quantity == "updates_to_loss":
            updates = math.nan if self.bert.loss is None else pretraining_records.reached(curve, self.bert.loss)
            return Sample(settings, run.settings.seed, math.inf if math.isnan(updates) else updates)
        upto = curve[curve["updates"] >= at * run.settings.updates]
        return Sample(settings, run.settings.seed, float(upto["valid_loss"].iloc[0]) if len(upto) else math.inf)

    def _of_finetunings(self, at: float) -> list[Sample]:
        """The accuracies at the grid's point that is best on dev, of the first checkpoint that is so far."""
        found = []
        for job in self.bert.jobs:
            far = [other.update for other in self.bert.jobs if other.run.id == job.run.id]
            first = min((update for update in far if update >= at * max(far)), default=None)
            best = pretraining_records.chosen(pretraining_records.scores_of(self.bert, job))
            if job.update != first or best is None:
                continue
            by_seed = pretraining_records.accuracies(self.bert, job, best.point)
            settings = {**whole(job.run.settings), "task": job.task_name, "updates": job.update}
            majority = self.bert.majority.get(job.task_name, math.nan)
            found += [Sample(settings, seed, accuracy, majority) for seed, accuracy in by_seed.items()]
        return found


def gather(study: Study, results: Path) -> Evidence:
    """Read all that a study has recorded; `results` is the folder of the results of all studies.

    Raises:
        RecordError: if a record cannot be used.
    """
    translation = records.load(study, records.SOURCE.jobs(study), results)
    done = translation.summary
    warmed_up = (done["status"] == "diverged") | (done["updates"] > done["warmup"])
    return Evidence(
        translation.curves,
        translation.runs,
        frozenset(done.loc[warmed_up, "run"]),
        {run: float(guess) for run, guess in zip(done["run"], done["constant_guess"], strict=True)},
        pretraining_records.load(study, pretraining_records.SOURCE.jobs(study), results),
        theory_tables.theory(theory_records.load(study, theory_records.SOURCE.jobs(study), results)),
    )


_SOURCES: tuple[Source[Any, Any], ...] = (
    records.SOURCE,
    pretraining_records.SOURCE,
    theory_records.SOURCE,
    traces.SOURCE,
)


def _jobs(study: Study) -> list[Any]:
    return [job for source in _SOURCES for job in source.jobs(study)]


SOURCE = Source(_jobs, lambda study, jobs, results: gather(study, results))
"""All that a study records."""
