"""Why does RAdam train Post-LN so little? (C15)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from docs.answers.bounds import C15_IN_PRE
from docs.answers.iwslt14 import HIGHER_RATE, PAPERS_RATE, UPDATES, fails
from docs.committed import SEEDS, Ends, after_epoch, by_settings, have_all_seeds, losses_of, translations
from docs.markdown import answered, each_seed, rate, tokens
from preln.config import RunSettings
from preln.report.core.labels import OPTIMIZERS
from preln.report.core.statistics import mean


@dataclass(frozen=True)
class Corner:
    """How a run departs from ours of RAdam at half the width: tokens an update, initialisation, β2, peak rate, and the
    optimiser."""

    batches: int = 1
    initialisation: str = "fairseq"
    beta2: float = 0.98
    learning_rate: float = PAPERS_RATE
    optimizer: str = "radam"


OURS = Corner()
ALONE = {
    "the batch": replace(OURS, batches=4),
    "the initialisation": replace(OURS, initialisation="xavier"),
    "β2": replace(OURS, beta2=0.999),
}
"""Each factor changed alone."""

AT_THE_HIGHER_RATE = [replace(corner, learning_rate=HIGHER_RATE) for corner in (OURS, ALONE["the batch"], ALONE["β2"])]
"""Ours, that with the larger batch, and that with the other β2."""

ENOUGH = 0.5
"""Bits by which the mean of three seeds must be lower."""
ENOUGH_FOR_ONE_SEED = 1.0
"""Bits by which a loss must be lower where a side has one seed."""
PAPERS = Corner(4, "xavier")
"""The paper's side of the factors that are known of it."""
ADAM = Corner(4, optimizer="adam")
"""Adam with four batches, without a warm-up: its peak rate is held."""
ADAM_BY_XAVIER = replace(ADAM, initialisation="xavier")


def answer(losses: Mapping[Corner, Sequence[float]]) -> list[str]:
    """What the runs of RAdam at the paper's rate say, by the losses of all seeds of each corner; nothing before all
    seeds that the rule reads are there."""
    if not is_whole(losses):
        return []
    found = []
    for factor, corner in ALONE.items():
        ours, theirs = losses[OURS], losses[corner]
        enough = ENOUGH if have_all_seeds(theirs) else ENOUGH_FOR_ONE_SEED
        if mean(ours) - mean(theirs) >= enough:
            found.append(f"{factor} is a cause")
    is_explained = not any(map(fails, losses[PAPERS]))
    return [*(found or ["no cause found"]), "explained" if is_explained else "not explained"]


def at_the_higher_rate(losses: Mapping[Corner, Sequence[float]]) -> list[str]:
    """What the batch and β2 do at the higher rate. Nothing is said of what is not made in as many seeds as the rule
    reads."""
    ours, larger, longer = (losses.get(corner, ()) for corner in AT_THE_HIGHER_RATE)
    found = []
    if ours and larger:
        is_cause = mean(ours) - mean(larger) >= ENOUGH_FOR_ONE_SEED
        found.append(f"at {rate(HIGHER_RATE)}, the batch is {'a' if is_cause else 'no'} cause")
    if have_all_seeds(ours, longer):
        is_cause = mean(ours) - mean(longer) >= ENOUGH and not any(map(fails, longer))
        found.append(f"at {rate(HIGHER_RATE)}, β2 is {'a' if is_cause else 'no'} cause")
    return found


def beside_adam(losses: Mapping[Corner, Sequence[float]]) -> list[str]:
    """Whether it is RAdam that trains with four batches, where both runs are made."""
    radam, adam = (losses.get(corner, ()) for corner in (ALONE["the batch"], ADAM))
    if not (radam and adam):
        return []
    ahead = mean(adam) - mean(radam)
    word = "helps" if ahead >= ENOUGH_FOR_ONE_SEED else "does not help" if ahead <= C15_IN_PRE else "is undecided"
    return [f"RAdam {word} with four batches"]


def of_the_draw(of_fairseq: Sequence[float], of_xavier: Sequence[float]) -> list[str]:
    """Whether Xavier's draw of the weights makes Adam fail without a warm-up, by its losses and those with fairseq's
    draw. Nothing is said before all seeds of both are made."""
    if not have_all_seeds(of_fairseq, of_xavier):
        return []
    if fails(mean(of_xavier)):
        return ["Xavier's draw makes Adam fail"]
    is_near = mean(of_xavier) - mean(of_fairseq) < ENOUGH
    return [f"Xavier's draw {'does not make Adam fail' if is_near else 'delays Adam'}"]


def is_whole(losses: Mapping[Corner, Sequence[float]]) -> bool:
    """Whether all seeds of all corners that the rule reads are there."""
    wanted = {OURS: SEEDS, PAPERS: SEEDS, **dict.fromkeys(ALONE.values(), SEEDS), ALONE["the batch"]: 1}
    return all(len(losses.get(corner, ())) >= seeds for corner, seeds in wanted.items())


def corner_of(its: RunSettings) -> Corner | None:
    """Which of RAdam's runs, or of Adam's beside them, it is; None of another run."""
    is_adams = (its.optimizer, its.warmup, its.anchor, its.accumulate) == ("adam", 0, "hold", ADAM.batches)
    if its.placement != "post" or not (is_adams or its.optimizer == "radam"):
        return None
    return Corner(its.accumulate, its.initialisation, its.beta2, its.learning_rate, its.optimizer)


def read(results: Path) -> dict[Corner, Ends]:
    """Each seed of the runs of RAdam in `confounds` that are done, and of Adam's beside them, after some 1,551 updates.
    That of `iwslt14-50k-cpu` at the higher rate is read after as many."""
    after_one = translations(results, "iwslt14-50k-cpu", after_epoch(1))
    at_higher = ((its, then) for its, then in after_one if its.learning_rate == HIGHER_RATE)
    # RAdam with the decay of `paper-epoch` answers another question.
    of_our_decay = (run for run in translations(results, "confounds") if run[0].decay_updates in (None, UPDATES))
    return by_settings(chain(at_higher, of_our_decay), corner_of)


def table(results: Path) -> str:
    """The runs of RAdam at half the paper's width, with Adam's, and the answers where those of a rule are done."""
    found = read(results)
    order = sorted(
        found,
        key=lambda corner: (
            corner.learning_rate,
            corner.batches,
            corner.initialisation,
            corner.beta2,
            corner.optimizer,
        ),
    )
    rows = [
        (
            OPTIMIZERS[corner.optimizer],
            rate(corner.learning_rate),
            tokens(corner.batches),
            f"`{corner.initialisation}`",
            f"{corner.beta2:g}",
            *each_seed(found[corner]),
        )
        for corner in order
    ]
    losses = losses_of(found)
    head = ["", "peak rate", "tokens an update", "initialisation", "β2", "loss of each seed", "BLEU"]
    said = [
        *answer(losses),
        *at_the_higher_rate(losses),
        *beside_adam(losses),
        *of_the_draw(*(losses.get(one, ()) for one in (ADAM, ADAM_BY_XAVIER))),
    ]
    return answered(head, rows, said)
