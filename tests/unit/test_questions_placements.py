"""Claims of other papers: each rule holds of numbers that agree with its paper, and fails on numbers that do not."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.config import load
from preln.questions import QUESTIONS
from preln.questions.base import Verdict
from preln.questions.core.evidence import Evidence, Recorded
from preln.theory import trace_jobs
from preln.theory.measurements import COLUMNS, Measurement
from preln.theory.report import records as theory_records
from preln.theory.report import traces
from preln.theory.trace_jobs import TraceJob


def with_settings(job: TraceJob, settings: Any, **changes: Any) -> TraceJob:
    return replace(job, run=replace(job.run, settings=settings, **changes))


SEEDS = (1, 2, 3)
LAYERS, DEPTH = 12, 12
STUDY = load(Path("config/placements.yaml"))
TRACES = [
    # DeepNorm's theorem is about Xavier's initialisation.
    with_settings(job, job.settings.model_copy(update={"initialisation": "xavier"}))
    for job in trace_jobs.expand(STUDY)
]
CLAIMS = {question.label: question for question in QUESTIONS.values() if question.kind == "others"}


@dataclass(frozen=True)
class World:
    """Numbers of placements, each of a seed's factor that is near 1.

    Attributes:
        growth_of_sums: by placement, how the last sums grow over a trace.
        change: the largest change of the function by placement and depth.
        square: E||x||^2 / d behind the last layer of the proofs' model, by placement and stack.
        layers: the gradient of a decoder layer of the translation model, by placement and layer.
        growth: of the gradient a layer in the decoder of the proofs' model, by placement.
    """

    growth_of_sums: dict[str, float]
    change: Callable[[str, int], float]
    square: Callable[[str, str], float]
    layers: Callable[[str, int], float]
    growth: dict[str, float]

    def verdict(self, claim: str) -> Verdict:
        return CLAIMS[claim].ask(self.records()).verdict

    def records(self, seeds: Collection[int] = SEEDS, jobs: Sequence[TraceJob] = TRACES) -> Evidence:
        measured = pd.DataFrame([vars(row) for seed in seeds for row in self._measured(seed)], columns=COLUMNS)
        names = traces.names(jobs)
        table = pd.concat([
            self._trace(job).assign(run=job.id, curve=names[job.id], seed=job.settings.seed)
            for job in jobs
            if job.settings.seed in seeds
        ])  # fmt: skip
        recorded = Recorded(STUDY, Path())
        theory = theory_records.Records(measured.assign(part="exact-layers"), "", (), ())
        vars(recorded).update(measurements=theory, traces=traces.Records(tuple(jobs), table, "", ()))
        return Evidence((recorded,))

    def _trace(self, job: TraceJob) -> pd.DataFrame:
        settings = job.settings
        last = traces.of_layer("input_norm", settings, last=True)
        factor = near_one(settings.seed)
        grown = self.growth_of_sums.get(settings.placement, 1.0) * factor
        change = self.change(settings.placement, settings.decoder_layers) * factor
        rows = [
            {"update": 0, last: 1.0},
            {"update": 1, "function_change": change, last: 1.1},
            {"update": 2, "function_change": change / 2, last: grown},
        ]
        return pd.DataFrame(rows)

    def _measured(self, seed: int) -> list[Measurement]:
        base = Measurement("exact", "", "initial", "post", "decoder", DEPTH, 64, LAYERS, "", seed, "", math.nan)
        factor = near_one(seed)
        rows = []
        for placement in ("post", "pre", "lns", "mix-ln", "resi-dual"):
            of_placement = replace(base, placement=placement)
            for stack in ("encoder", "decoder"):
                square = self.square(placement, stack) * factor
                rows.append(replace(of_placement, stack=stack, quantity="square_norm", value=square))
            for layer in range(1, LAYERS + 1):
                at = replace(of_placement, layer=layer, matrix="W2")
                gradient = self.growth.get(placement, 1.0) ** layer * factor
                rows.append(replace(at, quantity="gradient_norm", value=gradient))
                # At the other depths, everything contradicts the claims.
                for depth, value in ((DEPTH, self.layers(placement, layer)), (6, 1.0 + layer), (18, 1.0 + layer)):
                    translation = replace(at, model="translation", depth=depth, quantity="expected_gradient_norm")
                    rows.append(replace(translation, value=value if placement == "mix-ln" or depth == DEPTH else 1.0))
        return rows


def near_one(seed: int) -> float:
    return 1 + seed / 1000


PAPERS = World(
    growth_of_sums={"pre": 4.0, "peri": 1.2},
    change=lambda placement, depth: depth**0.8 if placement == "post" else 0.1 * depth**0.05,
    square=lambda placement, stack: 5.0 if placement == "lns" else 13.0,
    layers=lambda placement, layer: {"post": 1.4**layer, "pre": 0.8**layer}.get(placement, 1.0 + layer / 100),
    growth={"post": 1.4, "resi-dual": 1.0},
)
AGAINST: dict[str, list[World]] = {
    "P1": [
        replace(PAPERS, growth_of_sums={"pre": 9.0, "peri": 2.5}),
        replace(PAPERS, growth_of_sums={"pre": 1.5, "peri": 1.2}),
    ],
    "P2": [
        replace(PAPERS, change=lambda placement, depth: depth**0.8),
        replace(PAPERS, change=lambda placement, depth: depth**0.1),
        replace(PAPERS, change=lambda placement, depth: depth ** (0.0 if placement == "post" else -0.5)),
    ],
    "P3": [
        replace(PAPERS, square=lambda placement, stack: 10.0 if placement == "lns" else 13.0),
        replace(PAPERS, square=lambda placement, stack: 10.0 if (placement, stack) == ("lns", "decoder") else 13.0),
    ],
    "P4": [
        replace(PAPERS, layers=lambda placement, layer: {"mix-ln": 1.2**layer}.get(placement, 1.1**layer)),
        replace(PAPERS, layers=lambda placement, layer: {"mix-ln": 1.2, "post": 1.4}.get(placement, 1.1) ** layer),
    ],
    "P5": [
        replace(PAPERS, growth={"post": 1.4, "resi-dual": 1.2}),
        replace(PAPERS, growth={"post": 1.05, "resi-dual": 1.0}),
    ],
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_numbers_as_the_paper_has_them_reproduce_its_claim(claim: str) -> None:
    assert PAPERS.verdict(claim) is Verdict.HOLDS


@pytest.mark.parametrize(("claim", "world"), [(claim, world) for claim in CLAIMS for world in AGAINST[claim]])
def test_numbers_that_contradict_a_claim_do_not_reproduce_it(claim: str, world: World) -> None:
    assert world.verdict(claim) in (Verdict.FAILS, Verdict.IN_PART)


def test_traces_at_two_rates_are_judged_apart() -> None:
    faster = []
    for job in TRACES:
        settings = job.settings.model_copy(update={"learning_rate": 2 * job.settings.learning_rate})
        faster.append(with_settings(job, settings, id=f"{job.id}-faster"))
    at_one = CLAIMS["P2"].ask(PAPERS.records()).findings
    assert len(at_one) == 2
    assert CLAIMS["P2"].ask(PAPERS.records(jobs=[*TRACES, *faster])).findings == (*at_one, *at_one)


def test_an_initialisation_that_the_theorem_is_not_about_decides_nothing() -> None:
    assert {job.settings.initialisation for job in trace_jobs.expand(STUDY)} == {"fairseq"}
    assert CLAIMS["P2"].ask(PAPERS.records(jobs=trace_jobs.expand(STUDY))).verdict is Verdict.NOT_TESTED
