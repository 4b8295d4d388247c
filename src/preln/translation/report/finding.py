"""The paper's question, as a study can show it: does Post-LN need the warm-up, and Pre-LN not?

The runs that show it are those of one model, text and peak rate with Adam, which differ in placement and warm-up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from preln.config import RunSettings, Study
from preln.placements import PLACEMENTS
from preln.report.core import curve_figure
from preln.report.core.curve_figure import Panel, looks, progress
from preln.report.core.curves import Curves, by_series
from preln.report.core.figure import Figure
from preln.report.core.labels import counted, schedule, warmup
from preln.report.core.statistics import mean
from preln.schedules import SETTINGS
from preln.translation.report.curves import COLUMNS, TITLES, panel, trained
from preln.translation.report.records import SOURCE, Records
from preln.translation.runs import Run
from preln.values import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

QUESTION = "Does Post-LN need the warm-up, and Pre-LN not?"
FAR = 0.5
"""Bits a token by which Post-LN without a warm-up ends behind Post-LN with it, where it needs the warm-up: as in C9."""
NEAR = 0.05
"""Bits a token by which Pre-LN may gain from a warm-up that it does not need: as in C19."""
LEARNED = 0.3
"""Bits a token by which a run that has learned something is below the unigram baseline: as in C11 and C12."""
ENOUGH = 3
"""Seeds that settle a comparison."""

_FREE = {"placement", "warmup", "epochs", "seed", "schedule", *SETTINGS}


def shown(study: Study, runs: Sequence[Run]) -> list[Run]:
    """The runs of up to four curves: Post-LN and Pre-LN, each without a warm-up and with the longest one.

    Of several models, texts and rates, it takes the one with the most of the four curves, then the most seeds, then the
    first in the study. With and without a warm-up, a placement has one schedule; Pre-LN has Post-LN's where it can. No
    curve is shown unless Post-LN without a warm-up is one of at least two.
    """
    models: dict[tuple[Any, ...], list[list[Run]]] = {}
    for curve in by_series(run for run in runs if run.settings.optimizer == "adam").values():
        settings = curve[0].settings
        model = tuple(repr(value) for key, value in settings.model_dump().items() if key not in _FREE)
        models.setdefault(model, []).append(curve)
    return [run for curve in max(map(_four, models.values()), key=_extent, default=[]) for run in curve]


def _extent(curves: Sequence[Sequence[Run]]) -> tuple[int, int]:
    return len(curves), sum(map(len, curves))


def _four(curves: Sequence[list[Run]]) -> list[list[Run]]:
    """Of the curves of one model, those of each placement without a warm-up and with the longest one."""
    post = _pair([curve for curve in curves if curve[0].settings.placement == "post"])
    if not post:
        return []
    schedule = post[0][0].settings.schedule
    pre = [curve for curve in curves if curve[0].settings.placement == "pre"]
    chosen = [*post, *(_pair([one for one in pre if one[0].settings.schedule == schedule]) or _pair(pre))]
    return chosen if len(chosen) > 1 else []


def _pair(curves: Sequence[list[Run]]) -> list[list[Run]]:
    """Of a placement's curves, that without a warm-up and that with the longest one of the same schedule."""
    pairs = []
    for without in curves:
        settings = without[0].settings
        if settings.warmup <= 1:
            alike = [curve for curve in curves if curve[0].settings.schedule == settings.schedule and curve != without]
            longest = max(alike, key=lambda curve: curve[0].settings.warmup, default=without)
            pairs.append([without, longest] if longest[0].settings.warmup > 1 else [without])
    return max(pairs, key=_extent, default=[])


@dataclass(frozen=True)
class Row:
    """One of the curves.

    Attributes:
        label: its placement and warm-up, and its schedule where that differs between the curves.
        settings: of its runs, but for the seed.
        losses: by seed, the last validation loss of each run that is done, bits a token; infinite where it diverged.
        bleu: the last BLEU on test of each, in percent.
    """

    label: str
    settings: RunSettings
    losses: Mapping[int, float]
    bleu: tuple[float, ...]

    def __str__(self) -> str:
        losses = self.losses.values()
        spread = "" if len(losses) < 2 else f" ({min(losses):.2f} to {max(losses):.2f})"
        bleu = f", BLEU {mean(self.bleu):.1f}" if self.bleu else ""
        return f"{self.label}: {mean(losses):.2f} bits{spread}{bleu}"


