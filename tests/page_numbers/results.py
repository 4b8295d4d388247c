"""What docs/results.md says in numbers."""

from __future__ import annotations

import numpy as np

from docs.answers import (
    first_epoch,
    radam,
    radam_in_pre,
    whole_trainings,
)
from docs.committed import after_epoch, final, table
from docs.tables import collapse
from preln.report.core.statistics import mean
from preln.report.reference.translation import load as of_the_papers_figures
from tests.page_numbers.records import (
    AFTER,
    BERT,
    BIG,
    BOUNDS,
    GROWTH,
    GUESSES,
    LAST,
    LONG_POST,
    LONG_PRE,
    NONE,
    PAPER,
    POST,
    PRE,
    RADAM,
    RESULTS,
    SHARE,
    SHORT,
    SIZE,
    SMALL,
    Numbers,
    above_the_papers_losses,
    ahead,
    ahead_at_the_papers_size,
    ahead_before_the_drop,
    already_ahead_at_the_papers_size,
    bleu,
    closed,
    curve,
    in_pre,
    kept_at_the_papers_size,
    kept_elsewhere,
    longer_warm_up,
    minmax,
    of_seeds,
    papers_radam,
    radam_in_pre_behind,
    reached,
    seeds_of_radam,
    short_minus_long,
    theory,
    with_long_beta2,
)


def pretrained(run: str) -> float:
    return float(table(BERT, "pretraining").set_index("run")["final_valid_loss"][run])


def behind_the_paper() -> list[float]:
    """By how much Post-LN's mean BLEU in `paper-epoch` is below the paper's, after the paper's epochs 2 to 4."""
    papers = {
        entry.x: entry.y or np.nan
        for entry in of_the_papers_figures()
        if (entry.figure, entry.quantity, entry.placement, entry.optimizer) == (4, "bleu", "post", "adam")
    }
    ours = {epoch: mean(first_epoch.read(RESULTS, epoch)[first_epoch.POST].bleu) for epoch in (2, 3, 4)}
    return minmax(papers[epoch] - bleu for epoch, bleu in ours.items())


