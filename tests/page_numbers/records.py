"""Numbers of the committed records that the sentences of several pages have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks import record
from docs.answers import (
    amplification,
    control,
    first_epoch,
    first_updates,
    gradient_after_warmup,
    radam,
    radam_in_pre,
    readings,
    short_warmup,
    small_causes,
    warmup_of_post,
    whole_trainings,
)
from docs.committed import Ends, Reader, claims, differences, final, last_of, table
from docs.committed import theory as row_of_the_theory
from docs.markdown import rate
from docs.tables import bars
from preln.config import load as load_study
from preln.jobs.runs import expand
from preln.report.core.statistics import Estimate, mean

ROOT = Path(__file__).parents[2]

RESULTS = ROOT / "results"

BIG, SMALL, QUICK, THEORY, BERT = "iwslt14-50k-cpu", "iwslt14-cpu", "quick-record", "iwslt14-theory", "bert-novels"

POST, PRE = "post-adam-lr5e-4-wu1333-hold1333", "pre-adam-lr5e-4-const-drop2"

SHORT, NONE = "post-adam-lr5e-4-wu167-hold1333", "post-adam-lr5e-4-wu0-hold1333"

RADAM = "post-radam-lr5e-4-linear4653"
"""Runs of `iwslt14-50k-cpu` at the paper's rate; the last three are Post-LN's."""
SIZE, LONG_PRE, LONG_POST = "paper-epoch", "pre-adam-lr5e-4-const-epochs12", "post-adam-lr5e-4-wu4000-epochs12"
"""The study at the paper's size, and its runs to the end of the warm-up."""

Numbers = Callable[[], Iterable[float]]


def bleu(study: str, run: str) -> float:
    return final(study, run, "final_test_bleu")


def curve(study: str, run: str, epoch: int, seed: int = 1, column: str = "valid_loss") -> float:
    """What a run's curve has after an epoch: the validation loss, or another column."""
    recorded = pd.read_csv(ROOT / "results" / study / "translation" / f"{run}-s{seed}" / "curve.csv")
    return float(recorded.set_index("epoch")[column][epoch])


def paired(one: Iterable[float], other: Iterable[float]) -> tuple[float, float]:
    """The mean difference over seeds, with half of its 95% interval (Student's t)."""
    differences = np.subtract(list(one), list(other))
    half = stats.t.ppf(0.975, len(differences) - 1) * differences.std(ddof=1) / np.sqrt(len(differences))
    return float(differences.mean()), float(half)


def amplified(placement: str, of: Literal["step", "gradient"] = "step") -> tuple[float, float]:
    """The exponent of the depth in a placement's first step at the small rate, or in its last gradient, with half of
    its interval."""
    found: Estimate = getattr(amplification.read(RESULTS, amplification.AMPLIFIED_AT[0])[placement], of)
    return found.mean, found.high - found.mean


def first_steps(placement: str, peak: float, layers: int) -> list[float]:
    """The first steps of a placement of `amplification` at a peak rate, of three seeds."""
    depth = "" if layers == 6 else f"-encoderlayers{layers}-decoderlayers{layers}"
    name = f"{placement}-adam-lr{rate(peak)}-wu0-hold1333{depth}-s{{}}/updates.csv"
    traced = [pd.read_csv(RESULTS / "amplification/first-updates" / name.format(seed)) for seed in (1, 2, 3)]
    return [float(updates.set_index("update")["function_change"][1]) for updates in traced]


def first_steps_of_post() -> list[float]:
    """The shortest and the longest of Post-LN's first steps at the full rate, over all depths."""
    return minmax(step for layers in (2, 4, 6, 10, 18) for step in first_steps("post", 5e-4, layers))


def small_sums() -> list[float]:
    """The losses of Post-LN whose rate decays at once, at 1e-3 and at 5e-4; and with a warm-up and as large sums of
    rates."""
    runs = ("1e-3-wu0", "5e-4-wu0", "4.527e-5-wu1333", "2.263e-5-wu1333")
    return [curve("confounds", f"post-adam-lr{run}", 3) for run in runs]


