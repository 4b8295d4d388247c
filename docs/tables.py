"""The tables of the pages that come from committed records: `python -m docs.tables` writes them into the pages.

A table stands between `<!-- generated: NAME -->` and `<!-- end -->`. A test compares each page with what is made here,
so no table says anything else than the records in results/.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from docs import answers
from docs.bench import PUBLISHED, OnTheBench, bears_more_with_warmup, best_four, on_the_bench
from preln.config import load as load_study
from preln.placements import PAPER
from preln.placements import PLACEMENTS as RECORDS
from preln.placements.base import Residual
from preln.plan import GPUS
from preln.report.claims.placements import CLAIMS as OF_OTHERS
from preln.report.core.statistics import Estimate, mean
from preln.report.reference import claims as paper
from preln.report.translation.bench import SOURCE as OF_BENCHES
from preln.report.translation.bench import on_a_bench
from preln.report.translation.budgets import of_the_paper
from preln.report.translation.failure_map import Cell, maps
from preln.report.translation.records import Records
from preln.report.translation.records import load as load_records
from preln.runs import expand
from preln.schedules.inverse_sqrt import InverseSqrt

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
BLOCK = re.compile(r"(?<=<!-- generated: )([^>]+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)

CLAIMED = ["quick-record", "iwslt14-cpu", "iwslt14-50k-cpu", "iwslt14-theory", "bert-novels"]
"""The committed studies, in the order of the columns of the claims."""

VERDICTS = {
    "reproduced": "reproduced",
    "reproduced in part": "in part",
    "not reproduced": "no",
    "inconclusive": "inconclusive",
    "not tested in this study": "",
}
PLACEMENTS = {"post": "Post-LN", "pre": "**Pre-LN**"}
OPTIMIZERS = {"adam": "Adam", "radam": "RAdam", "sgd": "SGD"}


def table(study: str, name: str) -> pd.DataFrame:
    """A committed table of a study, such as `runs`."""
    return pd.read_csv(RESULTS / study / "tables" / f"{name}.csv")


def claims(study: str) -> pd.DataFrame:
    """A committed ledger of claims, by the claims' numbers."""
    return pd.read_csv(RESULTS / study / "claims.csv").set_index("claim")