SAID: list[tuple[str, Numbers]] = [
    (
        "At the end Pre-LN has {:.2f} and {:.2f} bits, and Post-LN {:.2f} and {:.2f}.",
        lambda: [
            loss
            for one in (whole_trainings.PRE, whole_trainings.POST)
            for loss in whole_trainings.read(RESULTS)[one].losses
        ],
    ),
    (
        "Pre-LN already has {:.2f} and {:.2f}, and Post-LN {:.2f} and {:.2f}.",
        lambda: [
            loss
            for one in (whole_trainings.PRE, whole_trainings.POST)
            for loss in whole_trainings.read(RESULTS, after_epoch(whole_trainings.COMPARED))[one].losses
        ],
    ),
    ("With 0.999 it has {:.2f} to {:.2f} bits.", lambda: minmax(with_long_beta2().losses)),
    ("From the second row on, the BLEU of Post-LN is {:.1f} to {:.1f} lower", behind_the_paper),
    (
        "Post-LN's loss is {:.2f} and {:.2f} bits above the paper's, and Pre-LN's {:.2f} and {:.2f}.",
        lambda: [*above_the_papers_losses(first_epoch.POST), *above_the_papers_losses(first_epoch.PRE)],
    ),
    (
        "still falls, to {:.2f} (Post-LN's to {:.2f})",
        lambda: [
            mean([curve(SIZE, run, 12, seed, "train_loss") for seed in (1, 2, 3)]) for run in (LONG_PRE, LONG_POST)
        ],
    ),
    ("Of the last gradient, {:.3f} ± {:.3f} is left", lambda: list(kept_at_the_papers_size())),
    ("After shorter warm-ups, {:.0f} to {:.0f}% is left.", kept_elsewhere),
    (
        "held, it ends at {:.2f}, {:.2f} and {:.2f} bits after three epochs",
        lambda: first_epoch.read(RESULTS)[first_epoch.WITHOUT].losses,
    ),
    (
        "With the warm-up, the three seeds have {:.2f}, {:.2f} and {:.2f} at the same update,",
        lambda: first_epoch.read(RESULTS)[first_epoch.POST].losses,
    ),
    (
        "At the end Pre-LN is still ahead, by {:.2f} ± {:.2f} bits. In BLEU its lead is not shown: {:.1f} ± {:.1f}, "
        "where the paper has {:.1f}.",
        lambda: [
            *ahead_at_the_papers_size("valid_loss"),
            *ahead_at_the_papers_size("test_bleu"),
            float(first_epoch.papers(first_epoch.PRE, 4)[1]) - float(first_epoch.papers(first_epoch.POST, 4)[1]),
        ],
    ),
    (
        "After {:,.0f} of {:,.0f} updates (seven of twelve epochs), it is already {:.2f} ± {:.2f} bits ahead of where "
        "Post-LN ends",
        lambda: [
            *(curve(SIZE, LONG_PRE, epoch, column="updates") for epoch in (7, 12)),
            *already_ahead_at_the_papers_size(),
        ],
    ),
    (
        "There Post-LN still gains {:.2f} bits an epoch, and Pre-LN loses {:.2f}.",
        lambda: [
            abs(mean([curve(SIZE, run, 12, seed) - curve(SIZE, run, 11, seed) for seed in (1, 2, 3)]))
            for run in (LONG_POST, LONG_PRE)
        ],
    ),
    ("With three times the updates, {:.3f} is left](", lambda: longer_warm_up()[:1]),
    ("and ends at {:.2f} to {:.2f} at 5e-4.", lambda: minmax(of_seeds(SHORT))),
    (
        "three seeds end at {:.2f} to {:.2f} bits, {:.2f} ± {:.1f} above the long warm-up",
        lambda: [*minmax(of_seeds(SHORT)), *short_minus_long()],
    ),
    ("({:.1f} million parameters)", lambda: [table(BIG, "runs")["parameters"].max() / 1e6]),
    ("its rate has come to {:.3f}", lambda: [1313 / 1333]),
    (
        "before the drop, after two epochs of each, Pre-LN is ahead by {:.1f} bits",
        lambda: [curve(BIG, POST, 2) - curve(BIG, PRE, 2)],
    ),
    (
        "the three differ by {:.2f} bits at most, elsewhere by {:.1f} to {:.1f}",
        lambda: [
            max(np.ptp(of_seeds(run)) for run in (POST, PRE)),
            *minmax(np.ptp(of_seeds(run)).item() for run in (NONE, SHORT, RADAM)),
        ],
    ),
    (
        "By SGD at 0.5 it ends at {:.2f} without and at {:.2f} with",
        lambda: [final(BIG, f"post-sgd-lr0.5-wu{updates}-hold1333") for updates in (0, 1333)],
    ),
    (
        "ends {:.2f} ± {:.2f} bits and {:.1f} ± {:.1f} BLEU ahead",
        lambda: [*ahead("final_valid_loss"), *ahead("final_test_bleu")],
    ),
    ("Post-LN's third epoch by {:.2f} ± {:.2f} bits", ahead_before_the_drop),
    (
        "({:.2f} after two epochs, and {:.2f} after three)",
        lambda: [curve(BIG, "pre-adam-lr1e-3-const-drop2", 2), final(BIG, "post-adam-lr1e-3-wu1333")],
    ),
    (
        "At 5e-4, three seeds end at {:.2f}, {:.2f} and {:.2f}, and at 1e-3 one ends at {:.2f}.",
        lambda: [*of_seeds(NONE), final(BIG, "post-adam-lr1e-3-wu0-hold1333")],
    ),
    (
        "it ends at {:.2f}, {:.2f} and {:.2f} with three seeds. The means of Adam's three seeds are {:.2f} without "
        "a warm-up and {:.2f} with one. So RAdam closes {:.0f} ± {:.0f}% of the gap",
        lambda: [*of_seeds(RADAM), final(BIG, NONE), final(BIG, POST), *closed()],
    ),
    (
        "the three seeds have {:.2f} to {:.2f} bits, so the seed alone moves the loss by {:.1f}.",
        seeds_of_radam,
    ),
    (
        "own code, three seeds have {:.2f} to {:.2f}.",
        lambda: minmax(radam.read(RESULTS)[radam.ALONE["β2"]].losses),
    ),
    (
        "and β2 = 0.98, one seed has {:.2f}. With Xavier's draw as well, three seeds have {:.2f} to {:.2f}.",
        lambda: [*radam.read(RESULTS)[radam.ALONE["the batch"]].losses, *papers_radam(4, "valid_loss")],
    ),
    (
        "at 1e-3 ({:.2f} and {:.2f}, one",
        lambda: [final(BIG, "pre-radam-lr1e-3-linear4653"), final(BIG, "pre-adam-lr1e-3-const-drop2")],
    ),
    (
        "three seeds end at {:.2f} to {:.2f} bits, {:.2f} ± {:.2f} above Adam.",
        lambda: [*minmax(radam_in_pre.read(RESULTS)[radam_in_pre.RADAM_AT_THE_PAPERS].losses), *radam_in_pre_behind()],
    ),
    ("Adam at 5e-4 ({:.2f} to {:.2f})", lambda: minmax(of_seeds(PRE))),
    (
        "Adam with RAdam's schedule ends at {:.2f}. With a warm-up of 100 updates too, it ends at {:.2f}:",
        lambda: [in_pre(radam_in_pre.WITH_ITS_SCHEDULE), in_pre(radam_in_pre.WITH_A_WARMUP)],
    ),
    ("At 1e-4 it ends at {:.2f}", lambda: [final(BIG, "post-adam-lr1e-4-const")]),
    (
        "rate 1e-3 ends at {:.2f} and 5e-4 at {:.2f}",
        lambda: [final(BIG, "post-adam-lr1e-3-wu1333"), final(BIG, POST)],
    ),
    (
        "the warm-up to 1e-3 ({:.1f} and {:.1f})",
        lambda: [bleu(BIG, "post-adam-lr1e-4-const"), bleu(BIG, "post-adam-lr1e-3-wu1333")],
    ),
    ("(exponent {:.2f} ± {:.2f})", lambda: theory(BIG, LAST, "Post-LN decoder, translation")),
    ("({:.2f} ± {:.2f}; the theorem", lambda: theory(BIG, LAST, "Pre-LN decoder, translation")),
    (
        "multiplied by {:.2f} per layer towards the output",
        lambda: theory(BIG, GROWTH, "Post-LN decoder, translation")[:1],
    ),
    ("Pre-LN's by {:.2f} (the paper", lambda: theory(BIG, GROWTH, "Pre-LN decoder, translation")[:1]),
    (
        "W² are {:.0f} to {:.0f} times smaller, and of W¹ {:.0f} to {:.0f}",
        lambda: [*minmax(collapse(BIG)), *minmax(collapse(BIG, "W1"))],
    ),
    ("is at {:.2f} of what it was", lambda: theory(BIG, AFTER, "Post-LN decoder, translation")[:1]),
    (
        "fails in Pre-LN's decoder: {:.1f} ± {:.1f}% of its squared norms",
        lambda: theory(BIG, SHARE, "Pre-LN decoder, translation", 100),
    ),
    ("In its encoder, {:.1f} ± {:.1f}% are", lambda: theory(BIG, SHARE, "Pre-LN encoder, translation", 100)),
    (
        "the paper's Pre-LN has {:g} bits and its Post-LN {:g}.",
        lambda: [float(first_epoch.papers(one, 5)[0]) for one in (first_epoch.PRE, first_epoch.POST)],
    ),
    (
        "Losses end at {:.1f} to {:.1f}, the paper's",
        lambda: [final(BIG, PRE), final(BIG, "post-adam-lr1e-3-wu1333")],
    ),
    (
        "ends at {:.2f} and {:.2f}: below a constant guess",
        lambda: [final(SMALL, f"post-adam-lr{rate}-wu0") for rate in ("2e-3", "4e-3")],
    ),
    (
        "and {:.1f} to {:.1f} bits above itself",
        lambda: minmax(
            final(SMALL, f"post-adam-lr{rate}-wu0") - final(SMALL, f"post-adam-lr{rate}-wu600-hold600")
            for rate in ("2e-3", "4e-3")
        ),
    ),
    ("Post-LN ends near {:.1f}", lambda: [final(SMALL, "post-adam-lr2e-3-wu0-hold600")]),
    (
        "{:.1f} bits above Adam with a warm-up, {:.1f} bits below Adam at the same held peak, and {:.1f} above",
        lambda: [
            sign * (final(SMALL, "post-radam-lr2e-3-linear3602") - final(SMALL, f"post-adam-lr2e-3-{other}"))
            for sign, other in ((1, "wu600-hold600"), (-1, "wu0-hold600"), (1, "wu0"))
        ],
    ),
    ("is {:.1f} times as fast", lambda: [reached("post-lr3e-4-wu100-s1") / reached("pre-lr1e-3-wu0-s1")]),
    ("Post-LN has a loss of {:.2f} bits", lambda: [table(BERT, "pretraining")["loss"].iloc[0]]),
    (
        "after {:,.0f} updates instead of {:,.0f}",
        lambda: map(reached, ("pre-lr1e-3-wu0-s1", "post-lr3e-4-wu100-s1")),
    ),
    (
        "after {:.0f} updates with warm-up and after {:.0f} without",
        lambda: map(reached, ("post-lr1e-3-wu100-s1", "post-lr1e-3-wu0-s1")),
    ),
    (
        "at {:.2f} and {:.2f} bits, and Pre-LN at {:.2f}",
        lambda: map(pretrained, ("post-lr1e-3-wu100-s1", "post-lr1e-3-wu0-s1", "pre-lr1e-3-wu0-s1")),
    ),
    (
        "({:.1f}% of MRPC's dev, {:.1f}% of RTE's)",
        lambda: [100 * float(share) for share in table(BERT, "finetuning").groupby("task")["majority"].first()],
    ),
]
"""Its sentences, with what the records have in the place of the numbers."""

# sacreBLEU's version; settings; what was tried and not recorded; shares of a run; RAdam's factor; an earlier run.
ELSEWHERE = (
    f"{PAPER} {GUESSES} {BOUNDS} 2.6 0.5 1.0 0.98 9.72 10.92 9.73 11.31 0.0001 0.005 3.6 3.0 "
    "7.9 0.999 0.82 0.96 1.1 0.13 0.06 6.17 4.5 5.0 1.2"
)
"""Its other numbers, which no record has."""
