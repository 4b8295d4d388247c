"""The paper's question, as a study can show it: does Post-LN need the warm-up, and Pre-LN not?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from preln import schedules
from preln.config import RunSettings, Study
from preln.placements import PLACEMENTS
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel
from preln.report.core.curves import by_series
from preln.report.core.labels import counted, setting
from preln.report.core.statistics import SEEDS, has_learned, mean
from preln.translation.report.curves import COLUMNS, TITLES, looks_of, panel, progress_of
from preln.translation.report.four_curves import shown
from preln.translation.report.records import SOURCE, Records
from preln.translation.runs import Run
from preln.values import short

QUESTION = "Does Post-LN need the warm-up, and Pre-LN not?"
FAR = 0.5
"""Bits a token by which Post-LN without a warm-up ends behind Post-LN with it, where it needs the warm-up: as in C9."""
NEAR = 0.05
"""Bits a token by which Pre-LN may gain from a warm-up that it does not need: as in C19."""


@dataclass(frozen=True)
class Row:
    """One of the curves, by its placement and warm-up, and its schedule where that differs between the curves: the
    validation loss of each run that is done, by seed, in bits a token, infinite where it diverged; and the BLEU on test
    of each, in percent, 0 where it diverged. Both are of the last epoch that all curves have."""

    label: str
    settings: RunSettings
    losses: Mapping[int, float]
    bleu: tuple[float, ...]

    def __str__(self) -> str:
        losses = [loss for loss in self.losses.values() if math.isfinite(loss)]
        if not losses:
            return f"{self.label}: diverged"
        spread = "" if len(losses) < 2 else f" ({min(losses):.2f} to {max(losses):.2f})"
        diverged = len(self.losses) - len(losses)
        rest = f", {counted(str(diverged), 'seed')} diverged" if diverged else ""
        return f"{self.label}: {mean(losses):.2f} bits{spread}{rest}, BLEU {mean(self.bleu):.1f}"


@dataclass(frozen=True)
class Finding:
    """The answer of a study to the question: the curves of which a run is done, the unigram baseline in bits a token,
    None where no record has it, and the last epoch that all curves have."""

    rows: tuple[Row, ...]
    baseline: float | None
    epochs: int

    @property
    def question(self) -> str:
        """The question that the runs ask, with their conditions."""
        return f"{QUESTION} {self.conditions}"

    @property
    def conditions(self) -> str:
        """The peak rate, the seeds and the units."""
        seeds = sorted({len(row.losses) for row in self.rows})
        number = " to ".join(str(count) for count in dict.fromkeys((seeds[0], seeds[-1])))
        rate = short(self.rows[0].settings.learning_rate)
        return (
            f"Adam at a peak rate of {rate}; the validation loss of {counted(number, 'seed')} after "
            f"{counted(str(self.epochs), 'epoch')}, in bits a token, and BLEU on test."
        )

    @property
    def lines(self) -> list[str]:
        """The curves beside each other, and the unigram baseline."""
        baseline = [] if self.baseline is None else [f"unigram baseline, which knows nothing: {self.baseline:.2f} bits"]
        return [*map(str, self.rows), *baseline]

    @property
    def answer(self) -> str:
        """The answer in sentences, each as certain as its seeds."""
        return " ".join(filter(None, (self._of("post"), self._of("pre"))))

    def _learned(self, loss: float) -> bool:
        return math.isfinite(loss) and (self.baseline is None or has_learned(loss, self.baseline))

    def _of(self, placement: str) -> str:
        by_warmup = {row.settings.warmup > 1: row for row in self.rows if row.settings.placement == placement}
        name = PLACEMENTS[placement].label
        without, warmed_up = by_warmup.get(False), by_warmup.get(True)
        if without is None:
            return ""
        compared = without.losses if warmed_up is None else without.losses.keys() & warmed_up.losses.keys()
        caveat = f" ({counted(str(len(compared)), 'seed')}; {SEEDS} that agree settle it)"
        suffix = "" if len(compared) >= SEEDS else caveat
        learned = [self._learned(loss) for loss in without.losses.values()]
        if warmed_up is None:
            if all(learned):
                return f"{name} trains without a warm-up{suffix}."
            return f"{name} learns nothing without a warm-up{suffix}." if not any(learned) else f"{_unclear(name)}."
        if compared and not any(self._learned(row.losses[seed]) for row in (without, warmed_up) for seed in compared):
            return f"{name} learns nothing here, with the warm-up or without it{suffix}."
        gains = [loss - warmed_up.losses[seed] for seed, loss in without.losses.items() if seed in warmed_up.losses]
        if gains and all(gain >= FAR for gain in gains):
            what = "learns nothing" if not any(learned) else f"ends {_beside(mean(gains))}"
            return f"{name} needs the warm-up here: without it, it {what}{suffix}."
        if gains and all(gain <= NEAR for gain in gains):
            return f"{name} does not need the warm-up here: without it, it ends {_beside(mean(gains))}{suffix}."
        if gains and all(learned) and all(gain < FAR for gain in gains):
            return f"{name} trains without the warm-up here, and ends {_beside(mean(gains))}{suffix}."
        return f"{_unclear(name)}."


def _beside(gain: float) -> str:
    """How far a loss without a warm-up is from that with it, in words."""
    distance = f"{abs(gain):.2f} bits" if math.isfinite(gain) else "far"
    return "at the same loss" if distance == "0.00 bits" else f"{distance} {'behind' if gain > 0 else 'ahead'}"


def _unclear(name: str) -> str:
    return f"Whether {name} needs the warm-up depends on the seed here"


def find(records: Records) -> Finding | None:
    """The finding of a study, from the records of the runs of `shown`; None before one of Post-LN without a warm-up and
    one of another curve are done."""
    done = records.summary.set_index("run")
    curves = by_series(run for run in records.runs if run.id in done.index)
    names = _names(records.runs)
    epochs = min((settings.epochs for settings in curves), default=0)
    points = records.curves[records.curves["epoch"] <= epochs].groupby("run")[["valid_loss", "test_bleu"]].last()
    rows = []
    for settings, curve in curves.items():
        results = done.loc[[run.id for run in curve]]
        finished = results["status"] == "finished"
        ends = points.reindex(results.index).astype(float)
        losses, bleu = ends["valid_loss"].where(finished, math.inf), ends["test_bleu"].where(finished, 0.0)
        rows.append(Row(names[settings], settings, dict(zip(results["seed"], losses, strict=True)), tuple(bleu)))
    if len(rows) < 2 or not any(row.settings.placement == "post" and row.settings.warmup <= 1 for row in rows):
        return None
    baselines = done["constant_guess"].dropna().astype(float)
    return Finding(tuple(rows), float(baselines.max()) if len(baselines) else None, epochs)


def _names(runs: Sequence[Run]) -> dict[RunSettings, str]:
    """The name of each curve: its placement and warm-up, and its schedule where that is not Post-LN's."""
    names = {}
    models = list(by_series(runs))
    for model in models:
        names[model] = f"{PLACEMENTS[model.placement].label}, {setting('warmup', model.warmup)}"
        if model.schedule != models[0].schedule:
            names[model] += f", {schedules.of(model).label()}"
    return names


def _drawn(study: Study, records: Records) -> tuple[list[list[Panel]], str]:
    """The loss and BLEU beside each other, and how many runs are done."""
    names, looks = _names(records.runs), looks_of(study)
    grid = [[panel(TITLES[quantity], quantity, records, records.runs, names, looks) for quantity in COLUMNS]]
    return grid, progress_of(study, records)


FIGURE = curve_figure.figure(
    _drawn,
    name="finding",
    title=QUESTION,
    caption="Post-LN and Pre-LN with Adam at one peak rate, each without a warm-up and with the longest one that the "
    "study has: the validation loss, and BLEU on test, by update. Lines are means over the seeds, with a band from the "
    "lowest to the highest. Above the dotted line, the unigram baseline, a model has learned nothing.",
    source=SOURCE,
    of=shown,
)
