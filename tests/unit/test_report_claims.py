"""The ledger's verdicts: each rule lets the paper's own numbers pass, and fails on numbers that contradict it."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.config import load
from preln.jobs.runs import Run, expand
from preln.pretraining import runs as pretraining
from preln.pretraining.report.records import Records
from preln.pretraining.runs import PretrainingRun
from preln.report.claims import ledger
from preln.report.claims.evidence import Evidence, gather, whole
from preln.report.claims.rules import Finding, Outcome, Verdict, reason, verdict
from preln.report.claims.samples import Sample, findings
from preln.report.core import forms
from preln.report.core.statistics import Estimate, estimate
from preln.report.reference import claims as paper
from preln.report.reference.claims import OfRuns
from preln.theory.report.tables import Row
from tests.made_up.results import write_results

pytestmark = pytest.mark.numbers

STUDY = load(Path("config/paper.yaml"))
RUNS = [*expand(STUDY), *expand(load(Path("config/wmt14.yaml")))]
BERTS = pretraining.expand(STUDY)
JOBS = pretraining.finetunings(STUDY)
GUESS = 9.9
CLAIMS = {claim.id: claim for claim in paper.load().claims}


@dataclass(frozen=True)
class World:
    """Numbers for every run of the paper's studies, as functions of the run."""

    loss: Callable[[Run, int], float]
    bleu: Callable[[Run], float]
    bert: Callable[[PretrainingRun, int], float]
    accuracy: Callable[[PretrainingRun, int], float]
    theory: list[Row]

    def verdict(self, claim: str) -> tuple[str, str]:
        """The verdict on a claim's direction, and that on its value."""
        entry = ledger.entry(STUDY, CLAIMS[claim], self.evidence())
        return entry.verdict, entry.value

    def evidence(self) -> Evidence:
        epochs = [
            {
                **{"run": run.id, "epoch": epoch, "updates": 1100 * epoch},
                **{"valid_loss": self.loss(run, epoch), "test_bleu": self.bleu(run)},
            }
            for run in RUNS
            for epoch in range(1, run.settings.epochs + 1)
        ]
        validations = [
            {"run": run.id, "updates": update, "valid_loss": self.bert(run, update)}
            for run in BERTS
            for update in range(10_000, 1_000_001, 10_000)
        ]
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
            curves=pd.DataFrame(validations),
            metrics={run.id: {} for run in BERTS},
            scores=pd.DataFrame(scores),
            majority=dict.fromkeys(("mrpc", "rte"), 0.6),
            jobs=tuple(JOBS),
            done=frozenset(job.id for job in JOBS),
            loss=1.69,
            progress="",
            origin=(),
        )
        theory = pd.DataFrame([asdict(row) for row in self.theory])
        done = frozenset(run.id for run in RUNS)
        return Evidence(pd.DataFrame(epochs), RUNS, done, dict.fromkeys(done, GUESS), bert, theory)


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


def row(statement: str, quantity: str, model: str, value: float, low: float = math.nan, high: float = math.nan) -> Row:
    return Row(statement, quantity, model, value, value - 0.001, value + 0.001, 10, low, high, "")


