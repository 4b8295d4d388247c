"""What docs/placements-bench.md says in numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from functools import cache

import numpy as np

from docs.bench import depth, lower_rate, models, real_text, seeds
from docs.bench.published import PUBLISHED, answer
from docs.committed import final, table
from preln.placements import PLACEMENTS
from preln.report.core.statistics import mean
from tests.page_numbers.records import BIG, PRE, RESULTS, Numbers, costs, made, minmax


def at_depth(name: str, layers: int) -> float:
    """What a placement has with so many layers, at its best rate with the fewest."""
    return mean(depth.read(RESULTS)[name][layers])


def lost_by_depth(*names: str) -> list[float]:
    """How much higher placements end with 18-18 layers than with 6-6."""
    return [at_depth(name, depth.DEEPER[-1]) - at_depth(name, depth.FEWEST) for name in names]


def sensitivities(*names: str) -> list[float]:
    """The sensitivities of models of the bench to the learning rate."""
    bench = models.read(RESULTS)
    return [bench[name].sensitivity for name in names]


def at_a_lower_rate(name: str) -> float:
    """What a placement has with 18-18 layers at the lower rate."""
    return mean(lower_rate.read(RESULTS)[name].losses)


def of_the_bench(column: str, name: str) -> list[float]:
    """What the bench's table has of a model, without the warm-up and with it."""
    found = table("placements", "placements").set_index(["model", "warmup"])[column]
    return [float(found[name, warmup]) for warmup in (0, 180)]


def at_the_top() -> list[float]:
    """The lowest and the highest mean loss at the highest rate, of placements that train there without a warm-up."""
    runs = table("placements", "runs")
    plain = runs[(runs["learning_rate"] == 3e-2) & runs["norm"].isna() & runs["qk_norm"].isna()]
    names = [name for name, one in PLACEMENTS.items() if models.read(RESULTS)[one.label].limits.without == 3e-2]
    found = plain[plain["placement"].isin(names)].groupby(["placement", "warmup"])
    return minmax(found["final_valid_loss"].mean())


def told_apart(names: Collection[str]) -> tuple[int, int]:
    """How many pairs of models the bench tells apart by all their seeds, and how many there are."""
    losses = seeds.read(RESULTS)
    told = real_text.pairs(losses, {name: losses[name] for name in names}).told_apart
    return told, math.comb(len(names), 2)


def of_a_claim_of_others(claim: str) -> list[float]:
    """The first comparison of a claim that the bench judges: its mean, and half of its interval."""
    measured = str(table("placements", "claims-of-others").set_index("claim")["ours"][claim])
    return [float(number) for number in re.findall(r": (-?[\d.]+) ± ([\d.]+)", measured)[0]]


@cache
def published_orders() -> list[float]:
    """Of the published comparisons: how many there are, of how many pairs and papers; how many are from memory, and of
    these differ; how many of one table agree; how many differ in which Pre-LN is behind, and how many differ."""
    losses = seeds.read(RESULTS)
    said = {order: answer(order, losses)[0] for order in PUBLISHED}
    differ = [order for order in PUBLISHED if said[order] == "differs"]
    from_memory = [order for order in PUBLISHED if order.how_known == "unknown"]
    return [
        *(len(PUBLISHED), len({frozenset((one.better, one.worse)) for one in PUBLISHED})),
        *(len({one.source for one in PUBLISHED}), len(from_memory), len([one for one in differ if one in from_memory])),
        len([one for one in PUBLISHED if said[one] == "agrees" and one.source.startswith("Sun")]),
        *(len([one for one in differ if one.worse == "Pre-LN"]), len(differ)),
    ]


def ahead_on_real_text(one: str, other: str) -> list[float]:
    """How far the first placement's means are ahead of the other's on real text: in loss, and in BLEU."""
    ends = real_text.read(RESULTS)
    return [mean(ends[other].losses) - mean(ends[one].losses), mean(ends[one].bleu) - mean(ends[other].bleu)]


