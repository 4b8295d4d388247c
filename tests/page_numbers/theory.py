"""What docs/theory.md says in numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from docs.committed import table
from docs.tables import bars
from tests.page_numbers.records import (
    BIG,
    BOUNDS,
    GROWTH,
    LAST,
    LEMMA_1,
    PAPER,
    SHARE,
    THEORY,
    VARIANCE_1,
    VARIANCE_D,
    Numbers,
    bars_at_the_papers_size,
    growth,
    interval,
    kept_at_the_papers_size,
    minmax,
    theory,
    variants,
)

EVERYTHING = "no-dropout+no-label-smoothing+separate-output+unpacked-projections+xavier-feed-forward"


def excesses(study: str) -> pd.Series:
    """By how much all but an eighth of the squared norms stay within their mean, in every translation model."""
    measured = table(study, "theory")
    return measured.loc[(measured["quantity"] == EXCESS) & measured["model"].str.contains("translation"), "measured"]


def post_shares(study: str) -> list[float]:
    """How many of Post-LN's squared norms are more than a tenth above their mean with Xavier's draw, in percent."""
    stacks = ("encoder", "decoder")
    return [theory(study, SHARE, f"Post-LN {stack}, translation, xavier-feed-forward", 100)[0] for stack in stacks]


EXCESS = "excess over their mean that all but 0.125 of the squared norms stay within, last layer"


def unbiased(variant: str) -> float:
    """Post-LN's last bar of W² without the bias of the mini-batches' noise."""
    recorded = table(THEORY, "figure-3")
    of_model = (recorded["model"] == "Post-LN, initial") & (recorded["matrix"] == "W2") & (recorded["layer"] == 6)
    (row,) = (row for _, row in recorded[of_model & (recorded["variant"] == variant)].iterrows())
    return float(row["unbiased"])


def ratios(model: str, matrix: str, variant: str) -> pd.Series:
    """A variant's bars over the paper's, by layer."""
    recorded = table(THEORY, "figure-3")
    of_model = (recorded["model"] == f"{model}, initial") & (recorded["matrix"] == matrix) & (recorded["depth"] == 6)
    return recorded[of_model & (recorded["variant"].fillna("") == variant)].set_index("layer")["ratio"]


def changes(matrix: str, variant: str) -> list[float]:
    """By how many percent a variant's bars are above those of the models as they are trained: lowest, highest."""
    models = ("Post-LN, initial", "Pre-LN, initial")
    found = pd.concat([bars(THEORY, model, matrix, variant) / bars(THEORY, model, matrix) for model in models])
    return [100 * (found.min() - 1), 100 * (found.max() - 1)]


def by_depth(model: str) -> list[float]:
    """The last layer's W² by depth."""
    recorded = table(THEORY, "figure-3")
    of_last = (recorded["matrix"] == "W2") & (recorded["depth"] == recorded["layer"]) & recorded["variant"].isna()
    return list(recorded[of_last & (recorded["model"] == model)].sort_values("depth")["measured"])


def post_over_pre() -> list[float]:
    """Post-LN's last bar of figure 3 over Pre-LN's."""
    return [bars(THEORY, "Post-LN, initial")[6] / bars(THEORY, "Pre-LN, initial")[6]]


