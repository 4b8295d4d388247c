"""C12: Post-LN at a small constant rate."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.series import DECAY, HIGHEST, LONGEST, LOWEST, NONE, difference, gain, pairs, telling, where
from preln.report.core.statistics import LEARNED

WITHOUT_WARMUP = {"placement": "post", "optimizer": "adam", "warmup": NONE}
RUNS = {**WITHOUT_WARMUP, "schedule": "constant", "learning_rate": LOWEST}
DIFFER = (*DECAY, "epochs")


def findings(evidence: Evidence) -> Findings:
    runs = evidence.translated()
    for of, small, large in pairs(runs, RUNS, DIFFER, schedule="inverse-sqrt", learning_rate=HIGHEST):
        yield QUESTION.find("beside-the-large-rate", of, difference(small, large), high=-0.5)
    # A single rate is not known to be small.
    highest = where(runs, **WITHOUT_WARMUP, learning_rate=HIGHEST)
    lowest = [run for run in where(runs, **RUNS) if run not in highest]
    for small in lowest:
        yield QUESTION.find("gain", telling(small, lowest), gain(small), low=LEARNED)
    for of, small, longest in pairs(runs, RUNS, (*DIFFER, "learning_rate"), schedule="inverse-sqrt", warmup=LONGEST):
        yield QUESTION.find("behind-the-warmup", of, difference(small, longest), low=0.0)


def values(evidence: Evidence) -> Findings:
    return QUESTION.ends("loss", evidence.translated(), RUNS | {"learning_rate": 1e-4}, low=4.15, high=4.45)


QUESTION = Question(
    name="c12",
    statement="Post-LN trains without warm-up where the rate is small all the time.",
    source="Appendix H, figure 6",
    published="validation loss 4.3 after 27 epochs at 1e-4",
    how_known="stated",
    rule="The lowest constant rate of a study ends at least 0.5 bits below its highest rate without a warm-up, at "
    "least 0.3 bits below the unigram baseline, and no lower than the run with the longest warm-up. A study with a "
    "single rate has no low one.",
    conditions="Three seeds have it in `small-causes` alone, on generated text, at 5e-4 beside 2e-3. At the paper's "
    "1e-4, on real text, there is one seed.",
    written="2026-11-21",
    quantities={
        "beside-the-large-rate": "loss at the small rate minus loss at the large one without a warm-up",
        "gain": "how far the small rate is below the unigram baseline",
        "behind-the-warmup": "loss at the small rate minus loss with the longest warm-up",
    },
    findings=findings,
    values=values,
)
