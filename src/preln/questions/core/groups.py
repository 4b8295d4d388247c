"""Translation runs grouped by what a question asks of them, whatever else they differ in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from preln.questions.core.evidence import TRANSLATION_BLEU, TRANSLATION_LOSS, Evidence
from preln.questions.core.series import Compared, Sample

K = TypeVar("K")
Reader = Callable[[Sample], float]
"""What takes a number from a run."""
MARGIN = 0.3
"""A run that learns ends at least so many bits a token below the unigram baseline."""


@dataclass(frozen=True)
class Ends:
    """What the seeds of a run have: its samples of the loss, and the numbers that a question reads of them.

    Attributes:
        samples: of the loss, by seed.
        loss: validation loss in bits a token, by seed; infinite of one that diverged.
        test_bleu: in percent, by seed.
    """

    samples: dict[int, Sample] = field(default_factory=dict)
    loss: dict[int, float] = field(default_factory=dict)
    test_bleu: dict[int, float] = field(default_factory=dict)

    @property
    def losses(self) -> list[float]:
        """Of each seed, ascending."""
        return [self.loss[seed] for seed in sorted(self.loss)]

    @property
    def bleu(self) -> list[float]:
        """Likewise."""
        return [self.test_bleu[seed] for seed in sorted(self.test_bleu)]

    @property
    def capped(self) -> dict[int, float]:
        """The losses, of which none counts as worse than the unigram baseline."""
        return {seed: self.samples[seed].capped(self.loss[seed]) for seed in sorted(self.loss)}

    @property
    def gains(self) -> list[float]:
        """How far each seed is below the unigram baseline."""
        return [self.samples[seed].baseline - self.loss[seed] for seed in sorted(self.loss)]


def at_end(sample: Sample) -> float:
    """A run's last number."""
    return sample.raw()


def after_epoch(epoch: int) -> Reader:
    """The number after one of a run's epochs, or the last one if it ended before."""
    return lambda sample: sample.values[epoch - 1] if len(sample.values) >= epoch else sample.raw()


def after_updates(updates: int) -> Reader:
    """The number after so many updates, or one more; the worst of a run that diverged before."""

    def read(sample: Sample) -> float:
        for made, value in zip(sample.updates, sample.values, strict=True):
            if abs(made - updates) <= 1:
                return value
        return sample.worst

    return read


def ends(evidence: Evidence, which: Callable[[Mapping[str, Any]], K | None], read: Reader = at_end) -> dict[K, Ends]:
    """The translation runs by what they are; runs for which `which` returns None are left out. Of a seed that two
    studies have, the first study's is read."""
    found: dict[K, Ends] = {}
    for study in evidence.studies:
        for loss, bleu in zip(study.translated(TRANSLATION_LOSS), study.translated(TRANSLATION_BLEU), strict=True):
            key = which(loss.settings)
            if key is None:
                continue
            run = found.setdefault(key, Ends())
            if loss.seed not in run.loss:
                run.samples[loss.seed] = loss
                run.loss[loss.seed], run.test_bleu[loss.seed] = read(loss), read(bleu)
    return found


def minus(one: Ends, other: Ends) -> Compared:
    """One group minus another, of the seeds that both have, with losses capped at the unigram baseline."""
    seeds = sorted(one.loss.keys() & other.loss.keys())
    mine, others = one.capped, other.capped
    nothing = [seed for seed in seeds if max(_gain(one, seed), _gain(other, seed)) <= 0]
    reason = f"neither learns with seed {nothing[0]}" if nothing else ""
    return Compared(tuple(mine[seed] - others[seed] for seed in seeds), reason)


def _gain(run: Ends, seed: int) -> float:
    return run.samples[seed].baseline - run.loss[seed]