THEORY = [
    row("Lemma 1", "E‖ReLU(x W^1)‖^2 / d, all layers", "Post-LN encoder, proofs", 0.5, 0.5, 0.5),
    row("Lemma 2", "E‖x‖^2 / d, layer 12", "Pre-LN encoder, proofs", 12.0, 7.0, 19.0),
    row("Lemma 3", "‖J‖ over sqrt(d)/‖y‖, all layers", "Post-LN encoder, proofs", 1.0, 1.0, 1.0),
    row("Theorem 1", "exponent of the depth L", "Pre-LN encoder, proofs", -0.5, -0.5, -0.5),
    row("Definition 1", "share of squared norms above 1.1", "Pre-LN encoder, translation", 0.1, -math.inf, 0.125),
    row("Appendix F", "growth of the gradient of W^2 a layer", "Post-LN decoder, proofs", 1.225, 1.225, 1.225),
    row("Appendix F", "growth of the gradient of W^2 a layer", "Pre-LN decoder, proofs", 0.88, 1.0, 1.0),
    row("Appendix F", "growth of the gradient of W^2 a layer", "Post-LN decoder, translation", 1.66, 1.03, 1.03),
    row("Appendix F", "growth of the gradient of W^2 a layer", "Pre-LN decoder, translation", 0.88, 1.0, 1.0),
    row("Figure 3", "last gradient of W^2, after warm-up over initial, biased", "Post-LN decoder, translation", 0.009),
    row("Figure 3", "last gradient of W^2, exponent of the depth", "Post-LN decoder, translation", 0.0, 0.0, 0.0),
    row("Figure 3", "last gradient of W^2, exponent of the depth", "Pre-LN decoder, translation", -0.5, -0.5, -0.5),
    row("Figure 3", "last gradient of W^2, mean over the depths", "Post-LN decoder, translation", 1.6, 1.6, 1.6),
    row("Figure 3", "last gradient of W^2 over the paper's 1.66", "Post-LN, initial, translation", 1.0, 1.0, 1.0),
]
PAPER = World(loss, bleu, bert, accuracy, THEORY)
TESTED = [claim.id for claim in CLAIMS.values() if claim.tests]


@pytest.mark.parametrize("claim", TESTED)
def test_the_papers_own_numbers_reproduce_it(claim: str) -> None:
    direction, value = PAPER.verdict(claim)
    assert direction == Verdict.REPRODUCED
    assert value == ("agrees" if CLAIMS[claim].values else ledger.NOT_COMPARED)


def with_theory(statement: str, value: float) -> World:
    """A world in which every measurement of a statement is another."""
    changed = [
        replace(one, measured=value, low=value - 0.001, high=value + 0.001) if one.statement == statement else one
        for one in THEORY
    ]
    return replace(PAPER, theory=changed)


def short(run: Run, rate: float) -> bool:
    """Whether a run has a warm-up that is short, and this rate."""
    return run.settings.warmup == 500 and run.settings.learning_rate == rate


def no_warmup_needed(run: Run, epoch: int) -> float:
    """As in the paper, but a run of Post-LN needs no warm-up, of whatever length, with Adam or SGD."""
    return 4.0 if run.settings.schedule == "inverse-sqrt" else loss(run, epoch)


CONTRADICTIONS: dict[str, World] = {
    "C1": with_theory("Lemma 1", 0.6),
    "C2": with_theory("Lemma 2", 25.0),
    "C3": with_theory("Lemma 3", 1.2),
    "C4": with_theory("Theorem 1", 0.2),
    "C5": with_theory("Definition 1", 0.3),
    "C6": with_theory("Appendix F", 0.5),
    "C8": with_theory("Figure 3", 0.5),
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


@pytest.mark.parametrize("claim", CONTRADICTIONS)
def test_numbers_that_contradict_a_claim_do_not_reproduce_it(claim: str) -> None:
    assert CONTRADICTIONS[claim].verdict(claim)[0] == Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        ("growth of the gradient of W^2 a layer", 1.04),
        ("last gradient of W^2, after warm-up over initial, biased", 0.5),
    ],
)
def test_a_claim_of_several_parts_is_not_reproduced_by_some(changed: str, value: float) -> None:
    theory = [replace(one, measured=value, low=value, high=value) if changed in one.quantity else one for one in THEORY]
    assert replace(PAPER, theory=theory).verdict("C7")[0] == Verdict.IN_PART


def test_every_claim_that_can_be_tested_has_a_world_that_contradicts_it() -> None:
    assert {*CONTRADICTIONS, "C7"} == set(TESTED)


def test_a_study_without_runs_of_a_claim_does_not_test_it() -> None:
    nothing = replace(PAPER.evidence(), done=frozenset(), theory=pd.DataFrame(columns=[*Row.__dataclass_fields__]))
    for claim in CLAIMS.values():
        if all(test.of in ("translation", "theory") for test in claim.tests):
            assert ledger.entry(STUDY, claim, nothing).verdict == Verdict.NOT_TESTED