SAID: list[tuple[str, Numbers]] = [
    (
        "[After as long a warm-up as the paper's](#after-the-warm-up), {:.3f} ± {:.3f} is left (three seeds).",
        lambda: list(kept_at_the_papers_size()),
    ),
    ("and {:.3f} ± {:.3f} of the last layer's is left.", lambda: list(kept_at_the_papers_size())),
    (
        "it is {:.3f} to {:.3f} in every layer, and {:.3f} in the last (root",
        lambda: [*minmax(bars_at_the_papers_size("after warm-up")), bars_at_the_papers_size("after warm-up")[-1]],
    ),
    (
        "At initialisation it grows from {:.2f} to {:.2f} from the first layer to the last",
        lambda: [bars_at_the_papers_size("initial")[layer] for layer in (0, -1)],
    ),
    ("is {:.2f} in Post-LN (the paper: 1.66)", lambda: [bars(THEORY, "Post-LN, initial")[6]]),
    ("and {:.2f} in Pre-LN (the paper: 0.29)", lambda: [bars(THEORY, "Pre-LN, initial")[6]]),
    (
        "is {:.2f} ± {:.2f} for Post-LN and {:.2f} ± {:.2f} for Pre-LN",
        lambda: [*theory(THEORY, VARIANCE_D, LEMMA_1[1]), *theory(THEORY, VARIANCE_D, "Pre-LN encoder, proofs")],
    ),
    (
        "are then {:.2f} ± {:.2f} and {:.2f} ± {:.2f}: at",
        lambda: [*theory(THEORY, VARIANCE_1, LEMMA_1[1]), *theory(THEORY, VARIANCE_1, "Pre-LN encoder, proofs")],
    ),
    ("grows by {:.2f} ± {:.2f} a layer", lambda: theory(THEORY, GROWTH, "Post-LN encoder, proofs")),
    ("by a factor of {:.2f} ± {:.2f} per layer", lambda: theory(THEORY, GROWTH, "Post-LN decoder, proofs")),
    ("the factor is {:.2f} ± {:.2f} at 6-6", lambda: theory(THEORY, GROWTH, "Post-LN decoder, translation")),
    ("(`unpacked-projections`) it is {:.2f}.", lambda: [growth("unpacked-projections")]),
    ("multiplied by {:.2f} per layer", lambda: theory(THEORY, GROWTH, "Pre-LN decoder, translation")[:1]),
    ("are {:.1f} to {:.1f} times the paper's", lambda: minmax(ratios("Pre-LN", "W2", ""))),
    ("grow from {:.2f} to {:.2f}; the", lambda: minmax(bars(THEORY, "Post-LN, initial"))),
    ("Post-LN's is {:.1f} times Pre-LN's at 6-6", post_over_pre),
    ("With Xavier's rule, {:.1f} to {:.1f}% do, and", lambda: minmax(post_shares(THEORY))),
    ("and {:.0f} to {:.0f}% at width 256", lambda: minmax(post_shares(BIG))),
    (
        "squared norms stay within {:.0f}% of their mean. (With two seeds, those of `confounds` stay within {:.0f}%.)",
        lambda: [100 * max(float(excesses(study).max()) for study in of) for of in ((THEORY, BIG), ("confounds",))],
    ),
    (
        "packed, it is {:.2f} to {:.2f}; unpacked, {:.2f} to {:.2f}.",
        lambda: [
            *minmax(growth(name) for name in variants() if "unpacked" not in name),
            *minmax(growth(name) for name in variants() if "unpacked" in name),
        ],
    ),
    (
        "It is then {:.2f} ± {:.2f}, and",
        lambda: interval(THEORY, "no-dropout+no-label-smoothing+xavier-feed-forward", model="Post-LN"),
    ),
    ("noise it is {:.2f}", lambda: [unbiased("no-dropout+no-label-smoothing+xavier-feed-forward")]),
    ("raise the growth to {:.2f} a layer", lambda: [growth(EVERYTHING)]),
    (
        "has {:.2f} for Post-LN's first bar, and {:.2f} and {:.2f} for Pre-LN's",
        lambda: [
            bars(THEORY, "Post-LN, initial", variant=EVERYTHING)[1],
            *(bars(THEORY, "Pre-LN, initial", variant=EVERYTHING)[layer] for layer in (1, 6)),
        ],
    ),
    (
        "label smoothing, Post-LN has {:.2f}",
        lambda: interval(THEORY, "no-dropout+no-label-smoothing+xavier-feed-forward", model="Post-LN")[:1],
    ),
    (
        "is {:.2f} with torch's default, {:.2f} with Xavier's rule",
        lambda: [bars(THEORY, "Post-LN, initial", variant=name)[6] for name in ("", "xavier-feed-forward")],
    ),
    (
        "({:.0f}% below in layer 1)",
        lambda: [100 * (1 - ratios("Pre-LN", "W2", "unpacked-projections")[1])],
    ),
    (
        "they are {:.0f} to {:.0f}% above in W²",
        lambda: minmax(100 * (ratios("Pre-LN", "W2", "unpacked-projections+xavier-feed-forward") - 1)),
    ),
    (
        "W²'s are {:.0f} to {:.0f}% larger without dropout, {:.0f} to {:.0f}% without label smoothing, "
        "and {:.0f} to {:.0f}% with mini",
        lambda: [
            change
            for variant in ("no-dropout", "no-label-smoothing", "quarter-batch")
            for change in changes("W2", variant)
        ],
    ),
    (
        "W¹'s are {:.0f} to {:.0f}% larger without dropout, {:.0f} to {:.0f}% with the smaller",
        lambda: [*changes("W1", "no-dropout"), *changes("W1", "quarter-batch")],
    ),
    ("depth: {:.2f}, {:.2f}, {:.2f}, {:.2f}, {:.2f} at 6-6 to 14-14", lambda: by_depth("Pre-LN, initial")),
    ("and it falls to {:.2f}", lambda: [by_depth("Pre-LN, initial")[1] / by_depth("Pre-LN, initial")[0]]),
    (
        "at 6-6 is {:.2f} instead of {:.2f}",
        lambda: [interval(THEORY, "separate-output")[0], interval(THEORY, "")[0]],
    ),
    (
        "is {:.3f} ± {:.3f}, and {:.3f} ± {:.3f} if it is shared",
        lambda: [*interval(BIG, "separate-output"), *interval(BIG, "")],
    ),
    ("with an exponent of {:.2f} ± {:.2f}.", lambda: theory(BIG, LAST, "Pre-LN decoder, translation")),
    (
        "at width 512 is about {:.1f}",
        lambda: [float(np.polyfit(np.log([8, 10, 12, 14]), np.log(by_depth("Pre-LN, initial")[1:]), 1)[0])],
    ),
    (
        "{:.2f} to {:.2f} in layers 1 to 5 and {:.2f} in the last",
        lambda: [*minmax(bars(THEORY, "Post-LN, after warm-up")[:5]), bars(THEORY, "Post-LN, after warm-up")[6]],
    ),
    (
        "{:.1f} ± {:.1f}% of the squared norms exceed",
        lambda: theory(THEORY, SHARE, "Pre-LN decoder, translation", 100),
    ),
    ("exceed it by at least {:.1f} ± {:.1f}%", lambda: theory(THEORY, EXCESS, "Pre-LN decoder, translation", 100)),
    ("At width 256 the share is {:.1f} ± {:.1f}%", lambda: theory(BIG, SHARE, "Pre-LN decoder, translation", 100)),
    (
        "{:.1f} ± {:.1f}% in the decoder and {:.1f} ± {:.1f}% in the encoder",
        lambda: [
            number
            for stack in ("decoder", "encoder")
            for number in theory(THEORY, SHARE, f"Pre-LN {stack}, translation, xavier-feed-forward", 100)
        ],
    ),
    ("encoder layer: {:.1f} ± {:.1f}%", lambda: theory(THEORY, SHARE, "Pre-LN encoder, translation", 100)),
    (
        "{:.2f} ± {:.2f} (Post-LN) and {:.2f} ± {:.2f} (Pre-LN)",
        lambda: [*theory(THEORY, SHARE, LEMMA_1[1]), *theory(THEORY, SHARE, "Pre-LN encoder, proofs")],
    ),
]
"""Its sentences, with what the records have in the place of the numbers."""

# Sections; roots and logarithms of settings; what tests/unit/test_theory_exact.py measures.
ELSEWHERE = f"{PAPER} {BOUNDS} 3.3 3.4 0.87 9.2 22.6 1.50 0.06 1.99 0.07 2.92 0.09"
"""Its other numbers, which no record has."""
