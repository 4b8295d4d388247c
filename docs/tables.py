"""The tables of the pages that come from committed records: `python -m docs.tables` writes them into the pages.

A table stands between `<!-- generated: NAME -->` and `<!-- end -->`. A test compares each page with what is made here,
so no table says anything else than the records in results/.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import pandas as pd

from docs.answers import (
    amplification,
    control,
    depth_of_gradient,
    drop_of_pre,
    early_drop,
    failure_map,
    first_epoch,
    first_updates,
    gradient_after_warmup,
    low_rate,
    pre_rates,
    quick_radam,
    quick_seeds,
    radam,
    radam_in_pre,
    readings,
    schedules,
    short_warmup,
    small_bert,
    small_radam,
    small_sums,
    warmup_of_post,
    whole_trainings,
    width_or_rate,
)
from docs.bench import cost, depth, lower_rate, models, published, real_text, seeds
from docs.committed import RESULTS, ROOT, claims, final, final_by_seed, table, theory
from docs.markdown import NOT_YET, grid, rate, warm_up
from preln.commands.plan import GPUS
from preln.placements import PLACEMENTS
from preln.placements.base import Residual
from preln.report.claims.placements import CLAIMS as OF_OTHERS
from preln.report.core.labels import OPTIMIZERS
from preln.report.core.statistics import mean, plus_minus
from preln.report.reference import claims as paper
from preln.schedules.inverse_sqrt import InverseSqrt
from preln.translation.report.budgets import of_the_paper

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
BLOCK = re.compile(r"(?<=<!-- generated: )([^>]+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)
CLAIMED = [
    "quick-record",
    "iwslt14-cpu",
    "iwslt14-50k-cpu",
    "paper-epoch",
    "iwslt14-50k-scaled",
    "iwslt14-theory",
    "bert-novels",
]
"""The committed studies that were made for the claims, in the order of the columns of the claims."""
ALSO_CLAIMED = ["bert-scaled", "confounds", "failure-map", "long-warmup", "placements", "small-causes"]
"""The committed studies that were made for other questions, and have runs that test a claim."""

VERDICTS = {
    "reproduced": "reproduced",
    "reproduced in part": "in part",
    "not reproduced": "no",
    "inconclusive": "inconclusive",
    "not tested in this study": "",
}
EMPHASISED = {"post": "Post-LN", "pre": "**Pre-LN**"}


def _schedule(run: pd.Series) -> str:
    """What a table says of a schedule beside its peak rate."""
    if run["schedule"] == "linear":
        return ", linear to 0"
    if run["schedule"] == "constant":
        return ", fixed" if pd.isna(run.get("drop_epoch")) else f", ×0.1 after epoch {run['drop_epoch']:.0f}"
    decays_at_once = run["anchor"] == "warmup" and not run["warmup"]
    return ", decaying from update 1" if decays_at_once else ""


def _results(group: pd.DataFrame) -> tuple[str, str]:
    """Loss and BLEU of the seeds of a run: their means, and the lowest and the highest loss."""
    first = group.iloc[0]
    if first["status"] == "diverged":
        return f"diverged at update {first['diverged_update']:,.0f}", ""
    losses = group["final_valid_loss"]
    spread = f" ({losses.min():.2f} to {losses.max():.2f})" if len(group) > 1 else ""
    return f"{losses.mean():.2f}{spread}", f"{group['final_test_bleu'].mean():.1f}"


def runs(study: str) -> str:
    """The translation runs of a study, with the β2 of RAdam where it varies."""
    recorded = table(study, "runs").sort_values(["learning_rate", "placement", "warmup"], ascending=[False, True, True])
    recorded = recorded.sort_values("optimizer", key=lambda names: names.map(list(OPTIMIZERS).index), kind="stable")
    rows = []
    for _, group in recorded.groupby(recorded["run"].str.replace(r"-s\d+$", "", regex=True), sort=False):
        run = group.iloc[0]
        optimizer = OPTIMIZERS[run["optimizer"]]
        if run["optimizer"] == "radam" and "beta2" in run:
            optimizer += f", β2 = {run['beta2']:g}"
        settings = (EMPHASISED[run["placement"]], optimizer)
        rows.append((*settings, rate(run["learning_rate"]) + _schedule(run), warm_up(run["warmup"]), *_results(group)))
    return grid(["", "optimizer", "peak rate", "warm-up", "validation loss", "test BLEU"], rows)


def pretraining(study: str) -> str:
    """The pre-training runs of a study, with the accuracies of the last checkpoint."""
    recorded = table(study, "pretraining")
    scores = table(study, "finetuning")
    tasks = list(scores["task"].unique())
    rows = []
    for _, run in recorded.iterrows():
        cells = [EMPHASISED[run["placement"]], rate(run["learning_rate"]), warm_up(run["warmup"])]
        reached = run["reached_update"]
        cells += [f"{run['final_valid_loss']:.2f}", f"{reached:,.0f}" if reached == reached else "never"]
        last = scores[(scores["run"] == run["run"]) & (scores["update"] == run["updates"])].set_index("task")
        cells += [accuracy(last.loc[task]) if task in last.index else "" for task in tasks]
        rows.append(cells)
    reaches = f"reaches {recorded['loss'].iloc[0]:.2f} at update"
    names = [task.upper() if len(task) < 5 else task for task in tasks]
    return grid(["", "peak rate", "warm-up", "validation loss", reaches, *names], rows)


def accuracy(score: pd.Series) -> str:
    """An accuracy in percent, with half of its 95% interval."""
    half = (score["chosen_accuracy_high"] - score["chosen_accuracy_low"]) / 2
    return plus_minus(100 * score["chosen_accuracy"], 100 * half, ".1f", ".1f")


def verdict(study: str, claim: str) -> str:
    """A claim's verdict in a study, with how many comparisons hold where not all do."""
    ledger = claims(study)
    word = VERDICTS[ledger["verdict"][claim]]
    held = re.match(r"\d+ of \d+(?= comparisons hold)", ledger["reason"][claim])
    return f"{word} ({held[0]})" if held else word


