"""Does the first epoch at the paper's size look like the paper's? (C9, C13, C14)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from docs.answers.iwslt14 import fails
from docs.committed import Ends, after_epoch, by_settings, have_all_seeds, translations
from docs.markdown import answered, each_seed
from preln.report.core.statistics import mean
from preln.report.reference import translation as paper

EPOCHS_LIKE_ONE_OF_THE_PAPERS = 3
"""The epochs of `paper-epoch`, on a third of the text, with about as many updates as an epoch of the paper's."""


@dataclass(frozen=True)
class OfFirstEpoch:
    """What the runs of `paper-epoch` differ in, but for the seed."""

    placement: str
    optimizer: str
    warmup: int
    initialisation: str
    beta2: float = 0.98


def answer(pre: Sequence[float], post: Sequence[float], without: Sequence[float]) -> list[str]:
    """What the updates of the paper's first epoch say: the losses of Pre-LN, of Post-LN with a warm-up, and without.
    Nothing is said before each has three seeds."""
    if not have_all_seeds(pre, post, without):
        return []
    found = []
    if mean(post) - mean(pre) >= 1 and abs(mean(pre) - 6.4) <= 0.7 and abs(mean(post) - 8.0) <= 0.7:
        found.append("as in the paper")
    if fails(mean(without)):
        found.append("Post-LN without a warm-up fails")
    return found or ["neither"]


def of_size(radam: Sequence[float]) -> list[str]:
    """What the losses of RAdam say of its departure at half the width. Nothing is said before it has three seeds."""
    if not have_all_seeds(radam):
        return []
    return [f"RAdam's departure is {'' if _train_as_the_papers(radam) else 'not '}one of size"]


def of_beta2(changed: Sequence[float]) -> list[str]:
    """What the losses of RAdam with the other β2 say of its departure at the paper's size. Nothing is said before it
    has three seeds."""
    if not have_all_seeds(changed):
        return []
    if _train_as_the_papers(changed):
        return ["β2 is the cause"]
    return ["β2 is no cause" if all(map(fails, changed)) else "β2 is a cause in part"]


def _train_as_the_papers(radam: Sequence[float]) -> bool:
    return all(loss <= 8.9 for loss in radam)


def after(results: Path, epoch: int) -> dict[OfFirstEpoch, Ends]:
    """Each seed of the runs of `paper-epoch` that are done and have come so far, after one of its epochs. Most end with
    the third. One that diverged before has learned nothing."""
    recorded = translations(results, "paper-epoch", after_epoch(epoch))
    return by_settings(
        ((its, found) for its, found in recorded if its.epochs >= epoch),
        lambda its: OfFirstEpoch(its.placement, its.optimizer, its.warmup, its.initialisation, its.beta2),
    )


def read(results: Path, papers_epoch: int = 1) -> dict[OfFirstEpoch, Ends]:
    """The same after about as many updates as the paper has made after one of its epochs."""
    return after(results, EPOCHS_LIKE_ONE_OF_THE_PAPERS * papers_epoch)


def updates(results: Path, papers_epoch: int) -> int:
    """After how many updates that is."""
    curve = pd.read_csv(results / "paper-epoch" / "translation" / "pre-adam-lr5e-4-const-epochs12-s1" / "curve.csv")
    return int(curve.set_index("epoch")["updates"][EPOCHS_LIKE_ONE_OF_THE_PAPERS * papers_epoch])


PRE = OfFirstEpoch("pre", "adam", 0, "xavier")
POST = OfFirstEpoch("post", "adam", 4000, "xavier")
WITHOUT = OfFirstEpoch("post", "adam", 0, "xavier")
RADAM = OfFirstEpoch("post", "radam", 0, "xavier")
RADAM_LONG = OfFirstEpoch("post", "radam", 0, "xavier", beta2=0.999)
MODELS = {
    "Pre-LN, Adam, no warm-up": PRE,
    "Post-LN, Adam, warm-up of 4,000": POST,
    "Post-LN, Adam, no warm-up": WITHOUT,
    "Post-LN, RAdam": RADAM,
    "Post-LN, RAdam, fairseq's draw": OfFirstEpoch("post", "radam", 0, "fairseq"),
    "Post-LN, RAdam, β2 = 0.999": RADAM_LONG,
}
"""The runs of `paper-epoch`."""


def papers(one: OfFirstEpoch, epoch: int) -> tuple[str, str]:
    """The loss and the BLEU that figure 4 has of a run after one of the paper's epochs; empty where it has none."""
    its = {
        entry.quantity: entry.y
        for entry in paper.load()
        if (entry.figure, entry.x) == (4, epoch)
        and (entry.placement, entry.optimizer, entry.warmup) == (one.placement, one.optimizer, one.warmup)
        and one.initialisation == "xavier"
    }
    return str(its.get("valid_loss", "")), str(its.get("bleu", ""))


def table(results: Path) -> str:
    """The runs of `paper-epoch` that are done, beside the paper's, and the answers whose runs are."""
    found = read(results)
    rows = [(name, *each_seed(found[one]), *papers(one, 1)) for name, one in MODELS.items() if one in found]
    pre, post, without, radam, long = (found.get(one, Ends()).losses for one in (PRE, POST, WITHOUT, RADAM, RADAM_LONG))
    said = [*answer(pre, post, without), *of_size(radam), *of_beta2(long)]
    return answered(["", "loss", "BLEU", "the paper: loss", "BLEU"], rows, said)
