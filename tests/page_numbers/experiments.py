"""What docs/experiments.md says in numbers."""

from __future__ import annotations

import numpy as np

from docs.committed import final, table
from preln.report.core.statistics import mean
from preln.schedules.inverse_sqrt import InverseSqrt
from tests.page_numbers.records import (
    BIG,
    NONE,
    POST,
    PRE,
    SHORT,
    Numbers,
    amplified,
    curve,
    first_steps_of_post,
    harm_at_the_same_sum,
    last_gradients,
    minmax,
    of_seeds,
    of_the_control,
    small_sums,
    traced,
)

MAP = "failure-map"


def raised_by_the_warm_up(warmup: int) -> float:
    """By how much a warm-up raises the largest rate at which Post-LN trains, with small batches."""
    limits = table("failure-map", "failure-limits").set_index(["model", "warmup"])["limit"]
    of_small = limits["Post-LN, 2 epochs, batch tokens 1024"]
    return float(of_small[warmup] / of_small[0])


def sharpness(model: str, quantity: str) -> tuple[float, float]:
    """What the traces of the first 200 updates have of the sharpness: the mean of three seeds, with half of its
    interval."""
    traces = table("first-updates", "first-updates")
    (row,) = (row for _, row in traces.iterrows() if row["runs"].startswith(model) and row["quantity"] == quantity)
    return float(row["mean"]), float(row["high"] - row["low"]) / 2


SAID: list[tuple[str, Numbers]] = [
    ("Post-LN's first step is {:.1f} to {:.1f}. This is", first_steps_of_post),
    (
        "Post-LN-init ends at {:.2f} to {:.2f} bits and BLEU {:.1f} to {:.1f}. That is {:.2f} bits below Post-LN",
        lambda: [
            *minmax(of_the_control().losses),
            *minmax(of_the_control().bleu),
            mean(of_seeds(POST)) - mean(of_the_control().losses),
        ],
    ),
    (
        "that ends at {:.2f} to {:.2f} bits with a warm-up and the same decay, and at {:.2f} to {:.2f} with its",
        lambda: [
            *minmax(curve("confounds", "pre-adam-lr5e-4-wu1333", 3, seed) for seed in (1, 2, 3)),
            *minmax(of_seeds(PRE)),
        ],
    ),
    (
        "ends {:.2f} bits above the one with it. At 5e-4 they differ by {:.2f} bits.",
        lambda: np.subtract(small_sums()[:2], small_sums()[2:]),
    ),
    (
        "learns nothing at these rates ({:.2f} bits at 1e-3, and {:.2f} to {:.2f} at 5e-4, three seeds, in",
        lambda: [final(BIG, "post-adam-lr1e-3-wu0-hold1333"), *minmax(of_seeds(NONE))],
    ),
    (
        "ends {:.2f} bits higher at 5e-4, where its seeds with the warm-up are {:.2f} bits apart. At 1e-3 it ends "
        "{:.2f} bits higher, above",
        harm_at_the_same_sum,
    ),
    (
        "the rate of `shift` has fallen to {:.2f} of the peak",
        lambda: [InverseSqrt(1.0, warmup=0, decay_period=1333, anchor="shift").rate(1333)],
    ),
    (
        "up to 6.5e-3: {:.1f} times as large. This warm-up lasts the whole run, so its rates sum to half of what a "
        "held peak would give. If sums are compared instead of peaks, the limit is {:.1f} times as large. With 180 "
        "updates the limit is {:.1f} times as large.",
        lambda: [raised_by_the_warm_up(560), raised_by_the_warm_up(560) / 2, raised_by_the_warm_up(180)],
    ),
    (
        "6.5e-3 with 560 updates ends at {:.2f} bits, and 3e-3 without a warm-up, with nearly the same sum, at {:.2f}.",
        lambda: [final(MAP, f"post-adam-lr{cell}") for cell in ("6.5e-3-const-wu560", "3e-3-const")],
    ),
    (
        "the loss falls from {:.2f} to {:.2f}, though",
        lambda: [final(MAP, f"post-adam-lr1.4e-3-const{batch}") for batch in ("", "-epochs8-batchtokens4096")],
    ),
    (
        "the larger one: {:.2f}, and Post-LN's is {:.2f} (W²",
        lambda: [mean(last_gradients("confounds", f"{placement}-6")) for placement in ("post-init", "post")],
    ),
    (
        "it is the smaller one, {:.2f} and {:.2f} (`placements`",
        lambda: [mean(last_gradients("placements", f"{placement}-6")) for placement in ("post-init", "post")],
    ),
    (
        "At first it is {:.0f} ± {:.0f} in Post-LN, {:.0f} ± {:.0f} in Pre-LN and {:.0f} ± {:.0f} in Post-LN-init",
        lambda: [
            number
            for model in ("Post-LN, no", "Pre-LN, no", "Post-LN-init, no")
            for number in sharpness(model, "sharpness")
        ],
    ),
    (
        "the sharpness of Post-LN rises to {:.0f} ± {:.0f}, and without one to {:.0f} ± {:.0f}.",
        lambda: [
            number for warm_up in ("warm-up", "no") for number in sharpness(f"Post-LN, {warm_up}", "largest_sharpness")
        ],
    ),
    ("twice Pre-LN's step is {:.1f}, and", lambda: [2 * traced("Pre-LN, no warm-up").largest_step]),
    ("differ by {:.2f}, where 0.2", lambda: [amplified("post")[0] - amplified("pre")[0]]),
    ("are up to {:.1f} bits apart; but", lambda: [np.ptp(of_seeds(SHORT)).item()]),
    (
        "Post-LN's largest step is {:.2f} times Pre-LN's",
        lambda: [traced("Post-LN, no warm-up").largest_step / traced("Pre-LN, no warm-up").largest_step],
    ),
    (
        "Pre-LN's is {:.1f} times Post-LN's",
        lambda: [traced("Pre-LN, no warm-up").largest_step / traced("Post-LN, no warm-up").largest_step],
    ),
]
"""Its sentences, with what the records have in the place of the numbers."""

# The rules' bounds; rates; steps at their limit; a cosine; constant guesses.
ELSEWHERE = "0.15 0.2 0.25 0.3 0.5 0.9 1.25 1.4 1.5 2.2 6.5 1.00 8.25 9.90"
"""Its other numbers, which no record has."""