def grid(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


NOT_YET = "So far: runs that the rule reads are not made"


def answered(head: Iterable[str], rows: Iterable[Iterable[str]], said: Iterable[str]) -> str:
    """A table with the answer by its rule below; nothing is said where runs that the rule reads are not made."""
    answer = "; ".join(said)
    return f"{grid(head, rows)}\n**{f'The answer by the rule: {answer}' if answer else NOT_YET}.**\n"


def rate(value: float) -> str:
    """A learning rate as one writes it: 0.0005 is 5e-4, and 1.5 is 1.5."""
    digits, exponent = f"{value:e}".split("e")
    return str(float(value)) if value >= 0.1 else f"{float(digits):g}e{int(exponent)}"


def warm_up(updates: int) -> str:
    """A length of warm-up in words."""
    return f"{updates:,} updates" if updates else "none"


def _schedule(run: pd.Series) -> str:
    """What a table says of a schedule beside its peak rate."""
    if run["schedule"] == "linear":
        return ", linear to 0"
    if run["schedule"] == "constant":
        return ", fixed" if pd.isna(run.get("drop_epoch")) else f", ×0.1 after epoch {run['drop_epoch']:.0f}"
    decays_at_once = run["anchor"] == "warmup" and not run["warmup"]
    return ", decaying from update 1" if decays_at_once else ""


def _results(seeds: pd.DataFrame) -> tuple[str, str]:
    """Loss and BLEU of the seeds of a run: their means, and the lowest and the highest loss."""
    first = seeds.iloc[0]
    if first["status"] == "diverged":
        return f"diverged at update {first['diverged_update']:,.0f}", ""
    losses = seeds["final_valid_loss"]
    spread = f" ({losses.min():.2f} to {losses.max():.2f})" if len(seeds) > 1 else ""
    return f"{losses.mean():.2f}{spread}", f"{seeds['final_test_bleu'].mean():.1f}"


def runs(study: str) -> str:
    """The translation runs of a study."""
    recorded = table(study, "runs").sort_values(["learning_rate", "placement", "warmup"], ascending=[False, True, True])
    recorded = recorded.sort_values("optimizer", key=lambda names: names.map(list(OPTIMIZERS).index), kind="stable")
    rows = []
    for _, seeds in recorded.groupby(recorded["run"].str.replace(r"-s\d+$", "", regex=True), sort=False):
        run = seeds.iloc[0]
        settings = (PLACEMENTS[run["placement"]], OPTIMIZERS[run["optimizer"]])
        rows.append((*settings, rate(run["learning_rate"]) + _schedule(run), warm_up(run["warmup"]), *_results(seeds)))
    return grid(["", "optimizer", "peak rate", "warm-up", "validation loss", "test BLEU"], rows)


def pretraining(study: str) -> str:
    """The pre-training runs of a study, with the accuracies of the last checkpoint."""
    recorded = table(study, "pretraining")
    scores = table(study, "finetuning")
    tasks = list(scores["task"].unique())
    rows = []
    for _, run in recorded.iterrows():
        cells = [PLACEMENTS[run["placement"]], rate(run["learning_rate"]), warm_up(run["warmup"])]
        cells += [f"{run['final_valid_loss']:.2f}", f"{run['reached_update']:,.0f}"]
        last = scores[(scores["run"] == run["run"]) & (scores["update"] == run["updates"])].set_index("task")
        cells += [accuracy(last.loc[task]) if task in last.index else "" for task in tasks]
        rows.append(cells)
    reached = f"reaches {recorded['loss'].iloc[0]:.2f} at update"
    names = [task.upper() if len(task) < 5 else task for task in tasks]
    return grid(["", "peak rate", "warm-up", "validation loss", reached, *names], rows)


def accuracy(score: pd.Series) -> str:
    """An accuracy in percent, with half of its 95% interval."""
    half = (score["chosen_accuracy_high"] - score["chosen_accuracy_low"]) / 2
    return f"{100 * score['chosen_accuracy']:.1f} ± {100 * half:.1f}"


def verdict(study: str, claim: str) -> str:
    """A claim's verdict in a study, with how many comparisons hold where not all do."""
    ledger = claims(study)
    word = VERDICTS[ledger["verdict"][claim]]
    held = re.match(r"\d+ of \d+(?= comparisons hold)", ledger["reason"][claim])
    return f"{word} ({held[0]})" if held else word


def verdicts() -> str:
    """The verdict on each claim in each committed study."""
    sources = {str(claim): source for claim, source in claims(CLAIMED[0])["source"].items()}
    rows = [[claim, source, *(verdict(study, claim) for study in CLAIMED)] for claim, source in sources.items()]
    return grid(["claim", "where in the paper", *(study.removesuffix("-record") for study in CLAIMED)], rows)


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


def final(study: str, settings: str, column: str = "final_valid_loss") -> float:
    """A number of a run's last epoch: the mean over the seeds of the run whose id begins so."""
    recorded = table(study, "runs")
    chosen = recorded[recorded["run"].str.fullmatch(settings + r"-s\d+")]
    if chosen.empty:
        raise KeyError(f"{study} has no run {settings}")
    return float(chosen[column].mean())


def theory(study: str, quantity: str, model: str) -> pd.Series:
    """A row of a study's table of the theory."""
    recorded = table(study, "theory")
    (row,) = (row for _, row in recorded.iterrows() if row["quantity"] == quantity and row["model"] == model)
    return row


def spread(row: pd.Series, digits: int) -> str:
    """A mean with half of its 95% interval, which is rounded up rather than to zero."""
    half = (row["high"] - row["low"]) / 2
    number = f"{row['measured']:.{digits}f}".replace("-", "−")
    return f"{number} ± {half:.{digits}f}" if pd.notna(half) else number


def findings() -> str:
    """The five findings that matter."""
    study = "iwslt14-50k-cpu"
    with_it, without = "post-adam-lr5e-4-wu1333-hold1333", "post-adam-lr5e-4-wu0-hold1333"
    pre, radam = "pre-adam-lr5e-4-const-drop2", "post-radam-lr5e-4-linear4653"

    def ours(run: str) -> str:
        return f"{final(study, run):.2f} ({final(study, run, 'final_test_bleu'):.1f})"

    depth = [
        spread(theory("iwslt14-theory", "exponent of the depth L", f"{name} encoder, proofs"), 3)
        for name in ("Post-LN", "Pre-LN")
    ]
    bert = table("bert-novels", "pretraining").set_index("run")["reached_update"]
    slow, fast, same = (bert[run] for run in ("post-lr3e-4-wu100-s1", "pre-lr1e-3-wu0-s1", "post-lr1e-3-wu100-s1"))
    rows = [
        (
            "Post-LN needs a warm-up (C9)",
            "BLEU 8.45 without, 34 with",
            f"{ours(without)} without, {ours(with_it)} with",
            verdict(study, "C9"),
        ),
        (
            "Pre-LN needs none, and ends no worse (C13)",
            "both at BLEU 34",
            f"{ours(pre)}; Post-LN with warm-up {ours(with_it)}",
            verdict(study, "C13"),
        ),
        (
            "Theorem 1: the last gradient by depth (C4)",
            "exponents 0 and −1/2",
            f"{depth[0]} and {depth[1]}",
            verdict("iwslt14-theory", "C4"),
        ),
        (
            "RAdam helps Post-LN, not Pre-LN (C15)",
            "Post-LN ends at BLEU 32.1",
            f"{ours(radam)}; Adam without warm-up {ours(without)}",
            verdict(study, "C15"),
        ),
        (
            "BERT: Pre-LN is faster, at a rate at which Post-LN fails (C17)",
            "500,000 updates instead of 700,000",
            f"{fast:,.0f} updates instead of {slow:,.0f}; Post-LN at the same rate {same:,.0f}",
            verdict("bert-novels", "C17"),
        ),
    ]
    return grid(["finding", "paper", "ours", "verdict"], rows)


def radam() -> str:
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
        None,
        ("iwslt14-50k-cpu", "pre-radam-lr1e-3-linear4653", "pre-adam-lr1e-3-const-drop2"),
    ]
    rows = [[text, *(f"{final(*run):.2f}" if run else "" for run in of_line)] for text, of_line in lines.items()]
    rows.append(["Pre-LN, RAdam minus Adam", *(difference(*pair) if pair else "" for pair in pre)])
    return grid(["", "quick", "iwslt14-cpu", "iwslt14-50k-cpu, 5e-4", "iwslt14-50k-cpu, 1e-3"], rows)