def over_all_studies() -> str:
    """What the committed studies say of each claim together."""
    contradicted = {"in part", "no"}
    outcomes: dict[str, Callable[[set[str]], bool]] = {
        "reproduced, and contradicted nowhere": lambda words: "reproduced" in words and not words & contradicted,
        "reproduced, and contradicted elsewhere": lambda words: "reproduced" in words and bool(words & contradicted),
        "contradicted, and reproduced nowhere": lambda words: "reproduced" not in words and bool(words & contradicted),
        "undecided everywhere": lambda words: words == {"inconclusive"},
        "not tested": lambda words: not words,
    }
    ledgers = [claims(study)["verdict"] for study in (*CLAIMED, *ALSO_CLAIMED)]
    said = {str(claim): {VERDICTS[ledger[claim]] for ledger in ledgers} - {""} for claim in ledgers[0].index}
    rows = []
    for outcome, fits in outcomes.items():
        its = [claim for claim, words in said.items() if fits(words)]
        rows.append([outcome, str(len(its)), ", ".join(its)])
    return grid(["in the committed studies", "claims", "which"], rows)


def verdicts() -> str:
    """The verdict on each claim in each committed study."""
    sources = {str(claim): source for claim, source in claims(CLAIMED[0])["source"].items()}
    rows = [[claim, source, *(verdict(study, claim) for study in CLAIMED)] for claim, source in sources.items()]
    return grid(["claim", "where in the paper", *(study.removesuffix("-record") for study in CLAIMED)], rows)


def verdicts_elsewhere() -> str:
    """The verdicts on the claims in the committed studies that were made for other questions."""
    rows = [[str(claim), *(verdict(study, str(claim)) for study in ALSO_CLAIMED)] for claim in claims(CLAIMED[0]).index]
    return grid(["claim", *ALSO_CLAIMED], [row for row in rows if any(row[1:])])


def statements() -> str:
    """What each claim says, and the paper's number for it."""
    columns = ["statement", "paper", "how_known"]
    rows = claims(CLAIMED[0])[columns].reset_index().itertuples(index=False)
    return grid(["claim", "what the paper says", "its number", "how we know it"], rows)


def reasons() -> str:
    """Why each verdict is what it is, study by study."""
    ledgers = {study: claims(study) for study in CLAIMED}
    rows = [
        (str(claim), study.removesuffix("-record"), ledger["reason"][claim])
        for claim in ledgers[CLAIMED[0]].index
        for study, ledger in ledgers.items()
        if VERDICTS[ledger["verdict"][claim]]
    ]
    return grid(["claim", "study", "reason"], rows)


