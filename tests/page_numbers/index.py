"""What docs/index.md says in numbers."""

from __future__ import annotations

from docs.answers import first_epoch, whole_trainings
from docs.committed import after_epoch
from preln.report.core.statistics import mean
from tests.page_numbers.records import (
    POST,
    RESULTS,
    Numbers,
    above_the_papers_losses,
    above_the_warm_up,
    ahead_at_the_papers_size,
    behind_with_warmups,
    closed,
    closed_by_seeds,
    kept_at_the_papers_size,
    kept_elsewhere,
    minmax,
    of_seeds,
    radam_in_pre_behind,
    reached,
    timed_to,
    with_long_beta2,
)

SAID: list[tuple[str, Numbers]] = [
    ("Pre-LN is only {:.2f} times as fast", lambda: [reached("post-lr1e-3-wu100-s1") / reached("pre-lr1e-3-wu0-s1")]),
    (
        "Pre-LN to {:.2f}, and Post-LN to {:.2f}. Pre-LN has {:.2f} after nine.",
        lambda: [
            *(mean(whole_trainings.read(RESULTS)[one].losses) for one in (whole_trainings.PRE, whole_trainings.POST)),
            mean(whole_trainings.read(RESULTS, after_epoch(whole_trainings.COMPARED))[whole_trainings.PRE].losses),
        ],
    ),
    ("With 0.999 it has {:.2f} to {:.2f} bits (three seeds);", lambda: minmax(with_long_beta2().losses)),
    (
        "Post-LN's by {:.2f} and {:.2f} bits, and Pre-LN's by {:.2f} and {:.2f} (three seeds).",
        lambda: [*above_the_papers_losses(first_epoch.POST), *above_the_papers_losses(first_epoch.PRE)],
    ),
    (
        "more](results.md#the-papers-size-to-the-end-iwslt14-50k-scaled): {:.2f} and {:.2f} (two seeds)",
        lambda: [
            mean(whole_trainings.read(RESULTS)[ours].losses) - float(first_epoch.papers(papers, 5)[0])
            for ours, papers in ((whole_trainings.POST, first_epoch.POST), (whole_trainings.PRE, first_epoch.PRE))
        ],
    ),
    ("is [{:.2f} ± {:.2f} bits behind]", lambda: behind_with_warmups()[:2]),
    ("does better at 5e-4 ([{:.2f} bits]", lambda: [mean(of_seeds(POST))]),
    ("{:.3f} ± {:.3f} of the last gradient of Post-LN's decoder", lambda: list(kept_at_the_papers_size())),
    ("is {:.2f} ± {:.2f} bits ahead of Post-LN", lambda: list(ahead_at_the_papers_size("valid_loss"))),
    ("Row 5 counts the updates until the loss is {:.2f} bits", timed_to),
    ("RAdam ends {:.2f} ± {:.2f} bits above Adam (three seeds)", radam_in_pre_behind),
    ("RAdam closes {:.0f} ± {:.0f}% of the gap", lambda: list(closed())),
    ("it closes {:.0f}, {:.0f} and {:.0f}% of the gap to the warm-up (three seeds)", closed_by_seeds),
    ("there, it ends {:.1f} to {:.1f} bits higher without one", above_the_warm_up),
    ("After shorter warm-ups than the paper's, {:.0f} to {:.0f}% of the last gradient", kept_elsewhere),
]
"""Its sentences, with what the records have in the place of the numbers."""

# C17's bound. About where whole trainings end; the paper's RAdam, and RAdam's β2; a bound of C15.
ELSEWHERE = "1.1 5.0 7.9 0.98 0.999 0.15"
"""Its other numbers, which no record has."""