def difference(study: str, one: str, other: str) -> str:
    """How far a run's loss is above another's, with its sign."""
    return f"{final(study, one) - final(study, other):+.2f}".replace("-", "−")


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


def bars(study: str, model: str, matrix: str = "W2", variant: str = "", depth: int = 6) -> pd.Series:
    """The bars of figure 3 of a model, by layer."""
    recorded = table(study, "figure-3")
    recorded["variant"] = recorded["variant"].fillna("")
    of_model = (recorded["model"] == model) & (recorded["matrix"] == matrix)
    return recorded[of_model & (recorded["variant"] == variant) & (recorded["depth"] == depth)].set_index("layer")[
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
                PLACEMENTS[own["placement"]] + ", " + OPTIMIZERS[own["optimizer"]],
                rate(own["learning_rate"]) + _schedule(own),
                warm_up(own["warmup"]),
                f"{run['sum_of_rates']:,.2f}",
                f"{run['valid_loss']:.2f}",
                f"{run['reference_valid_loss']:.2f}" if known else "before its first epoch",
            ))  # fmt: skip
    return grid(["study", "", "peak rate", "warm-up", "sum of rates", "its loss", "the warm-up has there"], rows)


GUESS = 9.90
"""The loss of the constant guess on the third of IWSLT14, as the rules of docs/departures.md have it."""
TRACED = {
    "Post-LN, no warm-up": "post-adam-lr5e-4-wu0-hold1333",
    "Pre-LN, no warm-up": "pre-adam-lr5e-4-wu0-hold1333",
    "Post-LN-init, no warm-up": "post-init-adam-lr5e-4-wu0-hold1333",
    "Post-LN, warm-up of 1,333": "post-adam-lr5e-4-wu1333",
}


