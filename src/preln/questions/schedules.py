"""Pre-LN's lead at half the paper's width: the placement's or the schedule's."""

from __future__ import annotations

from operator import itemgetter

from preln.placements import PLACEMENTS
from preln.questions.base import Answer, Evidence, Findings, Question
from preln.questions.core.markdown import each_seed, grid, warm_up
from preln.questions.core.series import BLEU, LOSS, Series, difference, grouped
from preln.report.core.statistics import mean

WORDS = {"inverse-sqrt": "inverse square root", "constant": "constant, ×0.1 after epoch 2"}
ASKED = {"optimizer": "adam", "learning_rate": 5e-4, "accumulate": 1, "epochs": 3, "width": 256}
ASKED |= {"placement": ("post", "pre"), "schedule": (*WORDS,)}
WARMUPS = {(name, schedule): 1333 for name in ("post", "pre") for schedule in WORDS} | {("pre", "constant"): 0}
"""By placement and schedule; only Pre-LN's own schedule has none."""


def swapped(evidence: Evidence, quantity: str = LOSS) -> dict[tuple[str, str], Series]:
    """The runs by placement and schedule."""
    runs = grouped(evidence.runs(quantity), itemgetter("placement", "schedule", "warmup"), ASKED)
    return {model: runs[*model, warmup] for model, warmup in WARMUPS.items() if (*model, warmup) in runs}


def findings(evidence: Evidence) -> Findings:
    runs = swapped(evidence)
    if len(runs) < len(WARMUPS):
        return
    within = {name: difference(runs[name, "constant"], runs[name, "inverse-sqrt"]) for name in ("post", "pre")}
    size = max(abs(mean(compared.values)) for compared in within.values())
    for schedule, words in WORDS.items():
        yield QUESTION.find("lead", words, difference(runs["post", schedule], runs["pre", schedule]), low=size)
    for name, compared in within.items():
        beside = "it is the size that a lead is compared with"
        yield QUESTION.find("schedule", PLACEMENTS[name].label, compared, beside=beside)


def words(answer: Answer) -> list[str]:
    """Tell what decides."""
    if answer.holds("lead"):
        return ["the placement"]
    leads = answer.of("lead")
    return ["the schedule" if max(abs(lead.estimate.mean) for lead in leads) < leads[0].low else "both"]


def table(evidence: Evidence) -> str:
    """Each placement with its own schedule and with the other's."""
    cells = each_seed(swapped(evidence), swapped(evidence, BLEU))
    rows = [
        (PLACEMENTS[name].label, WORDS[schedule], warm_up(WARMUPS[name, schedule]), *seeds)
        for (name, schedule), seeds in cells.items()
    ]
    return grid(["", "schedule", "warm-up", "loss of each seed", "BLEU"], rows)


QUESTION = Question(
    name="schedules",
    statement="Is Pre-LN's lead the placement's or the schedule's, at half the paper's width with 1,024 tokens an "
    "update?",
    source="our own; the paper compares the two placements with different schedules (section 4.1)",
    rule="Each placement is trained with both schedules. The placement decides if Pre-LN's lead with each schedule is "
    "larger than the largest difference that the schedule makes within a placement; the schedule decides if both leads "
    "are smaller; otherwise both do. Post-LN is not annealed with the inverse root; `annealing` asks that.",
    written="2026-11-23",
    quantities={
        "lead": "loss of Post-LN minus that of Pre-LN",
        "schedule": "loss with the constant rate that drops minus that with the inverse root",
    },
    findings=findings,
    answer=words,
    table=table,
    reads=("iwslt14-50k-cpu", "confounds"),
)