def test_claims_that_the_study_has_no_runs_for_are_a_line_for_readers_and_rows_for_programs() -> None:
    without = replace(PAPER.evidence(), theory=pd.DataFrame(columns=[*Row.__dataclass_fields__]))
    content = ledger.make(STUDY, without)
    assert [*content.full["claim"]] == [*CLAIMS]
    assert content.title.endswith("Nothing here tests C1, C2, C3, C4, C5, C6, C7, C8.")
    assert content.brief is not None
    for table in (content.text, content.brief):
        assert [*table["Claim"]] == [f"C{number}" for number in range(9, 19)]


def test_where_every_claim_is_tested_none_is_named() -> None:
    assert ledger.make(STUDY, PAPER.evidence()).title.endswith("of 18 claims.")


def test_a_study_that_tests_no_claim_says_so_and_lists_none() -> None:
    evidence = gather(load(Path("results/first-updates/study.yaml")), Path("results"))
    content = ledger.make(STUDY, evidence)
    assert [*content.full["claim"]] == [*CLAIMS]
    assert content.title.startswith("This study tests none of the paper's 18 claims. To test one, it needs the runs")
    said = forms.plain(content) + forms.markdown(content)
    assert not any(re.search(rf"\b{claim}\b", said) for claim in CLAIMS)


def test_a_claim_of_which_a_part_has_no_runs_is_inconclusive() -> None:
    posts = frozenset(run.id for run in RUNS if run.settings.placement == "post")
    entry = ledger.entry(STUDY, CLAIMS["C15"], replace(PAPER.evidence(), done=posts))
    assert entry.verdict == Verdict.INCONCLUSIVE
    assert "1 of 2 parts of the claim have no runs here" in entry.reason


def test_the_value_is_compared_only_at_the_papers_settings() -> None:
    small = STUDY.model_copy(update={"paper_settings": False})
    assert ledger.entry(small, CLAIMS["C9"], PAPER.evidence()).value == ledger.NOT_COMPARED


def test_another_value_than_the_papers_differs() -> None:
    world = replace(PAPER, bleu=lambda run: 20.0)
    assert world.verdict("C9") == (Verdict.REPRODUCED, "differs")


SEEDS = st.lists(st.floats(-10, 10), min_size=2, max_size=6)


@given(SEEDS, st.floats(-10, 10))
def test_several_seeds_decide_by_their_whole_interval(values: list[float], bound: float) -> None:
    found = estimate(values)
    outcome = Finding("", found, bound, math.inf).outcome
    assert (outcome is Outcome.HOLDS) == (found.low >= bound)
    assert (outcome is Outcome.FAILS) == (found.high < bound)


@pytest.mark.parametrize(
    ("value", "outcome"), [(1.0, Outcome.HOLDS), (0.9, Outcome.FAILS), (math.nan, Outcome.UNCLEAR)]
)
def test_one_seed_decides_by_its_value(value: float, outcome: Outcome) -> None:
    assert Finding("", Estimate(value, math.nan, math.nan, 1), 1.0, math.inf).outcome is outcome


def test_the_reason_names_what_speaks_against() -> None:
    good = Finding("the one", estimate([2.0]), 1.0, math.inf)
    bad = Finding("the other", estimate([0.5]), 1.0, math.inf)
    assert verdict([good, bad]) is Verdict.IN_PART
    assert reason([good, bad]) == "1 of 2 comparisons hold; fails: the other: 0.5 (one seed), asked: at least 1."


def sample(value: float, seed: int = 1, **settings: Any) -> Sample:
    return Sample({"placement": "post", "learning_rate": 1.0, "warmup": 0, "epochs": 5, **settings}, seed, value)


def compare(runs: dict[str, Any], minus: dict[str, Any], *samples: Sample, differ: tuple[str, ...] = ()) -> list[float]:
    test = OfRuns(of="translation", quantity="valid_loss", runs=runs, minus=minus, differ=differ, low=0.0)
    return [finding.found.mean for finding in findings(test, lambda at: samples)]


def test_runs_are_compared_with_those_that_are_alike_in_everything_else() -> None:
    without, with_it, longer = sample(3.0), sample(1.0, warmup=4), sample(0.0, warmup=4, epochs=9)
    assert compare({"warmup": "none"}, {"warmup": "some"}, without, with_it, longer) == [2.0]


