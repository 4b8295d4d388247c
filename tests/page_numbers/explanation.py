"""What docs/explanation.md says in numbers."""

from __future__ import annotations

import pandas as pd

from docs.answers import (
    first_epoch,
)
from docs.committed import table
from docs.tables import bars
from preln.report.core.statistics import mean
from preln.schedules.inverse_sqrt import InverseSqrt
from preln.translation.report.budgets import WARMED_UP, of_the_paper
from tests.page_numbers.records import (
    DEPTH,
    LAST,
    LEMMA_1,
    PAPER,
    POST,
    RESULTS,
    SIZE,
    THEORY,
    Numbers,
    amplified,
    bars_at_the_papers_size,
    first_steps,
    first_steps_of_post,
    gained_by_a_short_warm_up,
    harm_at_the_same_sum,
    interval,
    minmax,
    of_seeds,
    of_the_control,
    small_sums,
    theory,
    traced,
)

AS_THE_PAPER = "no-dropout+no-label-smoothing+xavier-feed-forward"


def papers_range(warmup: int, rate: float) -> tuple[float, float, float]:
    """The BLEU that the paper's curve with the warm-up has where it has spent what a run without the full one spends,
    if the rate decays from the end of its warm-up on; and the range of it."""
    schedule = InverseSqrt(rate, warmup, "warmup", WARMED_UP.warmup)
    (found,) = (one for one in of_the_paper() if one.schedule == schedule)
    return found.value, found.low, found.high


def larger_step(layers: int) -> float:
    """By how much Post-LN's first step at the small rate is larger than Pre-LN's, of means over three seeds."""
    post, pre = (mean(first_steps(placement, 5e-7, layers)) for placement in ("post", "pre"))
    return post / pre


def lost_by_the_control() -> tuple[float, float]:
    """How many times smaller the gradient of the first decoder layer of Post-LN-init becomes in the first updates: the
    least and the most of the seeds."""
    found = []
    for folder in sorted((RESULTS / "first-updates/first-updates").glob("post-init-*")):
        gradient = pd.read_csv(folder / "updates.csv")["gradient_norm.decoder.1"].dropna()
        found.append(gradient.iloc[0] / gradient.min())
    return min(found), max(found)


def without_warmup(name: str, quantity: str) -> tuple[float, float]:
    """A number of the first updates of a model without a warm-up, with half of its 95% interval."""
    runs = f"{name}, no warm-up, held to 1333, inverse sqrt"
    found = table("first-updates", "first-updates")
    (row,) = (row for _, row in found.iterrows() if row["runs"] == runs and row["quantity"] == quantity)
    return float(row["mean"]), float(row["high"] - row["low"]) / 2


SAID: list[tuple[str, Numbers]] = [
    ("by {:.1f} to {:.1f}, and unrelated states", first_steps_of_post),
    ("how frequent each token is, has {:.2f} (three", lambda: [table(SIZE, "runs")["constant_guess"].dropna().iloc[0]]),
    (
        "Post-LN has {:.2f} to {:.2f} bits a token with",
        lambda: minmax(first_epoch.read(RESULTS)[first_epoch.POST].losses),
    ),
    (
        "Without one it has {:.2f} to {:.2f} bits.",
        lambda: minmax(first_epoch.read(RESULTS)[first_epoch.WITHOUT].losses),
    ),
    (
        "three seeds have {:.2f} in the last layer.",
        lambda: [bars_at_the_papers_size("after warm-up")[-1]],
    ),
    (
        "that gradient falls {:.0f}- to {:.0f}-fold; both recover",
        lambda: [round(factor, -1) for factor in lost_by_the_control()],
    ),
    ("With a short one it ends {:.2f} bits lower (three seeds each)", lambda: [gained_by_a_short_warm_up()]),
    ("It ends at {:.2f} to {:.2f} bits, and Post-LN with", lambda: minmax(of_the_control().losses)),
    ("the warm-up at {:.2f} to {:.2f} ([three", lambda: minmax(of_seeds(POST))),
    (
        "| 8.45 | {:.1f} ({:.1f} to {:.1f}), or {:.1f} ({:.1f} to {:.1f}) | | 500 updates | 5e-4 | 31.16 | {:.1f} "
        "({:.1f} to {:.1f}) | | 500 updates | 1e-3 | 2.77 | {:.1f} ({:.1f} to {:.1f}) |",
        lambda: [
            number
            for warmup, peak in ((0, 1e-3), (0, 5e-4), (500, 5e-4), (500, 1e-3))
            for number in papers_range(warmup, peak)
        ],
    ),
    (
        "Post-LN ends {:.2f} bits higher at 5e-4, and {:.2f} bits at 1e-3",
        lambda: [harm_at_the_same_sum()[number] for number in (0, 2)],
    ),
    (
        "ends at {:.2f} bits at 1e-3, and at {:.2f} at 5e-4. With a warm-up and the same sum of rates, it ends at "
        "{:.2f} and {:.2f} (one",
        small_sums,
    ),
    (
        "are {:.3f} ± {:.3f} and {:.3f} ± {:.3f} (forty seeds)",
        lambda: [*theory(THEORY, DEPTH, LEMMA_1[1]), *theory(THEORY, DEPTH, "Pre-LN encoder, proofs")],
    ),
    (
        "is {:.2f} ± {:.2f} at initialisation, and Post-LN's {:.2f} ± {:.2f} (three seeds)",
        lambda: [number for name in ("Post-LN-init", "Post-LN") for number in without_warmup(name, "last_gradient")],
    ),
    (
        "and a is {:.2f} ± {:.2f}. For its last gradient, a is {:.2f} ± {:.2f}.",
        lambda: [*amplified("post"), *amplified("post", "gradient")],
    ),
    ("The control, Post-LN-init, has an a of {:.2f} ± {:.2f}", lambda: amplified("post-init")),
    ("trains too, and its a is {:.2f} ± {:.2f}", lambda: amplified("pre")),
    (
        "are {:.1f} times as large as Pre-LN's with two layers, and {:.1f} times with 18",
        lambda: map(larger_step, (2, 18)),
    ),
    (
        "is {:.1f} ± {:.1f} in Post-LN, {:.2f} ± {:.2f} in Pre-LN and {:.2f} ± {:.2f} in Post-LN-init (three",
        lambda: [
            number
            for name in ("Post-LN", "Pre-LN", "Post-LN-init")
            for number in without_warmup(name, "largest_change")
        ],
    ),
    ("With the warm-up it is {:.3f} in Post-LN;", lambda: [traced("Post-LN, warm-up of 1,333").largest_step]),
    (
        "Today's fairseq gives {:.2f} ± {:.2f} and {:.2f} ± {:.2f}",
        lambda: [number for name in ("Post-LN", "Pre-LN") for number in interval(THEORY, "", model=name)],
    ),
    (
        "and label smoothing, Post-LN has {:.2f} ± {:.2f}, but Pre-LN has {:.2f}.",
        lambda: [
            *interval(THEORY, AS_THE_PAPER, model="Post-LN"),
            bars(THEORY, "Pre-LN, initial", variant=AS_THE_PAPER)[6],
        ],
    ),
    ("the exponent is {:.2f} ± {:.2f} (ten", lambda: theory(THEORY, LAST, "Pre-LN decoder, translation")),
]
"""Its sentences, with what the records have in the place of the numbers."""

# A cosine; the bound of a rule; how far unrelated states are apart.
ELSEWHERE = f"{PAPER} 1.00 0.3 1.4"
"""Its other numbers, which no record has."""
