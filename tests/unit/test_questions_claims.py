"""The paper's claims: each rule lets the paper's own numbers pass, and not numbers that contradict it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from preln.config import Study, load
from preln.pretraining import runs as pretraining
from preln.pretraining.report.records import Records
from preln.pretraining.runs import PretrainingRun
from preln.questions import CLAIMS as ALL_CLAIMS
from preln.questions.base import Outcome, Verdict
from preln.questions.core import ledger
from preln.questions.core.evidence import Evidence, Recorded
from preln.theory.report.tables import COLUMNS
from preln.translation.report import records as translation_records
from preln.translation.runs import Run, expand

pytestmark = pytest.mark.numbers

STUDY = load(Path("config/paper.yaml"))
RUNS = [*expand(STUDY), *expand(load(Path("config/wmt14.yaml")))]
BERTS = pretraining.expand(STUDY)
JOBS = pretraining.finetunings(STUDY)
GUESS = 9.9
CLAIMS = {claim.label: claim for claim in ALL_CLAIMS}


@dataclass(frozen=True)
class World:
    """Numbers for every run of the paper's studies, as functions of the run."""

    loss: Callable[[Run, int], float]
    bleu: Callable[[Run], float]
    bert: Callable[[PretrainingRun, int], float]
    accuracy: Callable[[PretrainingRun, int], float]
    theory: list[dict[str, Any]]

    def verdict(self, claim: str) -> tuple[str, str]:
        """The verdict on a claim's direction, and that on its value."""
        entry = ledger.entry(CLAIMS[claim], self.evidence())
        return entry.verdict, entry.value

    def evidence(self, study: Study = STUDY, runs: list[Run] = RUNS) -> Evidence:
        epochs = [
            (run.id, epoch, 1100 * epoch, self.loss(run, epoch), self.bleu(run))
            for run in runs
            for epoch in range(1, run.settings.epochs + 1)
        ]
        updates = range(10_000, 1_000_001, 10_000)
        validations = [(run.id, update, self.bert(run, update)) for run in BERTS for update in updates]
        scores = [
            {
                **job.points[0].model_dump(),
                **{"finetuning": job.id, "run": job.run.id, "update": job.update, "task": job.task_name},
                **{"seed": seed, "accuracy": self.accuracy(job.run, job.update) + 0.001 * seed, "f1": 0.5},
            }
            for job in JOBS
            for seed in range(1, job.seeds + 1)
        ]
        bert = Records(
            runs=tuple(BERTS),
            curves=pd.DataFrame(validations, columns=["run", "updates", "valid_loss"]),
            metrics={run.id: {} for run in BERTS},
            scores=pd.DataFrame(scores),
            majority=dict.fromkeys(("mrpc", "rte"), 0.6),
            jobs=tuple(JOBS),
            done=frozenset(job.id for job in JOBS),
            loss=1.69,
            progress="",
            origin=(),
        )
        theory = pd.DataFrame(self.theory, columns=COLUMNS)
        summary = [(run.id, "finished", 1e6, run.settings.warmup, GUESS) for run in runs]
        trained = translation_records.Records(
            tuple(runs),
            pd.DataFrame(epochs, columns=["run", "epoch", "updates", "valid_loss", "test_bleu"]),
            pd.DataFrame(summary, columns=["run", "status", "updates", "warmup", "constant_guess"]),
        )
        recorded = Recorded(study, Path())
        vars(recorded).update(translation=trained, bert=bert, theory=theory)
        return Evidence((recorded,))


def loss(run: Run, epoch: int) -> float:
    """Validation losses that end where the paper's curves do, or where its words put them."""
    settings = run.settings
    match settings.placement, settings.optimizer, settings.schedule:
        case "pre", _, _:
            last = 4.0
        case "post", "sgd", _:
            last = 6.0 if settings.warmup > 1 else 7.5
        case "post", "radam", _:
            last = 4.1
        case "post", "adam", "constant":
            last = 4.3
        case _:
            # Without warm-up it is worse than its small sum of rates explains.
            last = {0: 7.5, 500: 4.2 if settings.learning_rate == 5e-4 else 7.0, 4000: 4.0}[settings.warmup]
    # Pre-LN is at its end after nine epochs, the others at their last one, which they are near before.
    share = epoch / (9 if settings.placement == "pre" else settings.epochs)
    return last + 2 * max(0.0, 1 - share) ** 2