SAID: list[tuple[str, Numbers]] = [
    ("On real text T-Fixup is ahead, by {:.2f} bits.", lambda: [ahead_on_real_text("T-Fixup", "LayerNorm scaling")[0]]),
    ("and {:.2f} bits behind it on real text.", lambda: [ahead_on_real_text("Pre-LN", "ReZero")[0]]),
    ("T-Fixup ends {:.2f} bits and {:.1f} BLEU ahead of Pre-LN.", lambda: ahead_on_real_text("T-Fixup", "Pre-LN")),
    (
        "Pre-LN at 5e-4 without a warm-up ends at {:.2f} bits. So a higher rate with a warm-up alone gives Pre-LN "
        "{:.2f} bits.",
        lambda: [final(BIG, PRE), final(BIG, PRE) - mean(real_text.read(RESULTS)["Pre-LN"].losses)],
    ),
    (
        "with the same warm-up and schedule, it ends at {:.2f} bits (`confounds`, three seeds)",
        lambda: [final("confounds", "post-adam-lr5e-4-const-wu1333-drop2")],
    ),
    ("The {:.0f} are of {:.0f} pairs of placements and {:.0f} papers.", lambda: published_orders()[:3]),
    ("{:.0f} are from memory (unknown), and {:.0f} of those that differ are", lambda: published_orders()[3:5]),
    ("{:.0f} of those that agree are pairs of one table", lambda: published_orders()[5:6]),
    ("In {:.0f} of the {:.0f} that differ, the paper has", lambda: published_orders()[6:]),
    ("person can repeat: {1} small models", lambda: made("placements")),
    ("Post-LN least ({:.2f} bits)", lambda: [mean(models.read(RESULTS)["Post-LN"].losses)]),
    (
        "the most sensitive: {:.2f} to {:.2f} bits are lost",
        lambda: minmax(of_the_bench("sensitivity", "T-Fixup") + of_the_bench("sensitivity", "Admin")),
    ),
    (
        "{:.2f}, without a warm-up. With one, its loss is only {:.2f} bits higher and its sensitivity {:.2f}",
        lambda: [
            of_the_bench("sensitivity", "Post-LN-init")[0],
            float(np.diff(of_the_bench("best_valid_loss", "Post-LN-init"))[0]),
            of_the_bench("sensitivity", "Post-LN-init")[1],
        ],
    ),
    ("bits below the constant guess of {:.2f}.", lambda: [models.read(RESULTS)["Post-LN"].guess]),
    ("At 3e-2 they learn little: they end at {:.1f} to {:.1f} bits.", at_the_top),
    ("tell {} of the {} pairs apart", lambda: told_apart([one.label for one in PLACEMENTS.values()])),
    ("the bench tells {} of the {} pairs apart, and", lambda: told_apart(models.models_of("placements-real"))),
    ("have the lowest, {:.2f} and {:.2f}, partly", lambda: sensitivities("DeepNorm", "Res-Post-LN")),
    (
        "best of all there, with {:.2f} bits. DeepNorm, the last but one of the placements on the bench, is sixth "
        "of sixteen ({:.2f}).",
        lambda: [at_depth(name, depth.DEEPER[-1]) for name in ("ReZero", "DeepNorm")],
    ),
    ("gains most, and ends at {:.2f} bits", lambda: [at_a_lower_rate("Post-LN-init")]),
    (
        "LayerNorm scaling least ({:.2f} bits)",
        lambda: [at_a_lower_rate("LayerNorm scaling") - at_depth("LayerNorm scaling", depth.FEWEST)],
    ),
    (
        "Pre-LN ({:.2f}) is ahead of B2T ({:.2f})",
        lambda: [at_depth("Pre-LN", depth.DEEPER[-1]), at_a_lower_rate("B2T")],
    ),
    ("T-Fixup loses {:.2f} bits, LayerNorm scaling {:.2f}", lambda: lost_by_depth("T-Fixup", "LayerNorm scaling")),
    (
        "the other nine {:.2f} to {:.2f}",
        lambda: minmax(
            lost_by_depth(
                *(
                    name
                    for name, said in depth.answers(RESULTS).items()
                    if said == ["loses"] and name not in ("T-Fixup", "LayerNorm scaling")
                )
            )
        ),
    ),
    ("but by {} ± {}, where at most 2 was asked (P1)", lambda: of_a_claim_of_others("P1")),
    ("but by {} a layer, where at most 1.1 was asked (P5)", lambda: of_a_claim_of_others("P5")[:1]),
    ("to the power of {:.2f} ± {:.2f}, and", lambda: of_a_claim_of_others("P2")),
    (
        "Sub-LN, Peri-LN and LayerNorm scaling take {:.2f}, {:.2f} and {:.2f} times as long",
        lambda: costs("sub-ln", "peri", "lns"),
    ),
    ("and QK-norm {:.2f} to {:.2f} times", lambda: minmax(costs("post-qk", "pre-qk"))),
]
"""Its sentences, with what the records have in the place of the numbers."""

# Rates; the rules' bounds; numbers of other papers; a ratio by the equations alone.
ELSEWHERE = "0.04 0.05 0.15 0.2 0.22 0.23 0.3 0.81 3.2 9.5 34.66 35.50 35.64 35.67 35.73"
"""Its other numbers, which no record has."""