def first_updates() -> str:
    """The models of `first-updates` in the numbers of the rule, and the answer."""
    found = _of_first_updates()
    rows = [
        (
            name,
            f"{one.loss:.2f}",
            f"{one.last_gradient:.2f}",
            f"{one.largest_step:#.2g}",
            f"{one.first_gradient_kept:.2g}",
            f"{one.input_growth:.2f}",
            str(one.seeds),
        )
        for name, one in found.items()
    ]
    head = [
        "",
        "loss after 200",
        "last gradient",
        "largest step",
        "first gradient kept",
        "growth of the input",
        "seeds",
    ]
    return answered(head, rows, _gradients_or_updates(found))


def _of_first_updates() -> dict[str, answers.FirstUpdates]:
    """The models of `first-updates`, by their names on the page."""
    return {name: answers.traced(RESULTS / "first-updates", runs) for name, runs in TRACED.items()}


def _gradients_or_updates(found: Mapping[str, answers.FirstUpdates]) -> list[str]:
    """The answer of `first-updates`."""
    post, pre, control, warmed_up = found.values()
    return answers.large_gradients_or_large_updates(post, pre, control, warmed_up, GUESS)


KEPT = f"{answers.KEPT}, biased"
AMPLIFIED_AT = (5e-7, 5e-4)
"""The rates of the study of depths: the one that decides, and the one of the other studies."""


def amplification() -> str:
    """The exponents of the depth of `amplification` at each rate whose traces are done, and the answer."""
    found = {at: answers.amplification(RESULTS, at) for at in AMPLIFIED_AT}

    def number(one: Estimate) -> str:
        return f"{one.mean:.2f} ± {one.high - one.mean:.2f}".replace("-", "−")

    rows = [
        (rate(at), RECORDS[name].label, number(one.step), number(one.gradient), str(one.step.n))
        for at, of_rate in found.items()
        for name, one in of_rate.items()
    ]
    head = ["rate", "", "exponent of the step", "exponent of the last gradient", "seeds"]
    return answered(head, rows, _depth_amplifies(found[AMPLIFIED_AT[0]]))


def _depth_amplifies(found: Mapping[str, answers.ByDepth]) -> list[str]:
    """The answer of `amplification`; nothing while a trace is missing."""
    return answers.amplified(found["post"], found["pre"], found["post-init"]) if found else []


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
        lambda: _gradients_or_updates(_of_first_updates()),
        "[Large gradients, or large updates of the function?]"
        "(departures.md#large-gradients-or-large-updates-of-the-function-c9)",
    ),
    Explanation(
        "Post-LN amplifies a small change of its weights. A deeper Post-LN amplifies it more, and a deeper Pre-LN "
        "hardly. Unequal gradients are not the cause.",
        "Liu et al. (2020), Admin",
        "the variance of the change grows as N in Post-LN, and as log N in Pre-LN (printed)",
        lambda: _depth_amplifies(answers.amplification(RESULTS, AMPLIFIED_AT[0])),
        "[Does the depth amplify the first update?](departures.md#does-the-depth-amplify-the-first-update-c4-c8-c9)",
    ),
]


def explanations() -> str:
    """What other papers say of why Post-LN needs the warm-up, with the answers by our rules."""
    rows = [
        (one.statement, one.source, one.published, f"**{'; '.join(one.answer()) or NOT_YET}**", one.rule)
        for one in EXPLANATIONS
    ]
    return grid(["what they say", "who", "their number", "our answer by the rule", "the rule"], rows)


def each_seed(ends: answers.Ends) -> tuple[str, str]:
    """The losses and the BLEU of all seeds."""
    return ", ".join(f"{loss:.2f}" for loss in ends.losses), ", ".join(f"{bleu:.1f}" for bleu in ends.bleu)


