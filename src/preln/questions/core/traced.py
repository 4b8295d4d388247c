"""Traces of first updates, and measurements by seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from preln.config import LanguageSettings, RunSettings
from preln.libraries import pd
from preln.questions.core.evidence import Evidence
from preln.report.core.statistics import exponent
from preln.theory.report.traces import Number

S = TypeVar("S", RunSettings, LanguageSettings)


@dataclass(frozen=True)
class Trace(Generic[S]):
    """The first updates of a run: a row an update, and the run's settings."""

    table: pd.DataFrame
    settings: S


def traced(evidence: Evidence, kind: type[S]) -> list[Trace[S]]:
    """Every trace of more than its first state of the runs with settings of a kind, in the order of the jobs."""
    traces: list[Trace[S]] = []
    for study in evidence.studies:
        settings = {job.id: job.settings for job in study.traces.jobs}
        for run, table in study.traces.table.groupby("run", sort=False):
            of_run = settings[str(run)]
            if len(table) > 1 and isinstance(of_run, kind):
                traces.append(Trace(table.sort_values("update"), of_run))
    return traces


def by_settings(evidence: Evidence, placement: str) -> dict[RunSettings, dict[int, Trace[RunSettings]]]:
    """The traces of a placement's translation models by seed, and by all other settings."""
    traces: dict[RunSettings, dict[int, Trace[RunSettings]]] = {}
    for trace in traced(evidence, RunSettings):
        if trace.settings.placement == placement:
            alike = trace.settings.model_copy(update={"placement": "post", "seed": 0})
            traces.setdefault(alike, {})[trace.settings.seed] = trace
    return traces


def depth_exponents(
    evidence: Evidence, placement: str, number: Number, fewest: int
) -> dict[RunSettings, dict[int, float]]:
    """The exponent of the depth in a number of the traces of a placement, by seed, and by all settings but the depth;
    of seeds that have at least `fewest` depths. Encoder and decoder are as deep as each other."""
    numbers: dict[RunSettings, dict[int, dict[int, float]]] = {}
    for settings, seeds in by_settings(evidence, placement).items():
        if settings.encoder_layers != settings.decoder_layers:
            continue
        alike = settings.model_copy(update={"encoder_layers": 1, "decoder_layers": 1})
        for seed, trace in seeds.items():
            of_seed = numbers.setdefault(alike, {}).setdefault(seed, {})
            of_seed[settings.decoder_layers] = number(trace.table, trace.settings)
    exponents = {
        alike: {
            seed: exponent(sorted(depths), [depths[depth] for depth in sorted(depths)])
            for seed, depths in sorted(seeds.items())
            if len(depths) >= fewest
        }
        for alike, seeds in numbers.items()
    }
    return {alike: seeds for alike, seeds in exponents.items() if seeds}


def over(dividend: Mapping[int, float], divisor: Mapping[int, float]) -> dict[int, float]:
    """The ratio, of the seeds that both have."""
    return {seed: dividend[seed] / divisor[seed] for seed in sorted(dividend.keys() & divisor.keys())}


def less(minuend: Mapping[int, float], subtrahend: Mapping[int, float]) -> dict[int, float]:
    """The difference, of the seeds that both have."""
    return {seed: minuend[seed] - subtrahend[seed] for seed in sorted(minuend.keys() & subtrahend.keys())}