def harm_at_the_same_sum() -> list[float]:
    """How far Post-LN without a warm-up ends above Post-LN with it, where the rates sum to as much: at 5e-4 beside the
    mean of its seeds, then their range, and at 1e-3."""
    found = {
        (one.learning_rate, one.warmup > 0): ends.losses
        for one, ends in readings.read(RESULTS).items()
        if one.anchor == "shift" or one.warmup
    }
    warmed_up = found[5e-4, True]
    harm = [found[rate, False][0] - mean(found[rate, True]) for rate in (5e-4, 1e-3)]
    return [harm[0], max(warmed_up) - min(warmed_up), harm[1]]


def seeds_of_radam() -> tuple[float, float, float]:
    """The lowest and the highest loss of RAdam's seeds at our setting, and how far apart they are."""
    losses = radam.read(RESULTS)[radam.OURS].losses
    return min(losses), max(losses), max(losses) - min(losses)


def closed_by_seeds() -> list[float]:
    """How much of the gap between Adam without a warm-up and with one RAdam closes at 5e-4 in `iwslt14-50k-cpu`, by
    seed, in percent."""
    return [
        100 * (none - radam) / (none - warmed_up)
        for none, radam, warmed_up in zip(of_seeds(NONE), of_seeds(RADAM), of_seeds(POST), strict=True)
    ]


def closed() -> tuple[float, float]:
    """How much RAdam closes of the gap between Adam without a warm-up and with one: the mean, and half of its
    interval."""
    return paired(closed_by_seeds(), [0.0] * 3)


def of_seeds(run: str, epoch: int = 3) -> list[float]:
    """What each of a run's three seeds has after an epoch."""
    return [curve(BIG, run, epoch, seed) for seed in (1, 2, 3)]


def above_the_warm_up() -> list[float]:
    """By how much Post-LN ends higher without a warm-up where the peak is held: the least and the most of the studies
    of translation and their rates."""
    pairs = [
        (QUICK, "post-adam-lr2e-3-wu0-hold400", "post-adam-lr2e-3-wu400-hold400"),
        (QUICK, "post-adam-lr4e-3-wu0-hold400", "post-adam-lr4e-3-wu400-hold400"),
        (SMALL, "post-adam-lr2e-3-wu0-hold600", "post-adam-lr2e-3-wu600-hold600"),
        (SMALL, "post-adam-lr4e-3-wu0-hold600", "post-adam-lr4e-3-wu600-hold600"),
        (BIG, NONE, POST),
        (BIG, "post-adam-lr1e-3-wu0-hold1333", "post-adam-lr1e-3-wu1333"),
    ]
    return minmax(final(study, without) - final(study, with_it) for study, without, with_it in pairs)


def in_pre(run: radam_in_pre.InPre) -> float:
    """The loss of a run that is compared with RAdam's in Pre-LN."""
    return radam_in_pre.read(RESULTS)[run].losses[0]


def radam_in_pre_behind() -> tuple[float, float]:
    """How far RAdam ends behind Adam in Pre-LN at the paper's rate, with half of the interval over paired seeds."""
    found = radam_in_pre.read(RESULTS)
    return paired(*(found[one].losses for one in radam_in_pre.AT_THE_PAPERS))


def short_minus_long() -> tuple[float, float]:
    """By how much the short warm-up at 5e-4 ends above the long one, over three seeds."""
    return paired(of_seeds(SHORT), of_seeds(POST))


def made(study: str) -> list[int]:
    """How many of the translation runs of a study are recorded, and how many it has."""
    runs = expand(load_study(ROOT / "config" / f"{study}.yaml"))
    return [sum((RESULTS / study / run.folder / "metrics.json").exists() for run in runs), len(runs)]


