"""The causes of RAdam's failure in Post-LN: batch, β2, initialisation, rate or width."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from preln.questions.base import Evidence, Finding, Findings, Question
from preln.questions.core import series
from preln.questions.core.markdown import each_seed, grid, rate, tokens, warm_up
from preln.report.core.labels import OPTIMIZERS
from preln.report.core.statistics import LEARNED
from preln.report.reference import translation as paper

UPDATES = 1551
"""The updates after which runs at half the paper's width are compared; with four batches an update it is one more."""
PAPERS_LOSS = 8.9
"""The loss that a run at the paper's size reaches in the updates of its first epoch, if it trains as the paper's."""


class Corner(NamedTuple):
    """How a run departs from ours of RAdam at half the width."""

    learning_rate: float = 5e-4
    batches: int = 1
    initialisation: str = "fairseq"
    beta2: float = 0.98
    optimizer: str = "radam"
    decay: int = 4653
    width: int = 256
    warmup: int = 0


OURS = Corner()
ALONE = {
    "batch": OURS._replace(batches=4),
    "initialisation": OURS._replace(initialisation="xavier"),
    "beta2": OURS._replace(beta2=0.999),
}
PAPERS_SIDE = OURS._replace(batches=4, initialisation="xavier")
SLOWER = PAPERS_SIDE._replace(decay=16500)
ADAM = Corner(batches=4, optimizer="adam", decay=0)
ADAM_WITH_XAVIER = ADAM._replace(initialisation="xavier")
AT_SIZE = SLOWER._replace(width=512)
SHORT = Corner(optimizer="adam", decay=0, warmup=167)
SHORT_LARGER, LONG_LARGER = SHORT._replace(batches=4), SHORT._replace(batches=4, warmup=1333)
SIZES = [PAPERS_SIDE, SLOWER, AT_SIZE, AT_SIZE._replace(initialisation="fairseq"), AT_SIZE._replace(beta2=0.999)]


def corner_of(settings: Mapping[str, Any]) -> Corner | None:
    """Which corner a run is, by RAdam, or by Adam with a constant peak; None of another run."""
    is_constant_peak = settings["anchor"] == "hold" or settings["warmup"] == 1333
    if settings["optimizer"] == "adam" and not (settings["schedule"] == "inverse-sqrt" and is_constant_peak):
        return None
    return Corner(
        settings["learning_rate"],
        settings["accumulate"] * settings["batch_tokens"] // 1024,
        settings["initialisation"],
        settings["beta2"],
        settings["optimizer"],
        settings["decay_updates"] or 0,
        settings["width"],
        settings["warmup"],
    )


def corners(evidence: Evidence, read: series.Reader, quantity: str = series.LOSS) -> dict[Corner, series.Series]:
    """The runs of each corner."""
    asked = {"placement": "post", "corpus": "iwslt14", "width": (256, 512), "optimizer": ("adam", "radam")}
    return series.grouped(evidence.runs(quantity), corner_of, asked, read)


def at_equal_updates(evidence: Evidence, quantity: str = series.LOSS) -> dict[Corner, series.Series]:
    """The runs of each corner after the updates that the runs at half the width have in common; those at the paper's
    size and with its slower decay after the updates of the paper's first epoch, which are three of their epochs."""
    common, first_epoch = (
        corners(evidence, read, quantity) for read in (series.after_updates(UPDATES), series.after_epoch(3))
    )
    slower = {corner for corner in common if corner.width == 512 or corner.decay == SLOWER.decay}
    return common | {corner: first_epoch[corner] for corner in slower}


def findings(evidence: Evidence) -> Findings:
    runs, first_epoch = at_equal_updates(evidence), corners(evidence, series.after_epoch(3))

    def lower(part: str, of: str, run: Corner, changed: Corner, **bounds: float) -> Finding | None:
        return QUESTION.find(part, of, series.compared(series.difference, runs, run, changed), **bounds)

    for factor, corner in ALONE.items():
        yield lower(factor, "5e-4", OURS, corner, low=0.5)
    for factor in ("batch", "beta2"):
        usual, changed = (corner._replace(learning_rate=1e-3) for corner in (OURS, ALONE[factor]))
        yield lower(f"{factor}-at-1e-3", "1e-3", usual, changed, low=0.5)
    yield QUESTION.find("papers-side", "", series.compared(series.gain, runs, PAPERS_SIDE), low=LEARNED)
    yield lower("helps-adam", "", ADAM, ALONE["batch"], low=0.5)
    yield lower("helps-adam-with-xavier", "", ADAM_WITH_XAVIER, PAPERS_SIDE, low=0.5)
    yield lower("initialisation-of-adam", "", ADAM_WITH_XAVIER, ADAM, low=0.5)
    yield QUESTION.find("rate", "", series.compared(series.difference, first_epoch, SLOWER, PAPERS_SIDE), low=0.5)
    for part, corner in (("at-size-0.98", AT_SIZE), ("at-size-0.999", AT_SIZE._replace(beta2=0.999))):
        if corner in runs:
            yield QUESTION.find(part, "", runs[corner].recorded, high=PAPERS_LOSS)
    yield lower("batch-of-adam", "", SHORT, SHORT_LARGER, low=1.0)
    yield lower("short-warmup", "", SHORT_LARGER, LONG_LARGER, high=0.5)