def radam_corners() -> str:
    """The runs of RAdam in `confounds`, and the answer where the rule's are done."""
    found = answers.radam(RESULTS)
    order = sorted(found, key=lambda corner: (corner.batches, corner.initialisation, corner.beta2))
    rows = [
        (
            f"{corner.batches} x 1,024" if corner.batches > 1 else "1,024",
            f"`{corner.initialisation}`",
            f"{corner.beta2:g}",
            *each_seed(found[corner]),
        )
        for corner in order
    ]
    losses = {corner: ends.losses for corner, ends in found.items()}
    if answers.radam_is_whole(losses):
        answer = f"The answer by the rule: {'; '.join(answers.why_radam_fails(losses, GUESS))}"
    else:
        causes = answers.causes(losses)
        answer = f"So far, by the rule: {'; '.join(causes) if causes else 'no cause found'}"
    head = ["tokens an update", "initialisation", "β2", "loss of each seed", "BLEU"]
    return f"{grid(head, rows)}\n**{answer}.**\n"


def bert_scaled() -> str:
    """The runs of `bert-scaled`, and the answer where all are done."""
    found = answers.small_berts(RESULTS)
    draws = {"scaled": "scaled", "fixed": "BERT base's"}
    order = sorted(found, key=lambda one: (one.initial_std == "fixed", one.learning_rate, one.warmup, one.placement))
    rows = [
        (
            *(draws[one.initial_std], rate(one.learning_rate), RECORDS[one.placement].label, warm_up(one.warmup)),
            ", ".join(f"{loss:.2f}" for loss in found[one]),
        )
        for one in order
    ]
    scaled = {one: losses for one, losses in found.items() if one.initial_std == "scaled"}
    rates = {
        peak: (
            scaled.get(answers.SmallBert("scaled", peak, "post", 0), []),
            scaled.get(answers.SmallBert("scaled", peak, "pre", 0), []),
        )
        for peak in sorted({one.learning_rate for one in scaled})
    }
    warmed_up = next((losses for one, losses in scaled.items() if one.warmup), [])
    said: list[str] = []
    if len(rates) == 2 and all(len(losses) == 3 for losses in [warmed_up, *itertools.chain(*rates.values())]):
        said = answers.small_bert(rates, warmed_up)
        highest = max(rates)
        post, pre = (found.get(answers.SmallBert("fixed", highest, one, 0), []) for one in ("post", "pre"))
        if len(post) == len(pre) == 3:
            said += answers.rate_or_draw((post, pre), rates[highest])
    return answered(["initial weights", "peak rate", "", "warm-up", "loss of each seed"], rows, said)


def short_warmup() -> str:
    """The runs of `confounds` that Adam's short warm-up is judged by, and the answers whose runs are done."""
    found = answers.warmups(RESULTS)
    rows = [
        (
            f"{one.batches} x 1,024" if one.batches > 1 else "1,024",
            warm_up(one.updates),
            ", ".join(f"{loss:.2f}" for loss in found[one]),
        )
        for one in (answers.SHORT, answers.SHORT_LARGER, answers.LONG_LARGER)
        if one in found
    ]
    head = ["tokens an update", "warm-up", f"loss after {answers.COMMON_UPDATES:,} updates, of each seed"]
    return answered(head, rows, answers.short_warmup(found))


def gradient_after_the_warm_up() -> str:
    """What a warm-up leaves of Post-LN's last gradient, with one batch in an update and with four, and the answer."""
    kept_by_ours = float(theory("iwslt14-50k-cpu", KEPT, "Post-LN decoder, translation")["measured"])
    rows = [("1,024", "1e-3", "norm of the mean over 4 mini-batches", f"{kept_by_ours:.3f}")]
    kept = answers.kept_by_the_warm_up(RESULTS)
    said = []
    if kept is not None:
        rows.append(("4 x 1,024", "5e-4", "unbiased, over 64 mini-batches", f"{kept:.3f}"))
        said.append(answers.why_the_gradient_falls_less(kept, kept_by_ours))
    head = ["tokens an update", "peak rate", "estimate", "after the warm-up, over that at initialisation"]
    return answered(head, rows, said)