def costs(*models: str) -> list[float]:
    """How many times as long as Post-LN's an update of models of the bench takes, by their entries' names."""
    return [1 / timed(f"placement-{model}")[0] for model in models]


def papers_radam(epoch: int, *columns: str) -> list[float]:
    """What RAdam has after an epoch, with the paper's batch and initialisation: the lowest and the highest of three
    seeds."""
    run = "post-radam-lr5e-4-linear4653-initialisationxavier-epochs4-accumulate4-s{}/curve.csv"
    curves = [pd.read_csv(RESULTS / "confounds" / "translation" / run.format(seed)) for seed in (1, 2, 3)]
    ends = [[recorded.set_index("epoch")[column][epoch] for recorded in curves] for column in columns]
    return [number for end in ends for number in minmax(end)]


def ahead(column: str) -> tuple[float, float]:
    """By how much Pre-LN is ahead of Post-LN at the paper's rate, over three seeds."""
    recorded = table(BIG, "runs").set_index("run")[column]
    pre, post = ([recorded[f"{run}-s{seed}"] for seed in (1, 2, 3)] for run in (PRE, POST))
    return paired(post, pre) if "loss" in column else paired(pre, post)


def ahead_before_the_drop() -> tuple[float, float]:
    """The same of Pre-LN's second epoch, before its rate drops, and Post-LN's third."""
    return paired(of_seeds(POST, 3), of_seeds(PRE, 2))


def ahead_at_the_higher_rate() -> float:
    """The same at 1e-3, of one seed."""
    return final(BIG, "post-adam-lr1e-3-wu1333") - curve(BIG, "pre-adam-lr1e-3-const-drop2", 2)


def ahead_at_the_papers_size(column: str) -> tuple[float, float]:
    """How far Pre-LN ends ahead of Post-LN in `paper-epoch`, with half of the interval over paired seeds."""
    pre, post = ([curve(SIZE, run, 12, seed, column) for seed in (1, 2, 3)] for run in (LONG_PRE, LONG_POST))
    return paired(post, pre) if column == "valid_loss" else paired(pre, post)


def kept_at_the_papers_size() -> tuple[float, float]:
    """What is left of Post-LN's last gradient of W² after the warm-up of `paper-epoch`, with half of its interval."""
    return theory(SIZE, f"{gradient_after_warmup.KEPT}, unbiased", "Post-LN decoder, translation")


def kept_elsewhere() -> list[float]:
    """The least and the most that the other studies have left of it, in percent: of the unbiased estimate where there
    is one."""
    found = []
    for study in (QUICK, BIG, THEORY, "confounds", "placements"):
        measured = table(study, "theory")
        mine = measured[measured["model"] == "Post-LN decoder, translation"].set_index("quantity")["measured"]
        found.append(100 * float(mine.get(f"{gradient_after_warmup.KEPT}, unbiased", mine[AFTER])))
    return minmax(found)


def last_gradient(study: str, part: str) -> pd.Series:
    """What a study measured of Post-LN's last gradient of W² with seed 1, by quantity."""
    measured = pd.read_csv(RESULTS / study / "theory" / part / "measurements.csv")
    of_last = (measured["stack"] == "decoder") & (measured["layer"] == 6) & (measured["matrix"] == "W2")
    return measured[of_last & (measured["seed"] == 1)].set_index("quantity")["value"]


def over_the_warm_up(study: str) -> tuple[float, float, float]:
    """That gradient before the warm-up of a study and after it, and the standard error of the latter."""
    before, after = (last_gradient(study, part) for part in ("post-6", "post-6-after-warm-up"))
    size = float(np.sqrt(after["gradient_square"]))
    return float(np.sqrt(before["gradient_square"])), size, float(after["gradient_square_error"]) / (2 * size)