@pytest.mark.parametrize("settings", [RUNS[0].settings, BERTS[0].settings], ids=["translation", "BERT"])
def test_runs_are_compared_in_the_settings_that_records_leave_out_too(settings: Any) -> None:
    assert whole(settings).keys() == type(settings).model_fields.keys() > settings.model_dump().keys()


def test_of_several_that_may_be_compared_with_the_best_is_the_measure() -> None:
    rates = [sample(2.0, warmup=4, learning_rate=0.1), sample(1.5, warmup=4, learning_rate=0.2)]
    assert compare({"warmup": "none"}, {"warmup": "some"}, sample(3.0), *rates, differ=("learning_rate",)) == [1.5]


def test_seeds_are_compared_with_the_same_seed() -> None:
    samples = [sample(3.0, 1), sample(5.0, 2), sample(1.0, 1, warmup=4), sample(2.0, 2, warmup=4), sample(9.0, 3)]
    assert compare({"warmup": "none"}, {"warmup": "some"}, *samples) == [2.5]


def test_the_best_to_compare_with_is_the_best_at_the_seeds_that_both_have() -> None:
    mine = sample(4.0, placement="pre", rate=0)
    better_here = sample(4.5, placement="post", rate=1)
    better_elsewhere = sample(5.0, placement="post", rate=2), sample(1.0, 2, placement="post", rate=2)
    differences = compare(
        {"placement": "pre"}, {"placement": "post"}, mine, better_here, *better_elsewhere, differ=("rate",)
    )
    assert differences == [-0.5]


def test_superlatives_are_among_the_runs_with_the_rest() -> None:
    warmups = [sample(float(warmup), warmup=warmup) for warmup in (0, 10, 20, 40)]
    higher = sample(7.0, warmup=99, placement="pre")
    found = compare({"placement": "post", "warmup": "short"}, {"warmup": "longest"}, *warmups, higher)
    assert found == [10.0 - 40.0, 20.0 - 40.0]


def test_the_longest_warm_up_is_the_studys_and_not_that_of_the_runs_that_are_alike() -> None:
    mine, short = sample(9.0, accumulate=1), sample(7.0, warmup=10, accumulate=1)
    of_other_settings = sample(5.0, warmup=40, accumulate=4)
    assert compare({"warmup": "none"}, {"warmup": "longest"}, mine, short, of_other_settings) == []
    assert compare({"warmup": "none"}, {"warmup": "longest"}, mine, short) == [2.0]


def test_the_longest_warm_up_is_that_of_the_rate() -> None:
    at_one = sample(9.0, learning_rate=1.0), sample(5.0, learning_rate=1.0, warmup=40)
    at_two = sample(8.0, learning_rate=2.0), sample(5.0, learning_rate=2.0, warmup=20)
    assert compare({"warmup": "none"}, {"warmup": "longest"}, *at_one, *at_two) == [4.0, 3.0]


@pytest.mark.parametrize("claim", ["C13", "C14"])
def test_pre_ln_is_compared_with_post_ln_at_the_same_rate(claim: str) -> None:
    (asked,) = CLAIMS[claim].tests
    assert isinstance(asked, OfRuns)
    usual: dict[str, Any] = {"optimizer": "adam", "epochs": 1}
    pre = sample(7.0, placement="pre", learning_rate=1.0, **usual)
    same_rate = sample(7.5, placement="post", warmup=4, learning_rate=1.0, **usual)
    better_rate = sample(6.0, placement="post", warmup=4, learning_rate=0.5, **usual)
    (found,) = findings(asked, lambda at: [pre, same_rate, better_rate])
    assert found.found.mean == -0.5


def test_wmt14_is_known_by_its_source_whatever_a_study_calls_it() -> None:
    asked = CLAIMS["C16"].tests[0]
    assert isinstance(asked, OfRuns)
    usual: dict[str, Any] = {
        "source": "wmt14",
        "corpus": "ende",
        "optimizer": "adam",
        "learning_rate": 7e-4,
        "epochs": 1,
    }
    pre, post = sample(4.0, placement="pre", **usual), sample(4.5, placement="post", warmup=4, **usual)
    (found,) = findings(asked, lambda at: [pre, post])
    assert found.found.mean == -0.5


