"""What docs/claims.md says in numbers."""

from __future__ import annotations

import re

import numpy as np

from docs.answers import (
    gradient_after_warmup,
    whole_trainings,
)
from docs.answers.iwslt14 import GUESS
from docs.committed import after_epoch, claims, final, table
from preln.report.core.statistics import estimate, mean
from tests.page_numbers.records import (
    BIG,
    BOUNDS,
    GROWTH,
    GUESSES,
    LAST,
    LEMMA_1,
    PAPER,
    POST,
    QUICK,
    RADAM,
    RESULTS,
    SHARE,
    SHORT,
    SMALL,
    THEORY,
    VARIANCE_1,
    Numbers,
    ahead,
    ahead_at_the_higher_rate,
    ahead_at_the_papers_size,
    ahead_before_the_drop,
    already_ahead_at_the_papers_size,
    behind_on_the_map,
    bleu,
    closed,
    closed_by_seeds,
    curve,
    gained_by_a_short_warm_up,
    kept_at_the_papers_size,
    kept_elsewhere,
    longer_warm_up,
    minmax,
    of_seeds,
    radam_in_pre_behind,
    shares,
    short_minus_long,
    theory,
    whole_trainings_ahead,
    with_long_beta2,
)


def closed_from_the_guess() -> list[float]:
    """The same of the gap between the constant guess and Adam with a warm-up."""
    pairs = zip(of_seeds(RADAM), of_seeds(POST), strict=True)
    return [100 * (GUESS - radam) / (GUESS - warmed_up) for radam, warmed_up in pairs]


def closed_from_the_guess_in_small() -> float:
    """The same of `iwslt14-cpu`."""
    guess = table(SMALL, "runs")["constant_guess"].iloc[0]
    radam, warmed_up = (final(SMALL, f"post-{run}") for run in ("radam-lr2e-3-linear3602", "adam-lr2e-3-wu600-hold600"))
    return float(100 * (guess - radam) / (guess - warmed_up))


def closed_by_radam() -> tuple[float, ...]:
    """How much of the gap between the held peak and the warm-up RAdam closes, in percent; the loss of the held peak,
    and twice that of the rate that decays."""
    runs = ("radam-lr2e-3-linear3602", "adam-lr2e-3-wu0-hold600", "adam-lr2e-3-wu600-hold600", "adam-lr2e-3-wu0")
    radam, held, warmed_up, decaying = (final(SMALL, f"post-{run}") for run in runs)
    assert decaying < radam
    return 100 * (held - radam) / (held - warmed_up), held, decaying, decaying


def bounded(variant: str) -> list[float]:
    """The shares of Pre-LN's encoder and decoder with a variant, each with half of its interval."""
    models = (f"Pre-LN {stack}, translation, {variant}" for stack in ("encoder", "decoder"))
    return [number for model in models for number in theory(BIG, SHARE, model)]


def growths(model: str) -> list[float]:
    """The growth a layer in each study that has the theory."""
    return [theory(study, GROWTH, model)[0] for study in (QUICK, BIG, THEORY)]


def bleu_of_first(run: str) -> float:
    return float(table(BIG, "runs").set_index("run")["final_test_bleu"][f"{run}-s1"])


def to_the_bound(study: str) -> float:
    """How far C14's comparison is from its bound."""
    asked = re.findall(r": (-?[\d.]+) \(one seed\), asked: at most ([\d.]+)", claims(study)["ours"]["C14"])
    value, bound = (float(found) for found in asked[0])
    return abs(value - bound)