def changes() -> str:
    """Which rules were changed after results were known, with the verdicts before and after."""
    rows = [
        (claim.id, str(change.date), change.rule, change.why, _by_study(change.before), _by_study(change.after))
        for claim in paper.load().claims
        for change in claim.changed
    ]
    return grid(["claim", "date", "the rule before", "why", "verdicts before", "after"], rows)


def _by_study(found: dict[str, str]) -> str:
    return "; ".join(f"{study}: {word}" for study, word in found.items())


def spread(row: pd.Series, digits: int) -> str:
    """A mean with half of its 95% interval, which is rounded up rather than to zero."""
    half = (row["high"] - row["low"]) / 2
    return plus_minus(row["measured"], half, f".{digits}f", f".{digits}f").replace("-", "−")


def findings() -> str:
    """The six findings that matter."""
    study = "iwslt14-50k-cpu"
    with_it, without = "post-adam-lr5e-4-wu1333-hold1333", "post-adam-lr5e-4-wu0-hold1333"
    radam = "post-radam-lr5e-4-linear4653"

    def bits(losses: Sequence[float], bleu: Sequence[float]) -> str:
        return f"{min(losses):.2f} to {max(losses):.2f} bits (BLEU {mean(bleu):.1f})"

    def ours(run: str) -> str:
        return bits(list(final_by_seed(study, run)), list(final_by_seed(study, run, "final_test_bleu")))

    def after(one: first_epoch.OfFirstEpoch, epoch: int) -> str:
        ends = first_epoch.after(RESULTS, epoch)[one]
        return bits(ends.losses, ends.bleu)

    depth = [
        spread(theory("iwslt14-theory", "exponent of the depth L", f"{name} encoder, proofs"), 3)
        for name in ("Post-LN", "Pre-LN")
    ]
    bert = table("bert-novels", "pretraining").set_index("run")["reached_update"]
    slow, fast, same = (bert[run] for run in ("post-lr3e-4-wu100-s1", "pre-lr1e-3-wu0-s1", "post-lr1e-3-wu100-s1"))
    earlier, pre, post = (
        after(one, epoch) for one, epoch in ((first_epoch.PRE, 7), (first_epoch.PRE, 12), (first_epoch.POST, 12))
    )
    rows = [
        (
            "Post-LN needs a warm-up (C9)",
            "BLEU 8.45 without, 34 with",
            f"{ours(without)} without, {ours(with_it)} with",
            verdict(study, "C9"),
        ),
        (
            "Pre-LN needs none (C13), and is faster (C14)",
            "epoch 9 as good as Post-LN's 15; both end at 34",
            f"Pre-LN {earlier} after 7 of 12 epochs, {pre} at the end; Post-LN {post}",
            f"C13: {verdict('paper-epoch', 'C13')}; C14: {verdict('paper-epoch', 'C14')}",
        ),
        (
            "Theorem 1: the gradient of the last layer's W², by depth (C4)",
            "exponents 0 and −1/2",
            f"{depth[0]} and {depth[1]}",
            verdict("iwslt14-theory", "C4"),
        ),
        (
            "RAdam helps Post-LN, not Pre-LN (C15)",
            "Post-LN ends at BLEU 32.1",
            f"{ours(radam)} without a warm-up; Adam {ours(without)}",
            verdict(study, "C15"),
        ),
        (
            "BERT: Pre-LN is faster, at a rate at which Post-LN fails (C17)",
            "500,000 updates instead of 700,000",
            f"{fast:,.0f} updates instead of {slow:,.0f}; Post-LN at the same rate {same:,.0f}",
            verdict("bert-novels", "C17"),
        ),
        ("Fourteen other placements", *on_the_bench()),
    ]
    return grid(["finding", "paper", "ours", "verdict"], rows)


def paper_size() -> str:
    """Pre-LN and Post-LN at the paper's size, beside its own curves at about as many updates."""
    rows = []
    for epoch in range(1, 5):
        ends = first_epoch.read(RESULTS, papers_epoch=epoch)
        cells = [f"{first_epoch.updates(RESULTS, epoch):,}"]
        for one in (first_epoch.PRE, first_epoch.POST):
            loss, bleu = first_epoch.papers(one, epoch)
            cells += [f"{mean(ends[one].losses):.2f}", loss, f"{mean(ends[one].bleu):.1f}", bleu]
        rows.append(cells)
    each = ["loss", "the paper", "BLEU", "the paper"]
    head = ["updates", *(f"{name}: {what}" for name in ("Pre-LN", "Post-LN") for what in each)]
    return grid(head, rows)