def test_bert_is_faster_at_the_highest_rate_of_pre_ln_also_where_a_lower_one_is_faster() -> None:
    asked = CLAIMS["C17"].tests[0]
    assert isinstance(asked, OfRuns)
    post = sample(900.0, placement="post", warmup=4, learning_rate=1.0)
    fast, higher = (sample(value, placement="pre", learning_rate=rate) for value, rate in ((300.0, 2.0), (450.0, 3.0)))
    (found,) = findings(asked, lambda at: [post, fast, higher])
    assert found.found.mean == 2.0


def test_superlatives_are_among_the_runs_on_the_same_text() -> None:
    rates = [sample(rate, learning_rate=rate, corpus="a") for rate in (1.0, 2.0)]
    elsewhere = sample(8.0, learning_rate=8.0, corpus="b")
    found = judged(*rates, elsewhere, runs={"learning_rate": "higher"}, low=0.0)
    assert [one.found.mean for one in found] == [2.0]


def test_a_run_that_diverged_is_infinitely_worse() -> None:
    assert compare({"warmup": "none"}, {"warmup": "some"}, sample(math.inf), sample(1.0, warmup=4)) == [math.inf]


def test_seeds_of_which_some_diverged_decide_nothing() -> None:
    samples = [sample(math.inf, 1), sample(1.0, 2), sample(1.0, 1, warmup=4), sample(1.0, 2, warmup=4)]
    (mean,) = compare({"warmup": "none"}, {"warmup": "some"}, *samples)
    assert math.isnan(mean)


def test_runs_of_different_length_are_compared_after_as_many_epochs() -> None:
    def sampled(share: float) -> list[Sample]:
        return [sample(10 - 20 * share, epochs=20), sample(10 - 5 * share, warmup=4, epochs=5)]

    test = OfRuns(
        **{"of": "translation", "quantity": "valid_loss", "differ": ("epochs",), "low": 0.0},
        **{"runs": {"warmup": "none"}, "minus": {"warmup": "some"}},
    )
    (finding,) = findings(test, sampled)
    assert finding.found.mean == 0.0


def test_of_runs_of_which_any_is_enough_the_nearest_counts() -> None:
    test = OfRuns(of="translation", quantity="test_bleu", runs={"warmup": "none"}, low=8.0, high=9.0, any=True)
    runs = [sample(1.0), sample(8.4, learning_rate=2.0), sample(20.0, learning_rate=3.0)]
    (finding,) = findings(test, lambda at: runs)
    assert (finding.found.mean, finding.outcome) == (8.4, Outcome.HOLDS)


def test_of_runs_of_which_any_is_enough_one_that_holds_counts_before_one_whose_seeds_disagree() -> None:
    test = OfRuns(of="translation", quantity="valid_loss", runs={"optimizer": "sgd"}, high=6.0, any=True)
    losses = {1.0: (5.5, 5.51, 5.52), 2.0: (5.0, math.inf), 3.0: (1.0, 9.0)}
    series = [
        [
            replace(sample(loss_, optimizer="sgd", learning_rate=rate), seed=seed)
            for seed, loss_ in enumerate(of_seeds, start=1)
        ]
        for rate, of_seeds in losses.items()
    ]
    for runs in itertools.permutations(series):
        (finding,) = judged(*itertools.chain(*runs), **test.model_dump(exclude={"of", "quantity"}))
        assert finding.outcome is Outcome.HOLDS


def test_the_paper_says_nothing_of_other_placements() -> None:
    """Nor of one whose name has that of one of the paper's in it."""
    others = [
        replace(one, model=one.model.replace("Post-LN", name), measured=99.0, low=98.0, high=100.0)
        for one in THEORY
        for name in ("Res-Post-LN", "Post-LN-init", "DeepNorm")
        if "Post-LN" in one.model
    ]
    world = replace(PAPER, theory=[*THEORY, *others])
    for claim in ("C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8"):
        assert world.verdict(claim) == PAPER.verdict(claim)