@dataclass(frozen=True)
class Finding:
    """What a study shows of the question.

    Attributes:
        rows: the curves of which a run is done.
        baseline: the unigram baseline in bits a token; None where no record has it.
    """

    rows: tuple[Row, ...]
    baseline: float | None

    @property
    def question(self) -> str:
        """What the runs ask, with their peak rate and seeds."""
        seeds = sorted({len(row.losses) for row in self.rows})
        number = " to ".join(str(count) for count in dict.fromkeys((seeds[0], seeds[-1])))
        rate = short(self.rows[0].settings.learning_rate)
        return (
            f"{QUESTION} Adam at a peak rate of {rate}; the last validation loss of {counted(number, 'seed')}, in bits "
            "a token, and BLEU on test."
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

    def _of(self, placement: str) -> str:
        by_warmup = {row.settings.warmup > 1: row for row in self.rows if row.settings.placement == placement}
        name = PLACEMENTS[placement].label
        without, warmed_up = by_warmup.get(False), by_warmup.get(True)
        if without is None:
            return ""
        compared = without.losses if warmed_up is None else without.losses.keys() & warmed_up.losses.keys()
        sure = "" if len(compared) >= ENOUGH else f" ({ENOUGH} seeds would settle it)"
        learned = [self.baseline is None or loss < self.baseline - LEARNED for loss in without.losses.values()]
        if warmed_up is None:
            if all(learned):
                return f"{name} trains without a warm-up{sure}."
            return f"{name} learns nothing without a warm-up{sure}." if not any(learned) else f"{_unclear(name)}."
        gains = [loss - warmed_up.losses[seed] for seed, loss in without.losses.items() if seed in warmed_up.losses]
        if gains and all(gain >= FAR for gain in gains):
            what = "learns nothing" if not any(learned) else f"ends {mean(gains):.2f} bits behind"
            return f"{name} needs the warm-up here: without it, it {what}{sure}."
        if gains and all(gain <= NEAR for gain in gains):
            return f"{name} does not need the warm-up here: without it, it ends {_beside(mean(gains))}{sure}."
        if gains and all(learned) and all(gain < FAR for gain in gains):
            return f"{name} trains without the warm-up here, and ends {_beside(mean(gains))}{sure}."
        return f"{_unclear(name)}."


def _beside(gain: float) -> str:
    """How far a loss without a warm-up is from that with it, in words."""
    distance = f"{abs(gain):.2f}"
    return "at the same loss" if distance == "0.00" else f"{distance} bits {'behind' if gain > 0 else 'ahead'}"


def _unclear(name: str) -> str:
    return f"Whether {name} needs the warm-up depends on the seed here"


def find(records: Records) -> Finding | None:
    """What a study shows, from the records of the runs of `shown`; None before one of Post-LN without a warm-up and one
    of another curve are done."""
    done = records.summary.set_index("run")
    curves = by_series(run for run in records.runs if run.id in done.index)
    names = _names(records.runs)
    rows = []
    for settings, curve in curves.items():
        results = done.loc[[run.id for run in curve]]
        losses = results["final_valid_loss"].astype(float).fillna(math.inf)
        bleu = results["final_test_bleu"].dropna().astype(float)
        rows.append(Row(names[settings], settings, dict(zip(results["seed"], losses, strict=True)), tuple(bleu)))
    if len(rows) < 2 or not any(row.settings.placement == "post" and row.settings.warmup <= 1 for row in rows):
        return None
    baselines = done["constant_guess"].dropna().astype(float)
    return Finding(tuple(rows), float(baselines.max()) if len(baselines) else None)


def _names(runs: Sequence[Run]) -> dict[RunSettings, str]:
    """The name of each curve: its placement and warm-up, and its schedule where that is not Post-LN's."""
    names = {}
    settings = list(by_series(runs))
    for one in settings:
        names[one] = f"{PLACEMENTS[one.placement].label}, {warmup(one)}"
        if one.schedule != settings[0].schedule:
            names[one] += f", {schedule(one)}"
    return names


def panels(records: Records) -> list[list[Panel]]:
    """The loss and BLEU beside each other."""
    names = _names(records.runs)
    look = looks(list(names))
    return [[panel(TITLES[quantity], quantity, records, records.runs, names, look) for quantity in COLUMNS]]


def compose(study: Study, records: Records) -> Drawing:
    """The figure of the runs that show the finding."""
    corpora = [run.settings.corpus for run in records.runs]
    return curve_figure.compose(panels(records), progress(study.study, corpora, trained(records, records.runs)))


def curves(study: Study, records: Records) -> list[Curves]:
    """The figure as numbers."""
    return curve_figure.curves(panels(records))


FIGURE = Figure(
    name="finding",
    title=QUESTION,
    caption="Post-LN and Pre-LN with Adam at one peak rate, each without a warm-up and with the longest one that the "
    "study has: the validation loss, and BLEU on test, by update. Lines are means over the seeds, with a band from the "
    "lowest to the highest. Above the dotted line, the unigram baseline, a model has learned nothing.",
    source=SOURCE,
    of=shown,
    compose=compose,
    curves=curves,
)