def small_sums() -> str:
    """The runs of `confounds` with small sums of rates, and the answer for each sum that has both of its runs."""
    found = answers.small_sums(RESULTS)
    rows = [(f"{one.total:g}", rate(one.learning_rate), warm_up(one.warmup), *each_seed(found[one])) for one in found]
    said = []
    for without, warmed_up in itertools.combinations(found, 2):
        if without.total == warmed_up.total and not without.warmup:
            ends = (found[one].losses[0] for one in (without, warmed_up))
            said.append(f"at {rate(without.learning_rate)}, {answers.failure_or_small_sum(*ends)}")
    return answered(["sum of rates", "peak rate", "warm-up", "loss", "BLEU"], rows, said)


SCHEDULES = {"inverse-sqrt": "inverse square root", "constant": "constant, ×0.1 after epoch 2"}


def swapped() -> str:
    """Each placement with its own schedule and with the other's, and the answer where all seeds are done."""
    found = answers.swapped(RESULTS)
    rows = [
        (RECORDS[placement].label, told, *each_seed(found[one]))
        for placement in ("post", "pre")
        for schedule, told in SCHEDULES.items()
        if (one := answers.Swapped(placement, schedule)) in found
    ]
    said = []
    if len(found) == 4 and all(len(ends.losses) == 3 for ends in found.values()):
        pre, post = (answers.under_schedules(found, placement) for placement in ("pre", "post"))
        said.append(answers.placement_or_schedule(pre, post))
    return answered(["", "schedule", "loss of each seed", "BLEU"], rows, said)


def early_drop() -> str:
    """Pre-LN at 1e-3 after two epochs, by when its rate drops, and Post-LN at 5e-4 after three, with the answer."""
    found = answers.dropped(RESULTS)
    post = answers.swapped(RESULTS)[answers.Swapped("post", "inverse-sqrt")]
    rows = [
        ("Pre-LN", "1e-3", f"constant, ×0.1 after epoch {epoch}", "2", *each_seed(found[epoch]))
        for epoch in sorted(found)
    ]
    rows.append(("Post-LN", "5e-4", SCHEDULES["inverse-sqrt"], "3", *each_seed(post)))
    early = found.get(1, answers.Ends()).losses
    said = [answers.early_drop(early, post.losses)] if len(early) == 3 else []
    return answered(["", "peak rate", "schedule", "after epochs", "loss of each seed", "BLEU"], rows, said)


def pre_rates() -> str:
    """Pre-LN at two rates, with one batch in an update and with four, and the answer where all seeds are done."""
    found = answers.pre_rates(RESULTS)
    epochs = {1: ("1,024", "1,551"), 4: ("4 x 1,024", "776")}
    order = sorted(found, key=lambda one: (one.batches, one.learning_rate))
    rows = [(*epochs[one.batches], rate(one.learning_rate), *each_seed(found[one])) for one in order]
    said = []
    if len(found) == 4 and all(len(ends.losses) == 3 for ends in found.values()):
        ours, larger = (
            (found[answers.PreRate(batches, 5e-4)].losses, found[answers.PreRate(batches, 1e-3)].losses)
            for batches in epochs
        )
        said.append(answers.why_the_higher_rate_is_worse(ours, larger))
    return answered(["tokens an update", "after updates", "rate", "loss of each seed", "BLEU"], rows, said)


def radam_in_pre() -> str:
    """Pre-LN at 1e-3 with RAdam and with Adam, the latter with two schedules, and the answer where all are done."""
    found = answers.radam_in_pre(RESULTS)
    told = {
        answers.InPre("radam", "linear"): ("RAdam", "linear to 0"),
        answers.InPre("adam", "linear"): ("Adam", "linear to 0"),
        answers.InPre("adam", "constant"): ("Adam", SCHEDULES["constant"]),
    }
    rows = [(*names, *each_seed(found[one])) for one, names in told.items() if one in found]
    radam, adam, _ = (found.get(one, answers.Ends()).losses for one in told)
    said = [answers.of_the_schedule(adam[0], radam[0])] if adam and radam else []
    return answered(["", "schedule", "loss", "BLEU"], rows, said)