def test_a_large_fixed_rate_says_nothing_of_a_small_one() -> None:
    (gains,) = (one for one in CLAIMS["C12"].tests if isinstance(one, OfRuns) and one.gain)
    runs = [
        replace(sample(loss_, schedule="constant", optimizer="adam", learning_rate=rate), constant=9.9)
        for rate, loss_ in ((1.0, 4.0), (2.0, 9.9))
    ]
    (found,) = findings(gains, lambda at: runs)
    assert found.outcome is Outcome.HOLDS


def test_a_value_of_which_a_part_has_no_runs_does_not_agree() -> None:
    evidence = PAPER.evidence()
    at_the_higher_rate = {run.id for run in RUNS if run.settings.warmup == 500 and run.settings.learning_rate == 1e-3}
    assert at_the_higher_rate
    entry = ledger.entry(STUDY, CLAIMS["C10"], replace(evidence, done=evidence.done - at_the_higher_rate))
    assert entry.value == "unclear"


def test_a_run_that_diverged_counts_as_infinitely_bad_after_its_last_epoch() -> None:
    evidence = PAPER.evidence()
    without = [run.id for run in RUNS if run.settings.warmup == 0 and run.settings.optimizer == "sgd"]
    curves = evidence.curves[~(evidence.curves["run"].isin(without) & (evidence.curves["epoch"] > 3))]
    entry = ledger.entry(STUDY, CLAIMS["C11"], replace(evidence, curves=curves))
    assert entry.verdict == Verdict.REPRODUCED
    assert "inf" in entry.ours


def test_a_run_that_ended_in_its_warm_up_says_nothing(tmp_path: Path) -> None:
    for warmup in (8, 9):
        folder = write_results(tmp_path / str(warmup), {"pre": {1: 4.0}}, warmup=warmup)
        evidence = gather(load(folder / "study.yaml"), tmp_path)
        # It has nine updates.
        assert bool(evidence.done) == (warmup == 8)


THEORY_TESTS = [test for claim in CLAIMS.values() for test in (*claim.tests, *claim.values) if test.of == "theory"]


def test_every_test_of_the_theory_finds_rows_in_a_study_that_has_measured_all_of_it() -> None:
    evidence = gather(load(Path("results/iwslt14-theory/study.yaml")), Path("results"))
    for test in THEORY_TESTS:
        assert evidence.findings(test), test


def test_the_ids_of_the_claims_are_in_order() -> None:
    numbers = [int(claim.removeprefix("C")) for claim in CLAIMS]
    assert all(after == before + 1 for before, after in pairwise(numbers))


def judged(*samples: Sample, **test: Any) -> list[Finding]:
    given = {"of": "translation", "quantity": "valid_loss", **test}
    return findings(OfRuns.model_validate(given), lambda at: samples)


def test_a_lower_rate_is_one_that_is_not_the_highest() -> None:
    rates = [sample(rate, learning_rate=rate) for rate in (1.0, 2.0, 4.0)]
    found = judged(*rates, runs={"learning_rate": "lower"}, low=0.0)
    assert [one.found.mean for one in found] == [1.0, 2.0]
    assert judged(rates[0], runs={"learning_rate": "lower"}, low=0.0) == []


def test_of_one_rate_none_is_the_higher() -> None:
    rates = [sample(rate, learning_rate=rate) for rate in (1.0, 2.0)]
    assert [one.found.mean for one in judged(*rates, runs={"learning_rate": "higher"}, low=0.0)] == [2.0]
    assert judged(rates[0], runs={"learning_rate": "higher"}, low=0.0) == []


@pytest.mark.parametrize(
    ("loss_", "outcome"), [(9.0, Outcome.HOLDS), (9.7, Outcome.FAILS), (10.5, Outcome.FAILS), (math.inf, Outcome.FAILS)]
)
def test_a_run_trains_if_it_gains_over_a_constant_guess(loss_: float, outcome: Outcome) -> None:
    run = replace(sample(loss_), constant=9.9)
    (found,) = judged(run, runs={"warmup": "none"}, gain=True, low=0.3)
    assert found.outcome is outcome


