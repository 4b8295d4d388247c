"""The blocks of the theory, from the tables of iwslt14-theory, and of the cosines of traces."""

from __future__ import annotations

from functools import partial

from preln.config import RunSettings
from preln.libraries import pd
from preln.placements import PLACEMENTS
from preln.questions.core.markdown import grid
from preln.questions.core.traced import Trace, traced
from preln.report.core.records import having
from preln.report.core.statistics import plus_minus
from preln.report.pages.committed import Committed

STUDY = "iwslt14-theory"


def measured(
    committed: Committed, name: str, placement: str, digits: int, stack: str = "encoder", end: str = ""
) -> str:
    """A row of the table of the theory, of the model of the proofs, by the id of its quantity; `end` is how the
    quantity's words end, where there are several."""
    rows = having(committed.table(STUDY, "theory"), id=name, placement=placement, stack=stack, of="exact")
    (row,) = rows[rows["quantity"].str.endswith(end)].to_dict("records")
    half = (row["high"] - row["low"]) / 2
    return plus_minus(row["measured"], half, f".{digits}f", f".{digits}f").replace("-", "−")


def lemmas(committed: Committed) -> str:
    """The predictions of the theory, beside what was measured."""
    post_ln = having(committed.table(STUDY, "figure-3"), model="Post-LN, initial")
    last = post_ln[post_ln["figure"].isin(["3(c)", "3(b, c)"])].sort_values("depth")
    widest = ((last["high"] - last["low"]) / 2).max()
    falls = bars(committed, "Post-LN, initial") / bars(committed, "Post-LN, after warm-up")

    of = partial(measured, committed)
    rows = [
        ("Lemma 1, E‖ReLU(xW¹)‖²/d, Post-LN encoder", "1/2", of("relu-square-norm", "post", 3)),
        ("the same, Pre-LN encoder", "1/2", of("relu-square-norm", "pre", 3)),
        ("Lemma 2, E‖x‖²/d in every layer, Post-LN encoder", "3/2", of("square-norm", "post", 2)),
        ("the same, Post-LN decoder", "3/2", of("square-norm", "post", 2, "decoder")),
        ("Lemma 2, layer 12, Pre-LN encoder", "7 to 19", of("square-norm", "pre", 1, end="layer 12")),
        (
            "its counterpart for a Pre-LN decoder (derived here)",
            "7 to 31",
            of("square-norm", "pre", 1, "decoder", "layer 12"),
        ),
        ("Lemma 3, spectral norm of LayerNorm's Jacobian over √d/‖y‖", "1", of("jacobian-norm", "post", 4)),
        ("Theorem 1, exponent of the depth, Post-LN, L = 2 to 64", "0", of("depth-exponent", "post", 3)),
        ("the same, Pre-LN", "−1/2", of("depth-exponent", "pre", 3)),
        (
            "Figure 3(c), Post-LN's last gradient at 6-6, 8-8, 10-10, 12-12, 14-14",
            "constant",
            ", ".join(f"{value:.2f}" for value in last["measured"]) + f" (± {widest:.2f} at most)",
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
    ]
    return grid(["", "predicted", "measured"], rows)


def bars(committed: Committed, model: str, variant: str = "") -> pd.Series:
    """The bars of figure 3 for W^2 of a model with 6-6 layers, by layer."""
    recorded = committed.table(STUDY, "figure-3").fillna({"variant": ""})
    return having(recorded, model=model, matrix="W2", depth=6, variant=variant).set_index("layer")["measured"]


def variants(committed: Committed) -> str:
    """Figure 3's bars of the first and the last layer, with what the paper leaves open varied."""
    recorded = committed.table(STUDY, "figure-3")
    bars_of_paper = recorded[(recorded["matrix"] == "W2") & recorded["paper"].notna() & recorded["variant"].isna()]
    known = {model: of_model.set_index("layer")["paper"] for model, of_model in bars_of_paper.groupby("model")}

    def cells(post: pd.Series, pre: pd.Series) -> list[str]:
        growth = f"{(post[6] / post[1]) ** (1 / 5):.2f}"
        return [f"{post[1]:#.3g}", f"{post[6]:#.3g}", growth, f"{pre[1]:#.3g}", f"{pre[6]:#.3g}"]

    rows = [["**the paper**", *cells(known["Post-LN, initial"], known["Pre-LN, initial"])]]
    names = ["", *sorted(recorded["variant"].dropna().unique(), key=lambda name: (name.count("+"), name))]
    for name in names:
        sides = (bars(committed, f"{model}, initial", name) for model in ("Post-LN", "Pre-LN"))
        rows.append([f"`{name}`" if name else "as the studies train it", *cells(*sides)])
    head = ["", "Post-LN, layer 1", "Post-LN, layer 6", "growth a layer", "Pre-LN, layer 1", "Pre-LN, layer 6"]
    return grid(head, rows)


def cosines(committed: Committed) -> str:
    """The cosine between the decoder's last states of two words, at initialisation, after one update and after the
    last, of each seed: of 6-6 layers at half the paper's width, and by depth."""
    rows = []
    for study in ("first-updates", "amplification"):
        models: dict[tuple[str, int, int], list[Trace[RunSettings]]] = {}
        for trace in traced(committed.evidence(study), RunSettings):
            settings = trace.settings
            if settings.learning_rate == 5e-4:
                models.setdefault((settings.placement, settings.warmup, settings.decoder_layers), []).append(trace)
        for (placement, warmup, layers), traces in models.items():
            columns = [trace.table["cosine"] for trace in traces]
            cells = [", ".join(f"{column.iloc[place]:.3g}" for column in columns) for place in (0, 1, -1)]
            last_update = str(int(traces[0].table["update"].iloc[-1]))
            name = PLACEMENTS[placement].label + (f", warm-up of {warmup:,}" if warmup else "")
            rows.append([f"`{study}`", name, f"{layers}-{layers}", *cells, last_update])
    return grid(["study", "", "layers", "at initialisation", "after one update", "at the end", "updates"], rows)
