"""C17: how fast BERT pre-trains."""

from __future__ import annotations

from dataclasses import replace

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.series import HIGHEST, LOWEST, NONE, SOME, difference, pairs, ratio

SLOW = {"placement": "post", "warmup": SOME, "learning_rate": LOWEST}
FAST = {"placement": "post", "learning_rate": HIGHEST}
PRE = {"placement": "pre", "warmup": NONE}


def findings(evidence: Evidence) -> Findings:
    updates, losses = evidence.pretrained("updates_to_loss"), evidence.pretrained()
    for of, post, pre in pairs(updates, SLOW, ("learning_rate",), updates, **PRE, learning_rate=HIGHEST):
        yield QUESTION.find("updates-at-its-rate", of, ratio(post, pre), low=1.1, ratio=True)
    for of, post, pre in pairs(updates, FAST, (), updates, **PRE):
        yield QUESTION.find("updates-at-equal-rates", of, ratio(post, pre), low=1.1, ratio=True)
    for of, post, pre in pairs(losses, FAST, ("warmup",), losses, placement="pre"):
        yield QUESTION.find("loss-at-equal-rates", of, difference(post, pre), low=0.1)


def values(evidence: Evidence) -> Findings:
    at_its_rate = QUESTION.ask(evidence).of("updates-at-its-rate")
    return (replace(finding, low=1.3, high=1.5) for finding in at_its_rate)


QUESTION = Question(
    name="c17",
    statement="BERT: Pre-LN without warm-up reaches a given loss in fewer updates than Post-LN with warm-up, at a rate "
    "at which Post-LN does not train.",
    source="Section 4.2, figure 5(a)",
    published="loss 1.69 after 500,000 updates, where Post-LN needs 700,000; Post-LN diverges at 3e-4",
    how_known="printed",
    rule="Post-LN at its lower rate needs at least 1.1 times the updates of Pre-LN at its higher rate; so does Post-LN "
    "at the higher rate, where it ends at least 0.1 bits above Pre-LN. It is judged at the paper's size alone: small "
    "models of 4 million tokens say nothing of it.",
    written="2026-11-21",
    quantities={
        "updates-at-its-rate": "updates of Post-LN at its lower rate over those of Pre-LN at its higher rate",
        "updates-at-equal-rates": "updates of Post-LN over those of Pre-LN at the higher rate",
        "loss-at-equal-rates": "last loss of Post-LN minus that of Pre-LN at the higher rate",
    },
    findings=findings,
    values=values,
    paper_size=True,
)
