"""Does the bench foretell real text?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from docs.bench import seeds
from docs.bench.models import is_ahead, models_of, name_of
from docs.committed import Ends, by_settings, translations
from docs.markdown import answered, each_seed, rate, warm_up
from preln.placements import PLACEMENTS
from preln.report.core.statistics import mean

SEEDS = 3
POST_LN = PLACEMENTS["post"].label


@dataclass(frozen=True)
class Pairs:
    """Of the pairs of some placements, how many the bench tells apart, and which stand how on real text."""

    told_apart: int
    same: list[tuple[str, str]]
    changed: list[tuple[str, str]]

    @property
    def foretells(self) -> bool:
        """Whether the bench foretells real text."""
        return len(self.same) > len(self.changed) and 2 * len(self.same) >= self.told_apart


def pairs(bench: Mapping[str, Sequence[float]], real: Mapping[str, Sequence[float]]) -> Pairs:
    """The orders of the placements that were trained on real text, from the losses of their seeds here and there. The
    first of a pair is the one that is ahead on the bench."""
    told = [pair for pair in permutations(real, 2) if is_ahead(*(bench[name] for name in pair))]
    same = [pair for pair in told if is_ahead(*(real[name] for name in pair))]
    changed = [pair for pair in told if is_ahead(*(real[name] for name in reversed(pair)))]
    return Pairs(len(told), same, changed)


def answer(bench: Mapping[str, Sequence[float]], real: Mapping[str, Sequence[float]]) -> list[str]:
    """What the losses of the seeds on the bench and on real text say; nothing before all seeds are done."""
    if not all(name in bench and len(losses) == SEEDS for name, losses in real.items()):
        return []
    found = pairs(bench, real)
    without = pairs(bench, {name: losses for name, losses in real.items() if name != POST_LN})
    return [
        f"pairs that the bench tells apart: {found.told_apart} (without Post-LN {without.told_apart})",
        f"in the same order on real text: {len(found.same)} ({len(without.same)})",
        f"in the other: {len(found.changed)} ({len(without.changed)})",
        f"the bench {'foretells' if found.foretells else 'does not foretell'} real text",
    ]


def read(results: Path) -> dict[str, Ends]:
    """The ends of the seeds that are done, by the names of the models on the bench."""
    return by_settings(translations(results, "placements-real"), name_of)


def table(results: Path) -> str:
    """The models on real text that are done, the one with the lowest loss first, and the answer where all are."""
    settings = models_of("placements-real")
    found = read(results)
    rows = [
        (name, rate(settings[name].learning_rate), warm_up(settings[name].warmup), *each_seed(found[name]))
        for name in sorted(found, key=lambda name: mean(found[name].losses))
    ]
    said = answer(seeds.read(results), {name: found.get(name, Ends()).losses for name in settings})
    return answered(["", "rate", "warm-up", "loss of each seed", "BLEU"], rows, said)