def on_the_bench() -> tuple[str, str, str]:
    """What others say of placements beside the paper's two, and how the bench stands to it; with the losses on real
    text."""
    real = {name: mean(ends.losses) for name, ends in real_text.read(RESULTS).items()}
    losses = ", ".join(f"{name} {real[name]:.2f}" for name in sorted(real, key=real.__getitem__))
    told = published.counted(seeds.read(RESULTS))
    return f"{len(published.PUBLISHED)} comparisons of two", f"on real text: {losses}", told


def radam_beside_adam() -> str:
    """RAdam beside Adam, in bits of validation loss."""
    lines: dict[str, list[tuple[str, str] | None]] = {
        "Post-LN without warm-up, Adam, peak held": [
            ("quick-record", "post-adam-lr2e-3-wu0-hold400"),
            ("iwslt14-cpu", "post-adam-lr2e-3-wu0-hold600"),
            ("iwslt14-50k-cpu", "post-adam-lr5e-4-wu0-hold1333"),
            ("iwslt14-50k-cpu", "post-adam-lr1e-3-wu0-hold1333"),
        ],
        "the same, rate decaying from update 1": [None, ("iwslt14-cpu", "post-adam-lr2e-3-wu0"), None, None],
        "Post-LN without warm-up, RAdam": [
            ("quick-record", "post-radam-lr2e-3-linear837"),
            ("iwslt14-cpu", "post-radam-lr2e-3-linear3602"),
            ("iwslt14-50k-cpu", "post-radam-lr5e-4-linear4653"),
            ("iwslt14-50k-cpu", "post-radam-lr1e-3-linear4653"),
        ],
        "Post-LN with warm-up, Adam": [
            ("quick-record", "post-adam-lr2e-3-wu400-hold400"),
            ("iwslt14-cpu", "post-adam-lr2e-3-wu600-hold600"),
            ("iwslt14-50k-cpu", "post-adam-lr5e-4-wu1333-hold1333"),
            ("iwslt14-50k-cpu", "post-adam-lr1e-3-wu1333"),
        ],
    }
    pre = [
        ("quick-record", "pre-radam-lr2e-3-linear837", "pre-adam-lr2e-3-const-drop2"),
        ("iwslt14-cpu", "pre-radam-lr2e-3-linear3602", "pre-adam-lr2e-3-const-drop1"),
        ("iwslt14-50k-cpu", "pre-radam-lr5e-4-linear4653", "pre-adam-lr5e-4-const-drop2"),
        ("iwslt14-50k-cpu", "pre-radam-lr1e-3-linear4653", "pre-adam-lr1e-3-const-drop2"),
    ]
    rows = [[text, *(f"{final(*run):.2f}" if run else "" for run in of_line)] for text, of_line in lines.items()]
    rows.append(["Pre-LN, RAdam minus Adam", *(difference(*pair) for pair in pre)])
    return grid(["", "quick", "iwslt14-cpu", "iwslt14-50k-cpu, 5e-4", "iwslt14-50k-cpu, 1e-3"], rows)


def difference(study: str, one: str, other: str) -> str:
    """How far a run's loss is above another's, with its sign: the mean over the seeds that both have."""
    return f"{(final_by_seed(study, one) - final_by_seed(study, other)).mean():+.2f}".replace("-", "−")


def theorem() -> str:
    """Theorem 1's exponents of the depth, at the paper's width."""
    rows = []
    for name, predicted in (("Post-LN", "0"), ("Pre-LN", "−1/2")):
        row = theory("iwslt14-theory", "exponent of the depth L", f"{name} encoder, proofs")
        rows.append((name, predicted, spread(row, 3)))
    return grid(["exponent of the last layer's gradient in the depth", "theorem 1", "measured"], rows)