def longer_warm_up() -> list[float]:
    """What is left after the longer warm-up, its standard error, and the gradient before it and after."""
    before, after, error = over_the_warm_up("long-warmup")
    return [after / before, error / before, before, after]


def already_ahead_at_the_papers_size() -> list[float]:
    """How far Pre-LN is ahead of Post-LN's end after seven of the twelve epochs of `paper-epoch`, with half of the
    interval."""
    earlier, at_the_end = (
        [curve(SIZE, run, epoch, seed) for seed in (1, 2, 3)] for run, epoch in ((LONG_PRE, 7), (LONG_POST, 12))
    )
    return list(paired(at_the_end, earlier))


def behind_on_the_map() -> tuple[float, float]:
    """How far Pre-LN is behind on `failure-map`, by C14's rule, at the rates that three seeds do not decide: the least
    and the most of their means."""
    ours = claims("failure-map")["ours"]["C14"]
    rates = ("0.0014", "0.003", "0.0065")
    means = [float(re.findall(rf"learning_rate {rate} minus post, warmup 560: ([-\d.]+) ±", ours)[0]) for rate in rates]
    return min(means), max(means)


def behind_with_warmups() -> list[float]:
    """By how much Pre-LN's sixth epoch is behind Post-LN's tenth in `small-causes`, with half of the interval: with
    Post-LN's longer warm-up, and with its short one."""
    return [
        number
        for post in (warmup_of_post.LONGER, small_causes.POST)
        for number in paired(small_causes.behind(RESULTS, small_causes.LONG, post), [0] * 3)
    ]


def bars_at_the_papers_size(state: str) -> list[float]:
    """The bars of W² of Post-LN's decoder in `paper-epoch`, by layer, without the mini-batches' noise."""
    found = table(SIZE, "figure-3")
    mine = found[(found["model"] == f"Post-LN, {state}") & (found["matrix"] == "W2")]
    return list(mine.sort_values("layer")["unbiased"])


def whole_trainings_ahead(pre: Reader = last_of) -> list[float]:
    """How far each seed of Pre-LN, at its end or where else it is read, is ahead of Post-LN's end in
    `iwslt14-50k-scaled`."""
    post = whole_trainings.read(RESULTS)[whole_trainings.POST]
    return differences(post, whole_trainings.read(RESULTS, pre)[whole_trainings.PRE])


def gained_by_a_short_warm_up() -> float:
    """How much lower Adam ends with the short warm-up than without one, with four batches in an update, on average."""
    without = radam.read(RESULTS)[radam.ADAM].losses
    return mean(without) - mean(short_warmup.read(RESULTS)[short_warmup.SHORT_LARGER].losses)


def above_the_papers_losses(one: first_epoch.OfFirstEpoch) -> list[float]:
    """By how much the mean loss of a run of `paper-epoch` is above the paper's, at the two points where that is known:
    after its first and its third epoch."""
    return [
        mean(first_epoch.read(RESULTS, epoch)[one].losses) - float(first_epoch.papers(one, epoch)[0])
        for epoch in (1, 3)
    ]


def last_gradients(study: str, measured: str) -> list[float]:
    """The gradient of W² in the last decoder layer of a study's 6-6 model, without the mini-batches' noise, by seed."""
    found = pd.read_csv(RESULTS / study / "theory" / measured / "measurements.csv")
    of_last = (found["stack"] == "decoder") & (found["layer"] == 6) & (found["matrix"] == "W2")
    squares = found[of_last & (found["quantity"] == "gradient_square")].sort_values("seed")["value"]
    return [float(root) for root in np.sqrt(squares)]


def theory(study: str, quantity: str, model: str, scale: float = 1.0) -> tuple[float, float]:
    """What was measured, with half of its 95% interval."""
    row = row_of_the_theory(study, quantity, model)
    return scale * float(row["measured"]), scale * float(row["high"] - row["low"]) / 2


def timed_to() -> list[float]:
    """The loss that the pre-trainings of `bert-novels` are timed to."""
    return [table("bert-novels", "pretraining")["loss"].iloc[0]]


