"""The control, Post-LN-init, without a warm-up."""

from __future__ import annotations

from operator import itemgetter

from preln.placements import PLACEMENTS
from preln.questions.base import Evidence, Findings, Question
from preln.questions.core.markdown import each_seed, grid, warm_up
from preln.questions.core.series import BLEU, LOSS, Series, compared, difference, gain, grouped
from preln.report.core.statistics import LEARNED

ASKED = {"optimizer": "adam", "learning_rate": 5e-4, "schedule": "inverse-sqrt", "anchor": "hold", "width": 256}
ASKED |= {"accumulate": 1, "epochs": 3, "initialisation": "fairseq"}
WITHOUT, CONTROL, WARMED_UP = ("post", 0), ("post-init", 0), ("post", 1333)
"""Placements and lengths of warm-up."""


def models(evidence: Evidence, quantity: str = LOSS) -> dict[tuple[str, int], Series]:
    """The runs by placement and warm-up."""
    return grouped(evidence.runs(quantity), itemgetter("placement", "warmup"), ASKED)


def findings(evidence: Evidence) -> Findings:
    runs = models(evidence)
    yield QUESTION.find("learns", "Post-LN-init, no warm-up", compared(gain, runs, CONTROL), low=LEARNED)
    yield QUESTION.find("behind", "", compared(difference, runs, CONTROL, WARMED_UP), high=0.5)


def table(evidence: Evidence) -> str:
    """The losses of each seed."""
    cells = each_seed(models(evidence), models(evidence, BLEU))
    order = [model for model in (WITHOUT, CONTROL, WARMED_UP) if model in cells]
    rows = [(PLACEMENTS[name].label, warm_up(warmup), *cells[name, warmup]) for name, warmup in order]
    return grid(["", "warm-up", "loss of each seed", "BLEU"], rows)


QUESTION = Question(
    name="control",
    statement="Does Post-LN-init, whose last gradient is as large as Post-LN's, train to the end without a warm-up?",
    source="our own; the control is that of Wang et al. (2022), DeepNet, section 3",
    published="with 6 to 24 layers the control trains",
    how_known="stated",
    rule="Half the paper's width, 5e-4, a constant peak, 4,653 updates. The control trains if it ends at least 0.3 "
    "bits below the unigram baseline, and at most 0.5 bits above Post-LN with a warm-up of 1,333 updates.",
    written="2026-11-25",
    quantities={
        "learns": "the control ends below the unigram baseline",
        "behind": "the control ends no more than 0.5 bits above Post-LN with the warm-up",
    },
    findings=findings,
    table=table,
    reads=("iwslt14-50k-cpu", "confounds"),
)