def lemmas() -> str:
    """What holds of the theory, in iwslt14-theory."""
    study = "iwslt14-theory"

    def row(text: str, predicted: str, quantity: str, model: str, digits: int) -> tuple[str, str, str]:
        return text, predicted, spread(theory(study, quantity, model), digits)

    lemma_1, lemma_2 = "E‖ReLU(x W^1)‖^2 / d, all layers", "E‖x‖^2 / d, all layers"
    by_depth = table(study, "figure-3")
    by_depth = by_depth[by_depth["figure"].isin(["3(c)", "3(b, c)"]) & (by_depth["model"] == "Post-LN, initial")]
    bars = by_depth.sort_values("depth")
    widest = ((bars["high"] - bars["low"]) / 2).max()
    falls = collapse(study)
    return grid(
        ["", "predicted", "measured"],
        [
            row("Lemma 1, E‖ReLU(xW¹)‖²/d, Post-LN encoder", "1/2", lemma_1, "Post-LN encoder, proofs", 3),
            row("the same, Pre-LN encoder", "1/2", lemma_1, "Pre-LN encoder, proofs", 3),
            row("Lemma 2, E‖x‖²/d in every layer, Post-LN encoder", "3/2", lemma_2, "Post-LN encoder, proofs", 2),
            row("the same, Post-LN decoder", "3/2", lemma_2, "Post-LN decoder, proofs", 2),
            row("Lemma 2, layer 12, Pre-LN encoder", "7 to 19", "E‖x‖^2 / d, layer 12", "Pre-LN encoder, proofs", 1),
            row(
                "its counterpart for a Pre-LN decoder (derived here)",
                "7 to 31",
                "E‖x‖^2 / d, layer 12",
                "Pre-LN decoder, proofs",
                1,
            ),
            (
                "Lemma 3, spectral norm of LayerNorm's Jacobian over √d/‖y‖",
                "1",
                f"{theory(study, '‖J‖ over sqrt(d)/‖y‖, all layers', 'Post-LN encoder, proofs')['measured']:.4f}",
            ),
            row(
                "Theorem 1, exponent of the depth, Post-LN, L = 2 to 64",
                "0",
                "exponent of the depth L",
                "Post-LN encoder, proofs",
                3,
            ),
            row("the same, Pre-LN", "−1/2", "exponent of the depth L", "Pre-LN encoder, proofs", 3),
            (
                "Figure 3(c), Post-LN's last gradient at 6-6, 8-8, 10-10, 12-12, 14-14",
                "constant",
                ", ".join(f"{value:.2f}" for value in bars["measured"]) + f" (± {widest:.2f} at most)",
            ),
            (
                "Figure 3(a, b), Post-LN's W² after the warm-up, layers 1 to 5",
                "collapses",
                f"{falls[:-1].min():.1f} to {falls[:-1].max():.0f} times smaller than at initialisation",
            ),
            (
                "the same, layer 6",
                "collapses",
                f"{falls.iloc[-1]:.1f} times smaller (the paper: a hundred; claim C7 asks for ten)",
            ),
        ],
    )


def bars(study: str, model: str, matrix: str = "W2", variant: str = "") -> pd.Series:
    """The bars of figure 3 of a model with 6-6 layers, by layer."""
    recorded = table(study, "figure-3")
    recorded["variant"] = recorded["variant"].fillna("")
    of_model = (recorded["model"] == model) & (recorded["matrix"] == matrix)
    return recorded[of_model & (recorded["variant"] == variant) & (recorded["depth"] == 6)].set_index("layer")[
        "measured"
    ]


def collapse(study: str, matrix: str = "W2") -> pd.Series:
    """How many times smaller Post-LN's gradients are after the warm-up, by layer."""
    return bars(study, "Post-LN, initial", matrix) / bars(study, "Post-LN, after warm-up", matrix)


def variants() -> str:
    """Figure 3's bars of the first and the last layer, with what the paper leaves open varied."""
    recorded = table("iwslt14-theory", "figure-3")
    bars_of_paper = recorded[(recorded["matrix"] == "W2") & recorded["paper"].notna() & recorded["variant"].isna()]
    known = {model: of_model.set_index("layer")["paper"] for model, of_model in bars_of_paper.groupby("model")}

    def cells(post: pd.Series, pre: pd.Series) -> list[str]:
        growth = (post[6] / post[1]) ** (1 / 5)
        return [
            *(f"{bar:#.3g}" for bar in (post[1], post[6])),
            f"{growth:.2f}",
            *(f"{bar:#.3g}" for bar in (pre[1], pre[6])),
        ]

    rows = [["**the paper**", *cells(known["Post-LN, initial"], known["Pre-LN, initial"])]]
    names = ["", *sorted(recorded["variant"].dropna().unique(), key=lambda name: (name.count("+"), name))]
    for name in names:
        sides = (bars("iwslt14-theory", f"{model}, initial", "W2", name) for model in ("Post-LN", "Pre-LN"))
        rows.append([f"`{name}`" if name else "as the studies train it", *cells(*sides)])
    return grid(
        ["", "Post-LN, layer 1", "Post-LN, layer 6", "growth a layer", "Pre-LN, layer 1", "Pre-LN, layer 6"], rows
    )


