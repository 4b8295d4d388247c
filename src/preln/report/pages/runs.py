"""The blocks of runs: tables of trainings, the findings of the README, and sums of rates."""

from __future__ import annotations

from operator import itemgetter

from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.questions.core.markdown import grid, rate, warm_up
from preln.questions.core.series import BLEU, LOSS, Series, after_epoch, grouped
from preln.report.core.labels import OPTIMIZERS
from preln.report.core.statistics import mean
from preln.report.pages import ledger, theory
from preln.report.pages.committed import Committed
from preln.report.reference import translation as paper
from preln.schedules.inverse_sqrt import InverseSqrt
from preln.translation.report.budgets import of_the_paper

EMPHASISED = {"post": "Post-LN", "pre": "**Pre-LN**"}


def _schedule(run: pd.Series) -> str:
    if run["schedule"] == "linear":
        return ", linear to 0"
    if run["schedule"] == "constant":
        return ", fixed" if pd.isna(run.get("drop_epoch")) else f", ×0.1 after epoch {run['drop_epoch']:.0f}"
    decays_at_once = run["anchor"] == "warmup" and not run["warmup"]
    return ", decaying from update 1" if decays_at_once else ""


def _results(group: pd.DataFrame) -> tuple[str, str]:
    """Loss and BLEU of the seeds of a run that did not diverge: their means, and the lowest and the highest loss; and
    where the others diverged."""
    is_finished = group["status"] != "diverged"
    finished = group[is_finished]
    updates = ", ".join(f"{update:,.0f}" for update in group.loc[~is_finished, "diverged_update"])
    if finished.empty:
        return f"diverged at update {updates}", ""
    losses = finished["final_valid_loss"]
    spread = f" ({losses.min():.2f} to {losses.max():.2f})" if len(finished) > 1 else ""
    diverged = f"; {len(group) - len(finished)} of {len(group)} diverged at update {updates}" if updates else ""
    return f"{losses.mean():.2f}{spread}{diverged}", f"{finished['final_test_bleu'].mean():.1f}"


def runs(committed: Committed, study: str) -> str:
    """The translation runs of a study, with the β2 of RAdam where it varies."""
    recorded = committed.table(study, "runs").sort_values(
        ["learning_rate", "placement", "warmup"], ascending=[False, True, True]
    )
    recorded = recorded.sort_values("optimizer", key=lambda names: names.map(list(OPTIMIZERS).index), kind="stable")
    rows = []
    for _, group in recorded.groupby(recorded["run"].str.replace(r"-s\d+$", "", regex=True), sort=False):
        run = group.iloc[0]
        optimizer = OPTIMIZERS[run["optimizer"]]
        if run["optimizer"] == "radam" and "beta2" in run:
            optimizer += f", β2 = {run['beta2']:g}"
        settings = (EMPHASISED.get(run["placement"], PLACEMENTS[run["placement"]].label), optimizer)
        rows.append((*settings, rate(run["learning_rate"]) + _schedule(run), warm_up(run["warmup"]), *_results(group)))
    return grid(["", "optimizer", "peak rate", "warm-up", "validation loss", "test BLEU"], rows)


PRE, POST = ("pre", "adam", 0), ("post", "adam", 4000)
"""Runs of `paper-epoch` that a page compares with the paper's, by placement, optimiser and warm-up."""
EPOCHS_LIKE_ONE_OF_THE_PAPERS = 3
"""The epochs of `paper-epoch`, on a third of the text, with about as many updates as an epoch of the paper's."""


def at_size(committed: Committed, epoch: int, quantity: str = LOSS) -> dict[tuple[str, str, int], Series]:
    """The runs of `paper-epoch` with the paper's initialisation that have come so far, after one of its epochs."""
    runs = [run for run in committed.evidence("paper-epoch").runs(quantity) if run.epochs >= epoch]
    model = itemgetter("placement", "optimizer", "warmup")
    return grouped(runs, model, {"initialisation": "xavier", "beta2": 0.98}, after_epoch(epoch))


def paper_size(committed: Committed) -> str:
    """Pre-LN and Post-LN at the paper's size, beside its own curves at about as many updates."""
    rows = []
    for epoch in range(1, 5):
        epochs = EPOCHS_LIKE_ONE_OF_THE_PAPERS * epoch
        losses, bleu = at_size(committed, epochs), at_size(committed, epochs, BLEU)
        updates = next(iter(losses[PRE].samples.values())).updates[epochs - 1]
        cells = [f"{updates:,}"]
        for model in (PRE, POST):
            papers = {
                point.quantity: point.y
                for point in paper.load()
                if (point.figure, point.x, point.placement, point.optimizer, point.warmup) == (4, epoch, *model)
            }
            cells += [f"{mean(losses[model].recorded):.2f}", str(papers.get("valid_loss", ""))]
            cells += [f"{mean(bleu[model].recorded):.1f}", str(papers.get("bleu", ""))]
        rows.append(cells)
    columns = ["loss", "the paper", "BLEU", "the paper"]
    head = ["updates", *(f"{name}: {column}" for name in ("Pre-LN", "Post-LN") for column in columns)]
    return grid(head, rows)