def of_the_control() -> str:
    """Post-LN and Post-LN-init trained to the end, and the answer where all seeds of the control are done."""
    found = answers.control(RESULTS)
    told = {
        answers.Control("post", 0): ("Post-LN", "none"),
        answers.Control("post-init", 0): ("Post-LN-init", "none"),
        answers.Control("post", answers.LONG_WARMUP): ("Post-LN", warm_up(answers.LONG_WARMUP)),
    }
    rows = [(*names, *each_seed(found[one])) for one, names in told.items() if one in found]
    _, control, warmed_up = (found.get(one, answers.Ends()).losses for one in told)
    said = [answers.of_the_control(control, warmed_up, GUESS)] if len(control) == 3 else []
    return answered(["", "warm-up", "loss of each seed", "BLEU"], rows, said)


FIRST_EPOCH = {
    "Pre-LN, Adam, no warm-up": (answers.OfFirstEpoch("pre", "adam", 0, "xavier"), "6.4", "11.7"),
    "Post-LN, Adam, warm-up of 4,000": (answers.OfFirstEpoch("post", "adam", 4000, "xavier"), "8.0", "1.8"),
    "Post-LN, Adam, no warm-up": (answers.OfFirstEpoch("post", "adam", 0, "xavier"), "", ""),
    "Post-LN, RAdam": (answers.OfFirstEpoch("post", "radam", 0, "xavier"), "7.9", "1.5"),
    "Post-LN, RAdam, fairseq's draw": (answers.OfFirstEpoch("post", "radam", 0, "fairseq"), "", ""),
}
"""The runs of `paper-epoch`, with what figure 4 has of them after its first epoch (read off)."""


def first_epoch() -> str:
    """The runs of `paper-epoch` that are done, beside the paper's, and the answers whose runs are."""
    found = answers.first_epoch(RESULTS)
    rows = [
        (name, *each_seed(found[one]), loss, bleu) for name, (one, loss, bleu) in FIRST_EPOCH.items() if one in found
    ]
    pre, post, without, radam, _ = (found.get(one, answers.Ends()).losses for one, _, _ in FIRST_EPOCH.values())
    said = []
    if pre and post and without:
        said += answers.the_first_epoch(pre[0], post[0], without[0], GUESS)
    if len(radam) == 2:
        said.append(f"RAdam's departure is {'' if answers.of_size(radam) else 'not '}one of size")
    return answered(["", "loss", "BLEU", "the paper: loss", "BLEU"], rows, said)


def failure_map() -> str:
    """What the runs of `failure-map` say that are done."""
    study = load_study(ROOT / "config" / "failure-map.yaml")
    return where_training_fails(load_records(study, expand(study), RESULTS))


def where_training_fails(records: Records) -> str:
    """The last losses of the runs with small batches that are done, means over seeds; bold where the rate does not
    train. When all runs are done, the limits of each model, and the answer."""
    found = maps(records)
    small, large = min(one.settings.batch_tokens for one in found), max(one.settings.batch_tokens for one in found)
    shown = [one for one in found if one.settings.batch_tokens == small]

    def said(cell: Cell | None) -> str:
        if cell is None:
            return ""
        return f"{cell.loss:.2f}" if cell.trains else f"**{cell.loss:.2f}**"

    rows = [
        (rate(peak), *(said(one.cells.get((peak, warmup))) for one in shown for warmup in one.warmups))
        for peak in shown[0].rates
    ]
    head = [f"{RECORDS[one.settings.placement].label}, {warmup}" for one in shown for warmup in one.warmups]
    losses = grid(["peak rate", *head], rows)
    done, of_all = len(records.summary), len(records.runs)
    if done < of_all:
        return f"{losses}\n**{done} of {of_all} runs are done, so there is no answer by the rule yet.**\n"

    rows = [
        (
            *(RECORDS[one.settings.placement].label, f"{one.settings.batch_tokens:,}"),
            *(limit(one.limit(warmup)) for warmup in one.warmups),
        )
        for one in found
    ]
    head = [f"warm-up of {warmup}" if warmup else "no warm-up" for warmup in shown[0].warmups]
    of = {(one.settings.placement, one.settings.batch_tokens): answers.limits(one) for one in found}
    answer = answers.where_training_fails(of["post", small], of["pre", small], of["post", large])
    limits = grid(["limit of", "tokens an update", *head], rows)
    return f"{losses}\n{limits}\n**The answer by the rule: {'; '.join(answer)}.**\n"