def rate_budgets() -> str:
    """What the paper's curve with the warm-up has where it has spent what another of its runs spends in all."""
    rows = []
    for one in of_the_paper():
        schedule, unit = one.schedule, "BLEU" if one.quantity == "bleu" else "loss"
        told = "fixed"
        if isinstance(schedule, InverseSqrt):
            told = f"T = {max(schedule.warmup, 1)}, `{schedule.anchor}`"
        value = f"{one.value:.1f} ({one.low:.1f} to {one.high:.1f})" if one.quantity == "bleu" else f"{one.value:.2f}"
        epoch = "never: it ends with less" if one.at_the_end else f"{one.epoch:.1f}"
        rows.append(
            (rate(schedule.learning_rate), told, f"{one.budget:.2f}", epoch, f"{unit} {value}", f"{one.paper:g}")
        )
    return grid(["peak rate", "schedule", "sum of rates", "spent at epoch", "the warm-up has there", "the paper"], rows)


def own_budgets() -> str:
    """The same of our runs without the full warm-up: what the study's own run with it has."""
    rows = []
    for study in ("iwslt14-50k-cpu", "iwslt14-cpu"):
        recorded = table(study, "rate-budgets")
        settings = table(study, "runs").set_index("run")
        for _, run in recorded[recorded["reference"].notna()].iterrows():
            own = settings.loc[run["run"]]
            if own["warmup"] == settings["warmup"].max():
                continue
            known = pd.notna(run["reference_valid_loss"])
            rows.append((
                study,
                EMPHASISED[own["placement"]] + ", " + OPTIMIZERS[own["optimizer"]],
                rate(own["learning_rate"]) + _schedule(own),
                warm_up(own["warmup"]),
                f"{run['sum_of_rates']:,.2f}",
                f"{run['valid_loss']:.2f}",
                f"{run['reference_valid_loss']:.2f}" if known else "before its first epoch",
            ))  # fmt: skip
    return grid(["study", "", "peak rate", "warm-up", "sum of rates", "its loss", "the warm-up has there"], rows)


@dataclass(frozen=True)
class Explanation:
    """What another paper says of why Post-LN needs the warm-up, with our answer.

    Attributes:
        statement: what it says, in our words.
        source: the paper.
        published: its number, and how it is known.
        answer: the answer by our rule, from the records; nothing while they are not made.
        rule: where the rule stands.
    """

    statement: str
    source: str
    published: str
    answer: Callable[[], list[str]]
    rule: str


EXPLANATIONS = [
    Explanation(
        "Post-LN does not fail because its last gradients are large. It fails because its first updates change the "
        "model's function too much.",
        "Wang et al. (2022), DeepNet, section 3",
        "a control with a last gradient that is no smaller trains, with 6 to 24 layers (stated)",
        lambda: first_updates.answer_of(first_updates.read(RESULTS)),
        "[Large gradients, or large updates of the function?]"
        "(experiments.md#large-gradients-or-large-updates-of-the-function-c9)",
    ),
    Explanation(
        "Post-LN amplifies a small change of its weights. A deeper Post-LN amplifies it more, and a deeper Pre-LN "
        "hardly. Unequal gradients are not the cause.",
        "Liu et al. (2020), Admin",
        "the variance of the change grows as N in Post-LN, and as log N in Pre-LN (printed)",
        lambda: amplification.answer_of(amplification.read(RESULTS, amplification.AMPLIFIED_AT[0])),
        "[Does the depth amplify the first update?](experiments.md#does-the-depth-amplify-the-first-update-c4-c8-c9)",
    ),
]


def explanations() -> str:
    """What other papers say of why Post-LN needs the warm-up, with the answers by our rules."""
    rows = [
        (one.statement, one.source, one.published, f"**{'; '.join(one.answer()) or NOT_YET}**", one.rule)
        for one in EXPLANATIONS
    ]
    return grid(["what they say", "who", "their number", "our answer by the rule", "the rule"], rows)