def findings(committed: Committed) -> str:
    """The findings that matter: a number of the paper's beside one of ours, each a mean over the seeds."""

    def mean_of(study: str, series: str, column: str = "final_test_bleu") -> float:
        return mean(committed.seeds(study, series, column))

    without = mean_of("paper-epoch", "post-adam-lr5e-4-wu0-hold4000")
    pre = mean_of("paper-epoch", "pre-adam-lr5e-4-const-epochs12")
    post = mean_of("iwslt14-50k-cpu", "post-adam-lr5e-4-wu0-hold1333", "final_valid_loss")
    baseline = mean_of("iwslt14-50k-cpu", "post-adam-lr5e-4-wu0-hold1333", "constant_guess")
    control = mean_of("confounds", "post-init-adam-lr5e-4-wu0-hold1333", "final_valid_loss")
    raised = committed.findings("language-map").set_index("quantity").loc["language-map.post-needs-it"]
    limits = committed.table("language-map", "language-failure-limits")
    of_pre = limits[limits["model"].str.startswith("Pre-LN")]
    (after_as_many,) = (
        point.y
        for point in paper.load()
        if (point.figure, point.quantity, point.x, point.placement, point.optimizer, point.warmup)
        == (4, "bleu", 4, "pre", "adam", 0)
    )
    rows = [
        (
            "Post-LN, no warm-up: BLEU",
            "8.45",
            f"{without:.1f}, after the updates of the paper's first epoch",
            f"it learns nothing (that Post-LN needs the warm-up {ledger.overall(committed, 'C9')}, over all studies)",
        ),
        (
            "Pre-LN, no warm-up: BLEU",
            f"34 ({after_as_many:g} after as many updates)",
            f"{pre:.1f}, after a quarter of the updates, on a third of the text",
            "it trains",
        ),
        (
            "Control (smaller weights in lower layers), half the width, no warm-up: loss in bits",
            "predicts failure",
            f"{control:.2f} (Post-LN: {post:.2f}; unigram baseline: {baseline:.2f})",
            "it trains with as large a last gradient, so this alone is not enough",
        ),
        (
            "Small language models: highest rate at which Post-LN trains, with a run-long warm-up",
            "not tried",
            f"{raised['mean']:g} times that without one; "
            f"{of_pre['failed'].sum()} of {of_pre['runs'].sum()} runs of Pre-LN fail",
            f"Post-LN needs the warm-up: {raised['holds']} ({raised['n']} seeds)",
        ),
        (
            "Theorem 1 in the paper's toy model, Pre-LN's last gradient: exponent of the depth",
            "−0.5 (bound)",
            theory.measured(committed, "depth-exponent", "pre", 3),
            ledger.verdict(committed, "C4", "iwslt14-theory"),
        ),
    ]
    return grid(["finding", "paper", "ours", "verdict"], rows)


def rate_budgets(committed: Committed) -> str:
    """The paper's curve with the warm-up, where it has spent what another of its runs spends in all."""
    rows = []
    for point in of_the_paper():
        schedule, number = point.schedule, f"loss {point.value:.2f}"
        if point.quantity == "bleu":
            number = f"BLEU {point.value:.1f} ({point.low:.1f} to {point.high:.1f})"
        name = "constant"
        if isinstance(schedule, InverseSqrt):
            name = f"T = {max(schedule.warmup, 1)}, `{schedule.anchor}`"
        epoch = "never: it ends with less" if point.at_the_end else f"{point.epoch:.1f}"
        rows.append((rate(schedule.learning_rate), name, f"{point.budget:.2f}", epoch, number, f"{point.paper:g}"))
    return grid(["peak rate", "schedule", "sum of rates", "spent at epoch", "the warm-up has there", "the paper"], rows)


def own_budgets(committed: Committed) -> str:
    """Our runs with the full warm-up, where they have spent what our runs without it spend in all."""
    study, rows = "iwslt14-50k-cpu", []
    runs = committed.table(study, "runs").set_index("run")
    budgets = committed.table(study, "rate-budgets")
    for _, budget in budgets[budgets["reference"].notna()].iterrows():
        run, at_warmup = runs.loc[budget["run"]], budget["reference_valid_loss"]
        if run["warmup"] < runs["warmup"].max():
            name = f"{EMPHASISED[run['placement']]}, {OPTIMIZERS[run['optimizer']]}"
            spent = f"{budget['sum_of_rates']:,.2f}", f"{budget['valid_loss']:.2f}"
            last = f"{at_warmup:.2f}" if pd.notna(at_warmup) else "before its first epoch"
            rows.append(
                (study, name, rate(run["learning_rate"]) + _schedule(run), warm_up(run["warmup"]), *spent, last)
            )
    return grid(["study", "", "peak rate", "warm-up", "sum of rates", "its loss", "the warm-up has there"], rows)