def bleu(run: Run) -> float:
    settings = run.settings
    if settings.optimizer == "sgd":
        return 3.0 if settings.warmup > 1 else 0.2
    if settings.placement == "post" and settings.optimizer == "adam" and settings.schedule == "inverse-sqrt":
        if settings.anchor == "hold" and settings.warmup < 4000:
            # In the other reading of "no warm-up" it is not the paper's.
            return 1.0
        return {0: 8.45, 500: 31.16 if settings.learning_rate == 5e-4 else 2.77, 4000: 33.5}[settings.warmup]
    return 33.4


def bert(run: PretrainingRun, update: int) -> float:
    if run.settings.placement == "post" and run.settings.learning_rate > 1e-4:
        return 6.0
    target = 500_000 if run.settings.placement == "pre" else 700_000
    return 1.69 + 1e-6 * (target - update)


def accuracy(run: PretrainingRun, update: int) -> float:
    return 0.8 + (0.02 if run.settings.placement == "pre" else 0.0)


def row(
    name: str, placement: str, value: float, low: float = math.nan, high: float = math.nan, of: str = "exact"
) -> dict[str, Any]:
    """A measurement of ten seeds."""
    values = tuple(value + 0.0001 * seed for seed in range(10))
    numbers = value, value - 0.001, value + 0.001, 10
    model = name, placement, "decoder", of, "", "all layers", placement
    return dict(zip(COLUMNS, (*model, *numbers, low, high, "", values), strict=True))


THEORY = [
    row("relu-square-norm", "post", 0.5, 0.5, 0.5),
    row("square-norm", "pre", 12.0, 7.0, 19.0),
    row("jacobian-norm", "post", 1.0, 1.0, 1.0),
    row("depth-exponent", "pre", -0.5, -0.5, -0.5),
    row("width-exponent", "pre", 0.5, -math.inf, 1.1),
    row("width-exponent-unit", "pre", 1.1, -math.inf, 1.1),
    row("excess-share", "pre", 0.1, -math.inf, 0.125, of="translation"),
    row("growth", "post", 1.225, 1.225, 1.225),
    row("growth", "pre", 0.88, 1.0, 1.0),
    row("growth", "post", 1.66, 1.03, 1.03, of="translation"),
    row("growth", "pre", 0.88, 1.0, 1.0, of="translation"),
    row("collapse", "post", 0.009, of="translation"),
    row("last-depth-exponent", "post", 0.0, 0.0, 0.0, of="translation"),
    row("last-depth-exponent", "pre", -0.5, -0.5, -0.5, of="translation"),
    row("last-depth-mean", "post", 1.6, 1.6, 1.6, of="translation"),
    row("over-the-papers", "post", 1.0, 1.0, 1.0, of="translation"),
]
PAPER = World(loss, bleu, bert, accuracy, THEORY)
TESTED = [claim for claim in CLAIMS if claim != "C19"]
OF_SEVERAL_SEEDS = {*(f"C{number}" for number in range(1, 9)), "C18"}
"""The claims of the theory, and of the tasks, which have five seeds; the paper's runs have one."""


@pytest.mark.parametrize("claim", TESTED)
def test_the_papers_own_numbers_agree_with_it(claim: str) -> None:
    direction, value = PAPER.verdict(claim)
    assert direction == (Verdict.HOLDS if claim in OF_SEVERAL_SEEDS else Verdict.POINTS)
    assert value == ("agrees" if CLAIMS[claim].values else ledger.NOT_COMPARED)


def with_theory(value: float, *names: str) -> World:
    """A world in which every measurement of some quantities is another."""
    values = tuple(value + 0.0001 * seed for seed in range(10))
    return replace(PAPER, theory=[row | {"values": values} if row["id"] in names else row for row in THEORY])


def short(run: Run, rate: float) -> bool:
    """True of a run that has a short warm-up, and this rate."""
    return run.settings.warmup == 500 and run.settings.learning_rate == rate


def no_warmup_needed(run: Run, epoch: int) -> float:
    """As in the paper, but a run of Post-LN needs no warm-up, of whatever length, with Adam or SGD."""
    return 4.0 if run.settings.schedule == "inverse-sqrt" else loss(run, epoch)