def test_a_gain_over_a_guess_that_is_not_known_is_unclear() -> None:
    (found,) = judged(sample(5.0), runs={"warmup": "none"}, gain=True, low=0.3)
    assert found.outcome is Outcome.UNCLEAR


def of_the_gap(without: float, radam: float) -> Finding:
    """How much RAdam closes of the gap between Adam without a warm-up and with one, which ends at 7."""
    runs = [
        sample(without, optimizer="adam"),
        sample(7.0, optimizer="adam", warmup=4),
        sample(radam, optimizer="radam"),
    ]
    asked: dict[str, Any] = {"minus": {"optimizer": "adam"}, "gap_to": {"optimizer": "adam", "warmup": "longest"}}
    (found,) = judged(*runs, runs={"optimizer": "radam", "warmup": "none"}, **asked, low=0.5)
    return found


@given(st.floats(7.5, 15), st.floats(-1, 2))
def test_a_share_of_a_gap_is_how_far_a_run_has_gone_between_two_others(start: float, share: float) -> None:
    assert of_the_gap(start, radam=start - share * (start - 7.0)).found.mean == pytest.approx(share)


def test_a_share_of_a_gap_that_is_none_is_unclear() -> None:
    assert of_the_gap(6.9, radam=6.8).outcome is Outcome.UNCLEAR


def curved(value: float, *points: tuple[float, float], **settings: Any) -> Sample:
    return replace(sample(value, **settings), curve=points)


def test_at_equal_rates_the_other_is_read_where_it_has_spent_as_much() -> None:
    mine = curved(6.0, (1.0, 7.0), (2.0, 6.0))
    longer = curved(3.0, (1.0, 5.0), (3.0, 4.0), (5.0, 3.0), warmup=4)
    asked: dict[str, Any] = {"runs": {"warmup": "none"}, "minus": {"warmup": "longest"}, "low": 0.5}

    (at_the_end,) = judged(mine, longer, **asked)
    (at_equal,) = judged(mine, longer, **asked, equal_rates=True)

    assert (at_the_end.found.mean, at_equal.found.mean) == (3.0, 1.5)


def test_at_equal_rates_one_that_spends_less_is_read_at_its_end() -> None:
    mine, shorter = curved(6.0, (9.0, 6.0)), curved(3.0, (1.0, 5.0), (5.0, 3.0), warmup=4)
    (found,) = judged(mine, shorter, runs={"warmup": "none"}, minus={"warmup": "longest"}, low=0.5, equal_rates=True)
    assert found.found.mean == 3.0


def test_a_sum_of_rates_within_the_others_first_epoch_decides_nothing() -> None:
    mine, longer = curved(6.0, (0.5, 6.0)), curved(3.0, (1.0, 5.0), (5.0, 3.0), warmup=4)
    (found,) = judged(mine, longer, runs={"warmup": "none"}, minus={"warmup": "longest"}, low=0.5, equal_rates=True)
    assert found.outcome is Outcome.UNCLEAR
    assert "it spends a smaller sum of rates" in str(found)


@pytest.mark.parametrize(("fall", "outcome"), [(0.1, Outcome.HOLDS), (0.4, Outcome.UNCLEAR)])
def test_a_comparison_of_ends_waits_until_both_have_come_there(fall: float, outcome: Outcome) -> None:
    def sampled(share: float) -> list[Sample]:
        # The last fifth of five epochs is the last one.
        return [sample(4.0), sample(4.0 + (fall if share < 1 else 0.0), warmup=4)]

    test = OfRuns.model_validate({
        **{"of": "translation", "quantity": "valid_loss", "runs": {"warmup": "none"}},
        **{"minus": {"warmup": "some"}, "settled": 0.15, "high": 0.1},
    })  # fmt: skip
    (found,) = findings(test, sampled)
    assert found.outcome is outcome


def test_a_run_that_diverged_has_come_to_its_end() -> None:
    runs = [sample(math.inf), sample(4.0, warmup=4)]
    asked: dict[str, Any] = {"runs": {"warmup": "none"}, "minus": {"warmup": "some"}, "settled": 0.15, "high": 0.1}
    (found,) = judged(*runs, **asked)
    assert found.outcome is Outcome.FAILS


