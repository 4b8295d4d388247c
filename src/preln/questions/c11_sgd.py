"""C11: SGD and the warm-up."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.series import BLEU, DECAY, LONGEST, NONE, difference, gain, pairs, telling, where
from preln.report.core.statistics import LEARNED

WITHOUT = {"placement": "post", "optimizer": "sgd", "warmup": NONE}
WITH = WITHOUT | {"warmup": LONGEST}


def findings(evidence: Evidence) -> Findings:
    runs = evidence.translated()
    for of, without, longest in pairs(runs, WITHOUT, DECAY, warmup=LONGEST):
        yield QUESTION.find("loss-without-warmup", of, difference(without, longest), low=0.2)
    for of, sgd, adam in pairs(runs, WITH, ("learning_rate", *DECAY), optimizer="adam"):
        yield QUESTION.find("behind-adam", of, difference(sgd, adam), low=0.2)
    warmed_up = where(runs, **WITH)
    gains = (QUESTION.find("gain", telling(run, warmed_up), gain(run), low=LEARNED) for run in warmed_up)
    yield from QUESTION.nearest(gains)


def values(evidence: Evidence) -> Findings:
    return QUESTION.ends("bleu-without", evidence.translated(BLEU), WITHOUT, high=1.0)


QUESTION = Question(
    name="c11",
    statement="SGD needs the warm-up too, so Adam's variance is not the only reason for it. SGD ends far behind Adam.",
    source="Section 3.2, figure 2(b)",
    published="BLEU just above zero without warm-up",
    how_known="stated",
    rule="SGD without a warm-up ends at least 0.2 bits above SGD with the longest, and that at least 0.2 bits above "
    "Adam with it. At one rate at least, SGD with the warm-up is 0.3 bits below the unigram baseline.",
    conditions="Our rates of SGD are 100 to 1,500 times the paper's, and near where training diverges.",
    written="2026-11-21",
    quantities={
        "loss-without-warmup": "SGD's loss without a warm-up minus that with the longest one",
        "behind-adam": "SGD's loss with the warm-up minus Adam's",
        "gain": "how far SGD with the warm-up is below the unigram baseline",
    },
    findings=findings,
    values=values,
)