CONTRADICTIONS: dict[str, World] = {
    "C1": with_theory(0.6, "relu-square-norm"),
    "C2": with_theory(25.0, "square-norm"),
    "C3": with_theory(1.2, "jacobian-norm"),
    "C4": with_theory(2.2, "depth-exponent", "width-exponent", "width-exponent-unit"),
    "C5": with_theory(0.3, "excess-share"),
    "C6": with_theory(0.5, "growth"),
    "C8": with_theory(0.5, "last-depth-exponent"),
    "C9": replace(PAPER, loss=no_warmup_needed),
    "C10": replace(PAPER, loss=lambda run, epoch: 4.0 + 2 * short(run, 5e-4)),
    "C11": replace(PAPER, loss=lambda run, epoch: GUESS),
    "C12": replace(PAPER, loss=lambda run, epoch: GUESS - (run.settings.schedule == "constant") * 0.1),
    "C13": replace(PAPER, loss=lambda run, epoch: 4.0 + (run.settings.placement == "pre")),
    "C14": replace(PAPER, loss=lambda run, epoch: 5.0 - 0.1 * epoch),
    "C15": replace(PAPER, loss=lambda run, epoch: 5.0 + 2 * (run.settings.optimizer == "radam")),
    "C16": replace(PAPER, loss=lambda run, epoch: 4.0 + (run.settings.placement == "pre")),
    "C17": replace(PAPER, bert=lambda run, update: 1.69 + 1e-6 * (500_000 - update)),
    "C18": replace(PAPER, accuracy=lambda run, update: 0.8 + 0.02 * (run.settings.placement == "post")),
}


@pytest.mark.parametrize("claim", [claim for claim in TESTED if claim != "C7"])
def test_numbers_that_contradict_a_claim_do_not_agree_with_it(claim: str) -> None:
    against = {Verdict.FAILS} if claim in OF_SEVERAL_SEEDS else {Verdict.OPPOSES, Verdict.UNDECIDED}
    assert CONTRADICTIONS[claim].verdict(claim)[0] in against


@pytest.mark.parametrize(("changed", "value"), [("growth", 1.04), ("collapse", 0.5)])
def test_a_claim_of_several_parts_holds_in_part_by_some(changed: str, value: float) -> None:
    assert with_theory(value, changed).verdict("C7")[0] == Verdict.IN_PART


def test_a_claim_of_which_a_part_has_no_runs_is_undecided() -> None:
    posts = [run for run in RUNS if run.settings.placement == "post"]
    entry = ledger.entry(CLAIMS["C15"], PAPER.evidence(runs=posts))
    assert entry.verdict == Verdict.UNDECIDED
    assert "1 of 2 parts of the claim have no runs here" in entry.reason


def test_pre_ln_is_not_faster_where_equal_sums_of_rates_say_otherwise() -> None:
    def loss(run: Run, epoch: int) -> float:
        return 4.0 - 0.6 * (epoch <= 9) if run.settings.placement == "pre" else 5.0 - 0.1 * epoch

    ahead = replace(PAPER, loss=loss)
    answer = CLAIMS["C14"].ask(ahead.evidence())
    assert {finding.outcome for finding in answer.of("loss-at-three-fifths")} == {Outcome.POINTS}
    assert {finding.outcome for finding in answer.of("loss-at-equal-sums")} == {Outcome.OPPOSES}
    assert ahead.verdict("C14")[0] == Verdict.UNDECIDED


def test_claims_about_the_papers_size_are_judged_there_alone_and_so_are_its_values() -> None:
    small = STUDY.model_copy(update={"paper_settings": False})
    assert ledger.entry(CLAIMS["C17"], PAPER.evidence(small)).verdict == Verdict.NOT_TESTABLE
    assert ledger.entry(CLAIMS["C9"], PAPER.evidence(small)).value == ledger.NOT_COMPARED


def test_checks_of_code_are_not_counted() -> None:
    assert ledger.counted(ledger.judge(PAPER.evidence()))[0].claim == "C4"


def test_another_value_than_the_papers_differs() -> None:
    assert replace(PAPER, bleu=lambda run: 20.0).verdict("C9") == (Verdict.POINTS, "differs")


def test_radam_at_another_rate_than_the_papers_is_listed_and_decides_nothing() -> None:
    def faster(run: Run) -> Run:
        rate = 2 * run.settings.learning_rate
        return replace(run, settings=run.settings.model_copy(update={"learning_rate": rate}))

    answer = CLAIMS["C15"].ask(PAPER.evidence(runs=list(map(faster, RUNS))))
    assert answer.verdict is Verdict.NOT_TESTED
    assert {finding.beside for finding in answer.findings} == {"the paper has no RAdam at this rate"}