@pytest.mark.parametrize(("of_radam", "share"), [(7.1, 1.0), (math.inf, 0.0)])
def test_of_an_infinite_gap_a_finite_loss_closes_all(of_radam: float, share: float) -> None:
    runs = [
        sample(math.inf, optimizer="adam"),
        sample(7.0, optimizer="adam", warmup=4),
        sample(of_radam, optimizer="radam"),
    ]
    asked: dict[str, Any] = {"minus": {"optimizer": "adam"}, "gap_to": {"optimizer": "adam", "warmup": "longest"}}
    (found,) = judged(*runs, runs={"optimizer": "radam", "warmup": "none"}, **asked, low=0.5)
    assert found.found.mean == share


@pytest.mark.parametrize(("best", "outcome"), [(0.70, Outcome.HOLDS), (0.60, Outcome.UNCLEAR)])
def test_accuracies_at_chance_decide_nothing(best: float, outcome: Outcome) -> None:
    runs = [replace(sample(best), constant=0.65), replace(sample(0.5, warmup=4), constant=0.65)]
    asked: dict[str, Any] = {"runs": {"warmup": "none"}, "minus": {"warmup": "some"}, "low": 0.0}
    (found,) = judged(*runs, **{**asked, "quantity": "accuracy"})
    assert found.outcome is outcome


@pytest.mark.parametrize("claim", ["C9", "C13", "C14"])
@pytest.mark.parametrize(("loss_", "learned"), [(9.9, False), (math.inf, False), (9.0, True)])
def test_two_runs_that_learned_nothing_decide_nothing_about_a_claim(claim: str, loss_: float, learned: bool) -> None:
    (test,) = (one for one in CLAIMS[claim].tests if isinstance(one, OfRuns))
    of_other = {**test.runs, **(test.minus or {})}
    words = {"none": 0, "longest": 4}
    mine, other = (
        replace(sample(loss_, **{key: words.get(value, value) for key, value in settings.items()}), constant=9.9)
        for settings in (test.runs, of_other)
    )
    (found,) = judged(mine, other, **test.model_dump(exclude={"of", "quantity", "equal_rates", "settled"}))

    assert found.undecided == ("" if learned else "neither is better than a constant guess")


@pytest.mark.parametrize(("loss_", "outcome"), [(9.9, Outcome.UNCLEAR), (8.0, Outcome.HOLDS)])
def test_the_way_to_a_run_that_learned_nothing_says_nothing(loss_: float, outcome: Outcome) -> None:
    runs = [
        replace(one, constant=9.9)
        for one in (
            sample(11.0, optimizer="adam"),
            sample(loss_, optimizer="adam", warmup=4),
            sample(loss_, optimizer="radam"),
        )
    ]
    asked: dict[str, Any] = {"minus": {"optimizer": "adam"}, "gap_to": {"optimizer": "adam", "warmup": "longest"}}
    (found,) = judged(*runs, runs={"optimizer": "radam", "warmup": "none"}, **asked, low=0.5)
    assert found.outcome is outcome


def test_rows_that_a_test_prefers_count_alone_where_there_are_any() -> None:
    quantity = "last gradient of W^2, after warm-up over initial"
    biased, unbiased = (
        row("Figure 3", f"{quantity}, {how}", "Post-LN decoder, translation", value)
        for how, value in (("biased", 0.2), ("unbiased", 0.05))
    )
    others = [one for one in THEORY if quantity not in one.quantity]
    verdicts = [replace(PAPER, theory=[*others, *rows]).verdict("C7")[0] for rows in ([biased], [biased, unbiased])]
    assert verdicts == [Verdict.IN_PART, Verdict.REPRODUCED]


def test_a_changed_rule_says_when_why_and_what_it_changed() -> None:
    for claim in CLAIMS.values():
        dates = [change.date for change in claim.changed]
        assert dates == sorted(dates)
        for change in claim.changed:
            assert change.rule and change.why and change.before.keys() == change.after.keys() != set()