def table(evidence: Evidence) -> str:
    """RAdam and Adam at half the width; the decay and the width; and Adam's short warm-up."""
    cells = each_seed(at_equal_updates(evidence), at_equal_updates(evidence, series.BLEU))
    early = each_seed(corners(evidence, series.after_epoch(3)), corners(evidence, series.after_epoch(3), series.BLEU))
    # Adam with a warm-up, and with one batch, is in other tables.
    half = [run for run in sorted(cells) if run.width == 256 and run.decay != SLOWER.decay and not run.warmup]
    rows = [
        (
            *(OPTIMIZERS[run.optimizer], rate(run.learning_rate), tokens(run.batches), f"`{run.initialisation}`"),
            *(f"{run.beta2:g}", *cells[run]),
        )
        for run in half
        if run.optimizer == "radam" or run.batches == 4
    ]
    head = ["", "peak rate", "tokens an update", "initialisation", "β2", "loss of each seed", "BLEU"]
    parts = [grid(head, rows)]
    sizes = [
        (
            *(str(run.width), f"{run.decay:,}", f"`{run.initialisation}`", f"{run.beta2:g}"),
            *(*early[run], *_papers(run)),
        )
        for run in SIZES
        if run in early
    ]
    head = ["width", "rate is 0 after", "initialisation", "β2", "loss after the paper's first epoch", "BLEU"]
    parts.append(grid([*head, "the paper: loss", "BLEU"], sizes))
    shorts = [run for run in (SHORT, SHORT_LARGER, LONG_LARGER) if run in cells]
    head = ["Post-LN, Adam: tokens an update", "warm-up", f"loss after {UPDATES:,} updates", "BLEU"]
    parts.append(grid(head, [(tokens(run.batches), warm_up(run.warmup), *cells[run]) for run in shorts]))
    return "\n".join(parts)


def _papers(corner: Corner) -> tuple[str, str]:
    """The loss and the BLEU of RAdam in figure 4 after the paper's first epoch."""
    if corner.width != 512 or corner.initialisation != "xavier":
        return "", ""
    points = [point for point in paper.load() if (point.figure, point.x) == (4, 1)]
    radam = {
        point.quantity: str(point.y) for point in points if (point.placement, point.optimizer) == ("post", "radam")
    }
    return radam.get("valid_loss", ""), radam.get("bleu", "")


QUESTION = Question(
    name="radam",
    statement="Why does RAdam train Post-LN so little: is it the batch, β2, the initialisation, the rate or the width?",
    source="our own; section 4.1 of the paper",
    published="in figure 4, Post-LN with RAdam and no warm-up ends at BLEU 32.1; the paper does not say its β2",
    how_known="digitised",
    rule="At half the width, after 1,551 updates, a factor is a cause if changing it alone lowers the loss by at least "
    "0.5 bits. The paper's side (4,096 tokens, Xavier) explains the departure if it ends 0.3 bits below the unigram "
    "baseline. With four batches, RAdam helps with an initialisation if Adam without a warm-up ends 0.5 bits above. "
    "The slower decay of the paper's size is a cause if it raises the loss by 0.5 bits after as many updates. At the "
    "paper's size, RAdam trains as the paper's if it ends at 8.9 bits or less after the updates of the paper's first "
    "epoch. A short warm-up is enough with 4,096 tokens if it ends at most 0.5 bits above the long one. Of rules with "
    "another bound for one seed (1 bit), that for three is asked of all.",
    written="2026-11-28",
    quantities={
        "batch": "the batch is a cause",
        "initialisation": "the initialisation is a cause",
        "beta2": "β2 is a cause",
        "batch-at-1e-3": "the batch is a cause at 1e-3",
        "beta2-at-1e-3": "β2 is a cause at 1e-3",
        "papers-side": "at half the width, it trains with the paper's batch and initialisation",
        "helps-adam": "RAdam helps with four batches and fairseq's initialisation",
        "helps-adam-with-xavier": "RAdam helps with four batches and Xavier's initialisation",
        "initialisation-of-adam": "Xavier's initialisation delays Adam",
        "rate": "the slower decay is a cause",
        "at-size-0.98": "at the paper's size it trains as the paper's with β2 = 0.98",
        "at-size-0.999": "at the paper's size it trains as the paper's with β2 = 0.999",
        "batch-of-adam": "the batch is a cause for Adam's short warm-up",
        "short-warmup": "with four batches a short warm-up is enough",
    },
    findings=findings,
    table=table,
    reads=("confounds", "iwslt14-50k-cpu", "paper-epoch"),
)
