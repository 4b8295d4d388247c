"""Claims of the papers behind the other placements, each with the rule that decides on it, and their ledger.

They are none of the eighteen claims of Xiong et al., and are counted apart. A rule is a function of the records of a
bench of placements. It was written before the runs that it judges.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from preln.config import RunSettings, Study
from preln.jobs.base import Job
from preln.libraries import pd
from preln.report.claims.rules import Finding, reason, verdict
from preln.report.core.entries import Source
from preln.report.core.forms import Content
from preln.report.core.statistics import Estimate, estimate, exponent
from preln.report.core.table import Table
from preln.report.reference.claims import KnownAs
from preln.theory.measurements import INITIAL
from preln.theory.report import traces
from preln.theory.report.records import expected_gradients, growth, profile
from preln.theory.trace_jobs import TraceJob
from preln.translation.report import bench

_FEWEST_DEPTHS = 3
_TWO_POST_LN_LAYERS = 8
"""Layers of a stack of Mix-LN in which two are Post-LN."""

BySeed = Mapping[int, float]
"""A number of each seed."""


@dataclass(frozen=True)
class Records:
    """What is known of the placements.

    Attributes:
        bench: the records of the bench, and of the theory.
        traces: the traces of first updates.
    """

    bench: bench.Records
    traces: traces.Records


@dataclass(frozen=True)
class Claim:
    """A claim of a paper behind a placement.

    Attributes:
        id: P1, P2, ...
        statement: the claim, in our words.
        source: the paper.
        published: its number.
        how_known: how that is known; see the package `preln.report.reference`.
        rule: what is asked of the records, in words.
        written: the date of the rule.
        findings: the rule as a function; nothing where a study has no records for it.
    """

    id: str
    statement: str
    source: str
    published: str
    how_known: KnownAs
    rule: str
    written: datetime.date
    findings: Callable[[Records], list[Finding]]


def bounded_growth(records: Records) -> list[Finding]:
    """P1: how the sums behind the last decoder layer grow in the first updates, in Peri-LN and over it in Pre-LN."""
    found = []
    for settings, peri in _curves(records, "peri").items():
        pre = _curves(records, "pre").get(settings)
        mine = {seed: _growth_of_sums(trace, settings) for seed, trace in peri.items()}
        what = "growth of the last sums over the updates of a trace"
        found.append(Finding(f"{what}, Peri-LN", estimate(list(mine.values())), -inf, 2.0))
        if pre:
            theirs = {seed: _growth_of_sums(trace, settings) for seed, trace in pre.items()}
            found.append(Finding(f"{what}, Pre-LN over Peri-LN", _over(theirs, mine), 1.5, inf))
    return found


def constant_update(records: Records) -> list[Finding]:
    """P2: the exponent of the depth in the largest change of the function, in DeepNorm and beside it in Post-LN."""
    mine, theirs = (_exponents_of_the_change(records, placement) for placement in ("deepnorm", "post"))
    what = f"exponent of the depth in the largest change of the function in {traces.FIRST} updates"
    found = []
    for settings, deepnorm in mine.items():
        found.append(Finding(f"{what}, DeepNorm", estimate(list(deepnorm.values())), -0.25, 0.25))
        post = theirs.get(settings, {})
        if both := sorted(deepnorm.keys() & post.keys()):
            difference = estimate([post[seed] - deepnorm[seed] for seed in both])
            found.append(Finding(f"{what}, Post-LN minus DeepNorm", difference, 0.25, inf))
    return found


def smaller_variance(records: Records) -> list[Finding]:
    """P3: the hidden states of LayerNorm scaling over those of Pre-LN, behind the last layer of the model of the
    proofs."""
    layers = profile(records.bench.theory.table)
    sums = layers[(layers["quantity"] == "square_norm") & (layers["layer"] == layers["depth"])]
    found = []
    for stack in ("encoder", "decoder"):
        of_stack = sums[sums["stack"] == stack]
        mine, theirs = (_by_seed(of_stack[of_stack["placement"] == placement]) for placement in ("lns", "pre"))
        if mine and theirs:
            what = f"E‖x‖^2 / d behind the last layer, LayerNorm scaling over Pre-LN, {stack}, proofs"
            found.append(Finding(what, _over(mine, theirs), -inf, 0.7))
    return found


def even_gradients(records: Records) -> list[Finding]:
    """P4: the largest gradient of W^2 of a decoder layer over the smallest, in Mix-LN over that in Post-LN and Pre-LN;
    of translation models at the smallest depth of those that are deep enough."""
    norms = expected_gradients(records.bench.theory.table)
    norms = norms[(norms["matrix"] == "W2") & (norms["stack"] == "decoder") & (norms["depth"] >= _TWO_POST_LN_LAYERS)]
    norms = norms[(norms["variant"] == "") & (norms["state"] == INITIAL)]
    norms = norms[norms["depth"] == norms["depth"].min()]
    mix, *others = (_spreads(norms[norms["placement"] == placement]) for placement in ("mix-ln", "post", "pre"))
    what = "largest over smallest gradient of W^2 of a decoder layer, Mix-LN over"
    return [
        Finding(f"{what} {name}", _over(mix, other), -inf, 1.0)
        for name, other in zip(("Post-LN", "Pre-LN"), others, strict=True)
        if mix and other
    ]


def kept_gradient(records: Records) -> list[Finding]:
    """P5: the growth of the gradient of W^2 a layer, towards the output, in the decoder of the model of the proofs."""
    layers = profile(records.bench.theory.table)
    norms = layers[(layers["quantity"] == "gradient_norm") & (layers["variant"] == "") & (layers["matrix"] == "W2")]
    # Within a single layer nothing grows.
    norms = norms[(norms["stack"] == "decoder") & (norms["depth"] > 1)]
    mine, theirs = (
        {
            seed: factor
            for seed in sorted(set(norms["seed"]))
            for factor in growth(norms[(norms["placement"] == name) & (norms["seed"] == seed)])
        }
        for name in ("resi-dual", "post")
    )
    what = "growth of the gradient of W^2 a layer, decoder, proofs"
    found = []
    if mine:
        found.append(Finding(f"{what}, ResiDual", estimate(list(mine.values())), -inf, 1.1))
    if mine.keys() & theirs.keys():
        found.append(Finding(f"{what}, Post-LN over ResiDual", _over(theirs, mine), 1.1, inf))
    return found


def _curves(records: Records, placement: str) -> dict[RunSettings, dict[int, pd.DataFrame]]:
    """The traces of a placement by their settings but for it, and by seed."""
    table = records.traces.table
    found = {}
    for name, settings in records.traces.curves.items():
        if settings.placement == placement:
            mine = table[table["curve"] == name].sort_values("update")
            by_seed = {int(seed): mine[mine["seed"] == seed] for seed in set(mine["seed"])}
            found[settings.model_copy(update={"placement": "post"})] = by_seed
    return found


def _growth_of_sums(trace: pd.DataFrame, settings: RunSettings) -> float:
    """The root mean square of what the last decoder layer's norm takes, after the last update over that before the
    first."""
    sums = trace[traces.of_layer("input_norm", settings, last=True)]
    return float(sums.iloc[-1] / sums.iloc[0])


def _exponents_of_the_change(records: Records, placement: str) -> dict[RunSettings, BySeed]:
    """The exponent of the depth in the largest change of the function, by seed, of traces that differ in the depth
    alone, by what they share: the settings but for the placement and the depth; at enough depths."""
    changes: dict[RunSettings, dict[int, dict[int, float]]] = {}
    for settings, by_seed in _curves(records, placement).items():
        alike = settings.model_copy(update={"encoder_layers": 1, "decoder_layers": 1})
        for seed, trace in by_seed.items():
            largest = traces.largest_step(trace, settings)
            changes.setdefault(alike, {}).setdefault(seed, {})[settings.decoder_layers] = largest
    exponents = {
        alike: {
            seed: exponent(list(by_depth), list(by_depth.values()))
            for seed, by_depth in by_seed.items()
            if len(by_depth) >= _FEWEST_DEPTHS
        }
        for alike, by_seed in changes.items()
    }
    return {alike: by_seed for alike, by_seed in exponents.items() if by_seed}


def _by_seed(measured: pd.DataFrame) -> BySeed:
    """The values of measurements that are a row a seed."""
    return {int(row["seed"]): float(row["value"]) for row in measured.to_dict("records")}


def _spreads(measured: pd.DataFrame) -> BySeed:
    """The largest value of each seed over its smallest."""
    by_seed = {int(seed): measured.loc[measured["seed"] == seed, "value"] for seed in set(measured["seed"])}
    return {seed: float(values.max() / values.min()) for seed, values in by_seed.items()}


def _over(mine: BySeed, theirs: BySeed) -> Estimate:
    """The ratio, of the seeds that both have."""
    return estimate([mine[seed] / theirs[seed] for seed in sorted(mine.keys() & theirs.keys())])


CLAIMS = (
    Claim(
        id="P1",
        statement="Peri-LN: hidden states grow by a bounded amount a layer, also in training. Those of Pre-LN swell.",
        source="Kim et al. (2025), arXiv:2502.02732",
        published="in words, of models of up to 3.2 billion parameters",
        how_known="stated",
        rule="In a trace of first updates, the root mean square of the sums behind the last decoder layer ends at no "
        "more than twice what it is at initialisation in Peri-LN. Pre-LN's factor is at least 1.5 times Peri-LN's.",
        written=datetime.date(2026, 11, 23),
        findings=bounded_growth,
    ),
    Claim(
        id="P2",
        statement="DeepNorm: an update changes the model's function by an amount that does not depend on the depth.",
        source="Wang et al. (2022), arXiv:2203.00555",
        published="10 to 100 layers train on IWSLT14, to more than 30 BLEU after 8,000 updates",
        how_known="read-off",
        rule=f"The largest change of the decoder's last states in the first {traces.FIRST} updates has an exponent of "
        "the depth from -0.25 to 0.25 in DeepNorm. That of Post-LN is at least 0.25 larger.",
        written=datetime.date(2026, 11, 23),
        findings=constant_update,
    ),
    Claim(
        id="P3",
        statement="LayerNorm scaling: the variance of the hidden states grows less with the depth than in Pre-LN.",
        source="Sun et al. (2025), arXiv:2502.05795",
        published="in words; perplexity of 130, 250, 350 and 1,000 million parameters 25.76, 20.35, 18.20 and 15.71, "
        "of Pre-LN 26.73, 21.92, 19.58 and 17.02",
        how_known="printed",
        rule="In the model of the proofs at initialisation, E‖x‖^2 / d behind the last layer is at most 0.7 times "
        "Pre-LN's, in both stacks.",
        written=datetime.date(2026, 11, 23),
        findings=smaller_variance,
    ),
    Claim(
        id="P4",
        statement="Mix-LN: its gradients differ less between the layers than those of Post-LN and of Pre-LN.",
        source="Li et al. (2025), arXiv:2412.13795",
        published="in words; perplexity of 130 and 250 million parameters 26.07 and 21.39, of Pre-LN 26.73 and 21.92 "
        "(by Sun et al., 2025)",
        how_known="printed",
        rule="In translation models at initialisation, the largest gradient of a decoder layer's W^2 over the smallest "
        "is no larger than in Post-LN and in Pre-LN. The models have the smallest depth of those of eight layers or "
        "more, for with fewer layers only one is Post-LN.",
        written=datetime.date(2026, 11, 23),
        findings=even_gradients,
    ),
    Claim(
        id="P5",
        statement="ResiDual: the gradient of the lower layers does not vanish as in Post-LN.",
        source="Xie et al. (2023), arXiv:2304.14802",
        published="in words; 12-12 layers on IWSLT14 end at BLEU 36.09, where Post-LN fails (not checked)",
        how_known="unknown",
        rule="In the decoder of the model of the proofs, the gradient of W^2 grows by at most 1.1 a layer towards the "
        "output. In Post-LN it grows by at least 1.1 times as much.",
        written=datetime.date(2026, 11, 23),
        findings=kept_gradient,
    ),
)


def judge(records: Records) -> pd.DataFrame:
    """The ledger: a row for each claim, with the verdict, what was found, and the reason."""
    rows: list[dict[str, Any]] = []
    for claim in CLAIMS:
        found = claim.findings(records)
        rows.append(
            {
                **{"claim": claim.id, "statement": claim.statement, "source": claim.source},
                **{"published": claim.published, "how_known": claim.how_known},
                **{"rule": claim.rule, "written": str(claim.written)},
                **{"verdict": str(verdict(found)), "ours": "; ".join(map(str, found)), "reason": reason(found)},
            }
        )
    return pd.DataFrame(rows)


def make(study: Study, records: Records) -> Content:
    """The ledger as a table."""
    full = judge(records)
    text = full.drop(columns=["how_known", "ours"])
    text["published"] = [
        f"{value} ({known})" for value, known in zip(full["published"], full["how_known"], strict=True)
    ]
    text = text.rename(columns=str.capitalize)
    return Content(full, text, f"Study {study.study}: claims of other papers.", [_NOTE], text[["Claim", "Verdict"]])


_NOTE = (
    "These are claims of the papers behind the placements, and none of the eighteen claims of Xiong et al. Each rule "
    "was written on its date, before its runs. With several seeds, the 95% interval of the mean decides; with one "
    "seed, its value does."
)


def _jobs(study: Study) -> list[Job]:
    return [*bench.SOURCE.jobs(study), *traces.SOURCE.jobs(study)]


def _load(study: Study, jobs: Sequence[Job], results: Path) -> Records:
    of_traces = [job for job in jobs if isinstance(job, TraceJob)]
    others = [job for job in jobs if not isinstance(job, TraceJob)]
    return Records(bench.SOURCE.load(study, others, results), traces.load(study, of_traces, results))


TABLE = Table(
    name="claims-of-others",
    title="Claims of the papers behind the placements",
    caption="What the papers behind the placements claim, the rule for it with its date, and the verdict. They are no "
    "claims of Xiong et al., and are counted apart.",
    source=Source(_jobs, _load),
    of=bench.on_a_bench,
    make=make,
)