SAID: list[tuple[str, Numbers]] = [
    ("updates at half the paper's width, {:.3f} is left (one seed)", lambda: longer_warm_up()[:1]),
    (
        "end {:.3f} and {:.3f} bits below Post-LN's, but two seeds leave ±{:.2f},",
        lambda: [*whole_trainings_ahead(), estimate(whole_trainings_ahead()).half],
    ),
    ("has the other sign ({:.2f} ± {:.2f}, three seeds", radam_in_pre_behind),
    (
        "of two seeds meets the bound (−{:.3f} and −{:.3f})",
        lambda: whole_trainings_ahead(after_epoch(whole_trainings.COMPARED)),
    ),
    ("With 0.999 it has {:.2f} to {:.2f} bits, where", lambda: minmax(with_long_beta2().losses)),
    ("{:.3f} ± {:.3f} of the gradient is left after it", lambda: list(kept_at_the_papers_size())),
    ("of the other studies, {:.0f} to {:.0f}% is left.", kept_elsewhere),
    ("in `paper-epoch` by {:.2f} ± {:.2f} (three seeds each)", lambda: list(ahead_at_the_papers_size("valid_loss"))),
    ("at the paper's size, the claim holds (−{:.2f} ± {:.2f} bits, three seeds", already_ahead_at_the_papers_size),
    (
        "tokens, at half the rate: {:.2f} is left (one seed)",
        lambda: [gradient_after_warmup.read(RESULTS, "confounds") or np.nan],
    ),
    (
        "and at 1e-3 (−{:.2f}, one seed). But Pre-LN at 1e-3 is {:.2f} bits behind Post-LN at 5e-4",
        lambda: [
            ahead_at_the_higher_rate(),
            curve(BIG, "pre-adam-lr1e-3-const-drop2", 2) - of_seeds(POST)[0],
        ],
    ),
    (
        "RAdam closes {:.0f}% at 5e-4 ({:.0f}%, {:.0f}% and {:.0f}%), and {:.0f}% in `iwslt14-cpu`",
        lambda: [mean(closed_from_the_guess()), *closed_from_the_guess(), closed_from_the_guess_in_small()],
    ),
    (
        "it closes {:.0f}%, {:.0f}% and {:.0f}% with three seeds, so {:.0f} ± {:.0f}%, which is unclear.",
        lambda: [*closed_by_seeds(), *closed()],
    ),
    ("it ends [{:.2f} ± {:.1f} bits above the long", short_minus_long),
    ("was known: {:.2f} bits above.", lambda: [of_seeds(SHORT)[0] - of_seeds(POST)[0]]),
    ("At width 256 it is {:.3f} ± {:.3f} and {:.3f} ± {:.3f}:", lambda: bounded("xavier-feed-forward")),
    ("C14 is {:.3f} bits from its bound in `quick`", lambda: [to_the_bound(QUICK)]),
    ("and {:.2f} in `iwslt14-cpu`", lambda: [to_the_bound(SMALL)]),
    ("Lemma 1 is {:.3f} ± {:.3f} at width 128", lambda: theory(QUICK, *LEMMA_1)),
    ("and {:.3f} ± {:.3f} at width 512", lambda: theory(THEORY, *LEMMA_1)),
    ("is now {:.2f} ± {:.2f}, and at most 1.19", lambda: theory(THEORY, VARIANCE_1, LEMMA_1[1])),
    ("is {:.2f} at width 64", lambda: [max(shares(QUICK))]),
    ("{:.2f} to {:.2f} at width 256", lambda: minmax(shares(BIG))),
    ("{:.2f} to {:.2f} at width 512", lambda: minmax(shares(THEORY))),
    (
        "it is {:.3f} ± {:.3f} in the encoder and {:.3f} ± {:.3f} in the decoder at width 512",
        lambda: [
            number
            for stack in ("encoder", "decoder")
            for number in theory(THEORY, SHARE, f"Pre-LN {stack}, translation, xavier-feed-forward")
        ],
    ),
    (
        "factor per layer is {:.2f}, and the appendix has 1.22",
        lambda: theory(THEORY, GROWTH, "Post-LN encoder, proofs")[:1],
    ),
    ("There the factor is {:.2f}, which meets", lambda: theory(THEORY, GROWTH, "Post-LN decoder, proofs")[:1]),
    (
        "factors of {:.2f} to {:.2f}, where 0.85 to 1.15",
        lambda: minmax(growths("Pre-LN encoder, proofs") + growths("Pre-LN decoder, proofs")),
    ),
    ("at width 256 (exponent {:.2f}", lambda: theory(BIG, LAST, "Pre-LN decoder, translation")[:1]),
    ("faster at width 512 ({:.2f})", lambda: theory(THEORY, LAST, "Pre-LN decoder, translation")[:1]),
    (
        "ends at {:.1f} and {:.1f} bits",
        lambda: [final(SMALL, f"post-adam-lr{rate}-wu0") for rate in ("2e-3", "4e-3")],
    ),
    ("a warm-up gives {:.1f}", lambda: [final(SMALL, "post-adam-lr2e-3-wu600-hold600")]),
    (
        "at a rate of 0.5, by {:.1f} bits",
        lambda: [final(BIG, "post-sgd-lr0.5-wu0-hold1333") - final(BIG, "post-sgd-lr0.5-wu1333-hold1333")],
    ),
    (
        "by {:.1f} bits in `quick`, {:.1f} in `iwslt14-cpu` and {:.1f} in `iwslt14-50k-cpu`",
        lambda: [
            final(QUICK, "post-adam-lr5e-4-const") - final(QUICK, "post-adam-lr2e-3-wu400-hold400"),
            final(SMALL, "post-adam-lr5e-4-const") - final(SMALL, "post-adam-lr2e-3-wu600-hold600"),
            final(BIG, "post-adam-lr1e-4-const") - final(BIG, POST),
        ],
    ),
    ("at 5e-4 by {:.2f} ± {:.2f} bits, and", lambda: ahead("final_valid_loss")),
    (
        "equal in `iwslt14-50k-cpu` ({:.1f} and {:.1f})",
        lambda: [bleu(BIG, "pre-adam-lr1e-3-const-drop2"), bleu_of_first(POST)],
    ),
    ("5e-4 (−{:.2f} ± {:.2f} bits, three seeds)", ahead_before_the_drop),
    ("With a short one it ends {:.2f} bits lower (three seeds)", lambda: [gained_by_a_short_warm_up()]),
    ("At 1.4e-3 to 6.5e-3 it is behind there by {:.1f} to {:.1f} bits on average", behind_on_the_map),
    (
        "RAdam closes {:.0f}% of the gap from the run that holds its peak ({:.2f}), and none from the run whose "
        "rate decays from update 1 ({:.2f}). The ledger reads the better of the two, {:.2f}",
        closed_by_radam,
    ),
]
"""Its sentences, with what the records have in the place of the numbers."""

# What seeds change, as docs/speed.md has it; BLEU of nothing; a rate; RAdam's β2.
ELSEWHERE = f"7.9 {PAPER} {GUESSES} {BOUNDS} 0.2 1.7 2.6 1.0 0.98 0.999 0.05"
"""Its other numbers, which no record has."""