def placements() -> str:
    """Every placement: its name in a study, its equation and what else belongs to it, as its file has them."""

    def said(text: str | None) -> str:
        return " ".join((text or "").split()).rstrip(".").replace("<-", "←").replace(" * ", " ⊙ ")

    rows = []
    for name, one in PLACEMENTS.items():
        beside = {
            "LayerNorm on the embeddings": one.embedding_norm,
            "LayerNorm behind the last layer": one.final_norm,
            f"the output is {said(one.output.__doc__ if one.output else None)}": one.output,
            "scaled matrices of F at first": one.residual.initial_scale is not Residual.initial_scale,
            "scaled embeddings at first": one.embedding_scale,
            "factors from a first pass": one.profiled,
        }
        rows.append(
            (f"`{name}`", one.label, said(one.residual.__doc__), "; ".join(filter(beside.get, beside)), one.source)
        )
    return grid(["`placement`", "name", "residual connection", "beside it", "source"], rows)


def claims_of_others() -> str:
    """The claims of the papers behind the placements, with their rules and the bench's verdicts."""
    judged = table("placements", "claims-of-others").set_index("claim")
    rows = [
        (
            claim.id,
            claim.statement,
            claim.source,
            f"{claim.published} ({claim.how_known})",
            claim.rule,
            str(claim.written),
            f"**{judged['verdict'][claim.id]}**: {judged['reason'][claim.id]}",
        )
        for claim in OF_OTHERS
    ]
    return grid(["claim", "what its paper says", "paper", "its number", "rule", "written on", "on the bench"], rows)


def cards() -> str:
    """The GPUs that `preln plan` knows."""
    rows = [
        (gpu.name, f"{gpu.half:,g}", "yes" if gpu.has_bf16 else "no", f"{gpu.single:g}", f"{gpu.memory:g}", gpu.source)
        for gpu in GPUS.values()
    ]
    return grid(["", "peak, half precision", "bf16", "peak, fp32", "GB", "peaks from"], rows)


ANSWERS = {
    "departures.md": [
        *(radam, radam_in_pre, first_epoch, width_or_rate, whole_trainings, short_warmup, gradient_after_warmup),
        *(schedules, early_drop, pre_rates, small_bert, low_rate, warmup_of_post, drop_of_pre, depth_of_gradient),
        *(quick_radam, quick_seeds, small_radam),
    ],
    "experiments.md": [small_sums, failure_map, first_updates, control, amplification],
}
"""The questions of a page, in its order."""

TABLES: dict[str, Callable[..., str]] = {
    **{
        one.__name__.rpartition(".")[2].replace("_", "-"): partial(one.table, RESULTS)
        for one in chain(*ANSWERS.values())
    },
    "runs": runs,
    "pretraining": pretraining,
    "over-all-studies": over_all_studies,
    "verdicts": verdicts,
    "verdicts-elsewhere": verdicts_elsewhere,
    "statements": statements,
    "reasons": reasons,
    "changes": changes,
    "findings": findings,
    "paper-size": paper_size,
    "radam-beside-adam": radam_beside_adam,
    "theorem": theorem,
    "lemmas": lemmas,
    "variants": variants,
    "rate-budgets": rate_budgets,
    "own-budgets": own_budgets,
    "explanations": explanations,
    "readings": partial(readings.table, RESULTS),
    "behind-on-the-map": partial(warmup_of_post.map_table, RESULTS),
    "placements": placements,
    "bench": partial(models.table, RESULTS),
    "cost": cost.table,
    "published-orders": partial(published.table, RESULTS),
    "depth": partial(depth.table, RESULTS),
    "lower-rate": partial(lower_rate.table, RESULTS),
    "real-text": partial(real_text.table, RESULTS),
    "claims-of-others": claims_of_others,
    "cards": cards,
}
"""The tables by the name that a page has them under, which may be followed by a study."""


def current(text: str) -> str:
    """A page's text, with its tables made anew."""

    def made(block: re.Match[str]) -> str:
        name, *arguments = block[1].split()
        return f"{block[1]}{block[2]}\n{TABLES[name](*arguments)}\n"

    return BLOCK.sub(made, text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(current(page.read_text(encoding="utf-8")), encoding="utf-8")
