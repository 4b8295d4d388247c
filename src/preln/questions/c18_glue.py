"""C18: BERT's fine-tuned accuracy."""

from __future__ import annotations

from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.series import LOWEST, NONE, SOME, difference, pairs

RUNS = {"placement": "pre", "warmup": NONE}


def findings(evidence: Evidence) -> Findings:
    runs = evidence.finetuned(share=0.5)
    for of, pre, post in pairs(runs, RUNS, (), runs, placement="post", warmup=SOME, learning_rate=LOWEST):
        yield QUESTION.find("accuracy", f"{pre.settings['task']}, {of}", difference(pre, post), low=0.0)


QUESTION = Question(
    name="c18",
    statement="The Pre-LN BERT is ahead of the Post-LN one on the tasks that it is fine-tuned on (in the paper MRPC "
    "and RTE), after equally many updates of pre-training.",
    source="Section 4.2, figure 5(b, c)",
    published="in words; no number could be recovered from the curves",
    how_known="unknown",
    rule="On each task, Pre-LN's accuracy on dev is at least Post-LN's, from the checkpoint at half of the "
    "pre-training. It is judged at the paper's size alone: small models are no better than always giving the more "
    "frequent answer.",
    written="2026-11-21",
    quantities={"accuracy": "accuracy of Pre-LN minus that of Post-LN"},
    findings=findings,
    paper_size=True,
)
