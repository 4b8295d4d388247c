"""C14: whether Pre-LN is faster."""

from __future__ import annotations

from preln.questions.base import Change, Findings, Question
from preln.questions.core.changes import UNWARMED, ledger
from preln.questions.core.evidence import Evidence
from preln.questions.core.series import LONGEST, NONE, SCHEDULE, difference, pairs

RUNS = {"placement": "pre", "optimizer": "adam", "warmup": NONE}


def findings(evidence: Evidence) -> Findings:
    for of, pre, post in pairs(evidence.translated(), RUNS, SCHEDULE, placement="post", warmup=LONGEST):
        yield QUESTION.find("loss-at-three-fifths", of, difference(pre, post, share=0.6), high=0.05)


QUESTION = Question(
    name="c14",
    statement="Pre-LN is faster: its checkpoint after three fifths of the epochs is as good as Post-LN's last.",
    source="Section 4.1, figure 4(a, b)",
    published="the 9th checkpoint of Pre-LN and the 15th of Post-LN",
    how_known="stated",
    rule="At the same peak rate, Pre-LN's loss after three fifths of the epochs is at most 0.05 bits above the last "
    "one of Post-LN with the longest warm-up. The schedules differ as in the paper; `annealing` asks what that is "
    "worth.",
    conditions="The drop of Pre-LN's rate, one epoch before the checkpoint that is compared, is worth 0.13 bits, more "
    "than the margin. Where the schedules are crossed with the placements, `schedules` and `annealing` tell the two "
    "apart.",
    written="2026-11-21",
    quantities={"loss-at-three-fifths": "loss of Pre-LN after three fifths minus the last of Post-LN, bits a token"},
    findings=findings,
    changes=(
        UNWARMED,
        Change(
            "2026-11-26",
            "Each rate of Pre-LN was compared with the rate at which Post-LN ends best.",
            "The paper says that Pre-LN converges faster at the same peak rate. So equal rates are compared now. The "
            "rule was changed after its result was known, and in favour of the claim. The old rule found that Pre-LN "
            "at 1e-3 is behind Post-LN at 5e-4, by 0.19 bits.",
            "failure-map: no (0 of 7) → inconclusive (4 of 7); iwslt14-50k-cpu: in part (1 of 2) → reproduced; "
            "placements: in part (2 of 15) → in part (6 of 15)",
        ),
        ledger(
            "failure-map: inconclusive (4 of 7) → holds in part (4 of 7); iwslt14-50k-cpu: reproduced → points that "
            "way (2 of 2); iwslt14-50k-scaled: inconclusive (0 of 1) → points that way (1 of 1); iwslt14-cpu: "
            "reproduced → points that way (1 of 1); paper-epoch: reproduced → holds (1 of 1); placements: in part (6 "
            "of 15) → undecided (8 of 15); quick-record: reproduced → points that way (1 of 1); small-causes: no (0 of "
            "3) → holds in part (1 of 3)",
        ),
    ),
)