def of_the_control() -> Ends:
    """The ends of Post-LN-init without a warm-up."""
    return control.read(RESULTS)[control.Control("post-init", 0)]


def with_long_beta2() -> Ends:
    """What RAdam with β2 = 0.999 has at the paper's size after the updates of the paper's first epoch."""
    return first_epoch.read(RESULTS)[first_epoch.RADAM_LONG]


def reached(run: str) -> float:
    """The update at which a pre-training of `bert-novels` reaches the loss that all of them are timed to."""
    return float(table(BERT, "pretraining").set_index("run")["reached_update"][run])


LEMMA_1 = ("E‖ReLU(x W^1)‖^2 / d, all layers", "Post-LN encoder, proofs")

DEPTH, GROWTH = "exponent of the depth L", "growth of the gradient of W^2 a layer, towards the output"

SHARE = "share of squared norms above 1.1 of their mean, last layer"

LAST, AFTER = "last gradient of W^2, exponent of the depth", gradient_after_warmup.KEPT_BIASED

VARIANCE_1, VARIANCE_D = (f"exponent of the width d, W^emb of variance {value}" for value in ("1", "1/d"))


def interval(study: str, variant: str, layer: int = 6, model: str = "Pre-LN") -> tuple[float, float]:
    """A model's bar of a layer's W², with half of its 95% interval."""
    recorded = table(study, "figure-3")
    of_model = (recorded["model"] == f"{model}, initial") & (recorded["matrix"] == "W2") & (recorded["depth"] == 6)
    of_variant = recorded["variant"].fillna("") == variant
    (row,) = (row for _, row in recorded[of_model & of_variant & (recorded["layer"] == layer)].iterrows())
    return float(row["measured"]), float(row["high"] - row["low"]) / 2


def minmax(values: Iterable[float]) -> list[float]:
    found = list(values)
    return [min(found), max(found)]


def shares(study: str) -> list[float]:
    """The shares of Pre-LN's translation model: decoder, encoder."""
    return [theory(study, SHARE, f"Pre-LN {stack}, translation")[0] for stack in ("decoder", "encoder")]


def variants() -> list[str]:
    found = table(THEORY, "figure-3")["variant"].fillna("").unique()
    return sorted(found)


def traced(name: str) -> first_updates.FirstUpdates:
    """The first updates of a model."""
    return first_updates.read(RESULTS)[name]


def growth(variant: str) -> float:
    of_variant = bars(THEORY, "Post-LN, initial", variant=variant)
    return float((of_variant[6] / of_variant[1]) ** (1 / 5))


TIMED_ON = ("AMD EPYC, family 25, model 17, AVX512", "AMD EPYC")
"""The processor of the times on the pages: a Zen 4, as the record's entries have it, and as those of before."""


def timed(*names: str) -> list[float]:
    """The ratios of benchmarks, each with its lowest and its highest; older entries if there are no others."""
    known = {(entry["name"], record.processor_of(entry)): entry for entry in record.entries()}
    entries = [next(known[name, on] for on in TIMED_ON if (name, on) in known) for name in names]
    return [float(entry[key]) for entry in entries for key in ("ratio", "low", "high")]


def asked(case: str) -> list[float]:
    """What a case asks of a GPU: launches of fairseq and of ours, waits of fairseq and of ours."""
    counts = [record.find(f"{what}-{case}") for what in ("launches", "syncs")]
    return [count[key] for count in counts for key in ("stock", "value")]


PAPER = "0.29 5.7 0.56 8.45 2.77 31.16 32.1 4.75 5.6 1.66 0.88 0.01 0.13 0.015 1.22 1.09"

GUESSES = "8.25 8.26 9.56 9.6 9.90 13.28"

BOUNDS = "0.485 0.515 0.1 0.125 12.5 0.85 1.15"