def placements() -> str:
    """Every placement: its name in a study, its equation and what else belongs to it, as its file has them."""

    def said(text: str | None) -> str:
        return " ".join((text or "").split()).rstrip(".").replace("<-", "←").replace(" * ", " ⊙ ")

    rows = []
    for name, one in RECORDS.items():
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


def bench() -> str:
    """What the bench of placements says, or how many of its runs are made."""
    study = load_study(ROOT / "config" / "placements.yaml")
    found = OF_BENCHES.load(study, on_a_bench(study, OF_BENCHES.jobs(study)), RESULTS)
    done, of_all = len(found.runs.summary), len(found.runs.runs)
    if done < of_all:
        return f"**{done} of {of_all} runs are made, so there is no answer by the rules yet.**\n"
    return what_the_bench_says(on_the_bench(found))


def what_the_bench_says(found: Mapping[str, OnTheBench]) -> str:
    """The models of a bench whose runs are all done, the one with the lowest loss first, and the best four."""
    rows = [
        (
            name,
            ", ".join(f"{loss:.2f}" for loss in one.losses),
            *((rate(one.rate), warm_up(one.warmup)) if one.trains else ("", "")),
            *(limit(one.limits.without), limit(one.limits.longest)),
            "yes" if bears_more_with_warmup(one) else "no",
            f"{one.sensitivity:.2f}",
        )
        for name, one in sorted(found.items(), key=lambda of: mean(of[1].losses))
    ]
    head = [
        *("", "loss of each seed", "best rate", "its warm-up", "limit, no warm-up", "limit, warm-up"),
        *("bears a higher rate with it", "sensitivity"),
    ]
    others = {record.label: found[record.label] for name, record in RECORDS.items() if name not in PAPER}
    return f"{grid(head, rows)}\n**The best four by the rule: {', '.join(best_four(others))}.**\n"


def limit(highest: float | None) -> str:
    """The largest rate that trains, in words."""
    return "none" if highest is None else rate(highest)


def published_orders() -> str:
    """The published comparisons of two placements of the bench."""
    rows = [
        (order.better, order.worse, order.published, order.of, f"{order.source} ({order.how_known})")
        for order in PUBLISHED
    ]
    return grid(["ahead", "behind", "published", "of", "paper"], rows)


def claims_of_others() -> str:
    """The claims of the papers behind the placements, with their rules."""
    rows = [
        (
            claim.id,
            claim.statement,
            claim.source,
            f"{claim.published} ({claim.how_known})",
            claim.rule,
            str(claim.written),
        )
        for claim in OF_OTHERS
    ]
    return grid(["claim", "what its paper says", "paper", "its number", "rule", "written on"], rows)


def cards() -> str:
    """The GPUs that `preln plan` knows."""
    rows = [
        (gpu.name, f"{gpu.half:,g}", "yes" if gpu.has_bf16 else "no", f"{gpu.single:g}", f"{gpu.memory:g}", gpu.source)
        for gpu in GPUS.values()
    ]
    return grid(["", "peak, half precision", "bf16", "peak, fp32", "GB", "peaks from"], rows)


TABLES: dict[str, Callable[..., str]] = {
    "runs": runs,
    "pretraining": pretraining,
    "verdicts": verdicts,
    "statements": statements,
    "reasons": reasons,
    "changes": changes,
    "findings": findings,
    "radam": radam,
    "theorem": theorem,
    "lemmas": lemmas,
    "variants": variants,
    "rate-budgets": rate_budgets,
    "own-budgets": own_budgets,
    "first-updates": first_updates,
    "amplification": amplification,
    "explanations": explanations,
    "radam-corners": radam_corners,
    "bert-scaled": bert_scaled,
    "short-warm-up": short_warmup,
    "gradient-after-the-warm-up": gradient_after_the_warm_up,
    "small-sums": small_sums,
    "swapped": swapped,
    "early-drop": early_drop,
    "pre-rates": pre_rates,
    "radam-in-pre": radam_in_pre,
    "of-the-control": of_the_control,
    "first-epoch": first_epoch,
    "failure-map": failure_map,
    "placements": placements,
    "bench": bench,
    "published-orders": published_orders,
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
