"""Why does the gradient fall less in the warm-up? (C7)"""

from __future__ import annotations

from pathlib import Path

from docs.answers.bounds import C7_KEPT
from docs.committed import study_of, theory
from docs.markdown import answered
from preln.jobs.runs import expand
from preln.theory.measurement_jobs import expand as expand_measurements
from preln.theory.report import records as of_theory
from preln.theory.report.tables import theory as statements

KEPT = "last gradient of W^2, after warm-up over initial"
"""What the table of the theory calls it, before the kind of its estimate."""
KEPT_BIASED = f"{KEPT}, biased"


def answer(kept: float, kept_by_ours: float) -> list[str]:
    """What the warm-up with four batches says.

    Args:
        kept: the last gradient of W² after it, over that at initialisation.
        kept_by_ours: the same for the warm-up with one batch.
    """
    if kept <= C7_KEPT:
        return ["the batch is a cause"]
    return ["the batch is a cause in part" if kept <= kept_by_ours / 2 else "the batch is no cause"]


def of_the_length(kept: float) -> list[str]:
    """What the longer warm-up with one batch says, by what is left of the last gradient after it."""
    return ["the length is the cause" if kept <= C7_KEPT else "the length is not enough alone"]


def read(results: Path, name: str) -> float | None:
    """What is left of the last gradient of W² after the warm-up of a study, without the bias of the mini-batches'
    noise; None while it is not measured."""
    study = study_of(name)
    found = statements(of_theory.load(study, expand_measurements(study, expand(study)), results))
    kept = found[found["quantity"] == f"{KEPT}, unbiased"]
    return float(kept["measured"].iloc[0]) if len(kept) else None


def table(results: Path) -> str:
    """What a warm-up leaves of Post-LN's last gradient, with one batch in an update and with four, and the answers
    whose measurements are made."""
    kept_by_ours = float(theory("iwslt14-50k-cpu", KEPT_BIASED, "Post-LN decoder, translation")["measured"])
    rows = [("1,024", "1e-3", "1,333 updates", "norm of the mean over 4 mini-batches", f"{kept_by_ours:.3f}")]
    unbiased = "unbiased, over 64 mini-batches"
    larger, longer = (read(results, study) for study in ("confounds", "long-warmup"))
    said = []
    if larger is not None:
        rows.append(("4 x 1,024", "5e-4", "1,333 updates", unbiased, f"{larger:.3f}"))
        said += answer(larger, kept_by_ours)
    if longer is not None:
        rows.append(("1,024", "1e-3", "4,000 updates", unbiased, f"{longer:.3f}"))
        said += of_the_length(longer)
    head = ["tokens an update", "peak rate", "warm-up", "estimate", "after the warm-up, over that at initialisation"]
    return answered(head, rows, said)
