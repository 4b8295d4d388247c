"""The explorer: one page, without a network, with every recorded run of the benches and maps. Its reader chooses the
settings of a run, and sees its loss beside Pre-LN's, the gradient of each layer where it was traced, the map of rates
and warm-ups, and the command that trains it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from preln.config import LanguageSettings, RunSettings, of_results
from preln.errors import PrelnError
from preln.jobs.base import digest
from preln.jobs.kind import Kind
from preln.jobs.results import STUDY_FILE
from preln.language.kind import LANGUAGE
from preln.language.runs import LanguageRun
from preln.libraries import np, pd
from preln.placements import PLACEMENTS
from preln.records import packed, recording
from preln.records.files import write_text
from preln.report.core.labels import label, setting, text_name, varying
from preln.report.core.records import done, table
from preln.report.core.statistics import LEARNED, has_learned
from preln.theory.kind import FIRST_UPDATES
from preln.theory.trace_jobs import TraceJob
from preln.translation.kind import TRANSLATION
from preln.translation.runs import Run
from preln.values import short

STUDIES = ("failure-map*", "placements*", "widths", "language-map*", "language-bench*", "first-updates")
"""The benches and maps, by the names of their studies."""
MOST_POINTS, DIGITS = 60, 4
"""The most points of a curve, and the digits of its numbers."""
CONTROLS: dict[str, Callable[[Any], str]] = {
    "Text": str,
    "Placement": lambda placement: setting("placement", placement),
    "Layers": lambda layers: "-".join(map(str, layers)),
    "Width": str,
    "Other settings": lambda others: others or "as all of them",
    "Peak rate": short,
    "Warm-up": str,
    "Seed": str,
}
"""The choices of the page, in the order in which one restricts the next, and their values in words."""

_KINDS: dict[Kind[Any], str] = {TRANSLATION: "Translation", LANGUAGE: "Language model", FIRST_UPDATES: "First updates"}
_CHOSEN = {"corpus", "text", "tokens", "placement", "encoder_layers", "decoder_layers", "layers", "width"}
_CHOSEN |= {"learning_rate", "warmup", "seed"}
_FOLLOWING = {"ffn_width", "validate_every", "valid_tokens"}
"""Settings that go with others, or affect no training."""
_TRACED = ("corpus", "placement", "norm", "qk_norm", "encoder_layers", "decoder_layers", "width", "initialisation")
"""The settings that a trace shares with the trainings of its model."""


def benches(results: Path) -> list[str]:
    """The benches and maps that have records in the folder of the results of all studies."""
    folders = [folder for pattern in STUDIES for folder in sorted(results.glob(pattern))]
    return [folder.name for folder in folders if all((folder / file).exists() for file in (STUDY_FILE, packed.FILE))]


def write(results: Path, out: Path) -> None:
    """Write the explorer of the benches and maps to `out`; `results` is the folder of the results
    of all studies."""
    # The workflow imports this module for its list of studies alone.
    from markupsafe import Markup

    from preln.report.html.template import rendered

    data = content(results)
    text = rendered(
        "explorer",
        studies=benches(results),
        runs=len(data["runs"]),
        margin=LEARNED,
        data=Markup(json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", r"<\/")),
    )
    write_text(out, text)


def content(results: Path) -> dict[str, Any]:
    """The values of each control, and the runs: the numbers of their values, their curves and the folders of their
    records. A run that several studies have is there once.

    Raises:
        PrelnError: if there is no bench and no map.
        RecordError: if a record cannot be used.
    """
    runs: dict[str, tuple[str, Any, dict[str, Any]]] = {}
    for study in benches(results):
        for text, job, numbers in _runs(results / study):
            _, _, run = runs.setdefault(digest(job.identity), (text, job.settings, {"folders": [], **numbers}))
            run["folders"].append(f"{study}/{job.folder}")
    if not runs:
        raise PrelnError(f"{results}: has no records of a bench or a map ({', '.join(STUDIES)})")
    of_text: dict[str, list[Any]] = {}
    for text, settings, _ in runs.values():
        of_text.setdefault(text, []).append(settings)
    differing = {text: varying(settings) - _CHOSEN - _FOLLOWING for text, settings in of_text.items()}
    choices = [_choice(text, settings, differing[text]) for text, settings, _ in runs.values()]
    values = [_in_order(column) for column in zip(*choices, strict=True)]
    models = [tuple(getattr(settings, key, None) for key in _TRACED) for _, settings, _ in runs.values()]
    numbered = {model: number for number, model in enumerate(dict.fromkeys(models))}
    return {
        "controls": {
            title: [words(value) for value in column]
            for (title, words), column in zip(CONTROLS.items(), values, strict=True)
        },
        "colours": [PLACEMENTS[placement].colour for placement in values[1]],
        "runs": [
            {
                "choice": [column.index(value) for column, value in zip(values, choice, strict=True)],
                "model": numbered[model],
                **numbers,
            }
            for choice, model, (_, _, numbers) in zip(choices, models, runs.values(), strict=True)
        ],
    }


def _runs(folder: Path) -> Iterator[tuple[str, Run | LanguageRun | TraceJob, dict[str, Any]]]:
    """The recorded runs of a study: kind and text in words, the job, and its numbers."""
    study = of_results(folder / STUDY_FILE)
    for kind, title in _KINDS.items():
        last, numbers = (recording.RUN, _trace) if kind is FIRST_UPDATES else (recording.METRICS, _training)
        for job, of_job, _ in done(study, kind.expand(study, folder / STUDY_FILE), folder.parent, last):
            settings = job.settings
            text = settings.corpus if isinstance(settings, RunSettings) else f"{settings.text}, {settings.tokens}"
            yield f"{title}, {text_name(text)}", job, numbers(of_job)


def _choice(text: str, settings: RunSettings | LanguageSettings, differing: set[str]) -> tuple[Any, ...]:
    if isinstance(settings, LanguageSettings):
        layers: tuple[int, ...] = (settings.layers,)
    else:
        layers = (settings.encoder_layers, settings.decoder_layers)
    others = label(settings, differing, with_warmup=False)
    rate, warmup = settings.learning_rate, settings.warmup
    return text, settings.placement, layers, settings.width, others, rate, warmup, settings.seed


def _in_order(values: Iterable[Any]) -> list[Any]:
    """The values, each once: words as the studies have them, numbers by size."""
    distinct = list(dict.fromkeys(values))
    return distinct if isinstance(distinct[0], str) else sorted(distinct)


def _training(folder: Path) -> dict[str, Any]:
    metrics = recording.read(folder / recording.METRICS)
    curve = table(folder / "curve.csv", ["updates", "valid_loss"])
    diverged = metrics["diverged"]
    loss = None if diverged else metrics["final"]["valid_loss"]
    baseline = metrics["constant_guess" if "constant_guess" in metrics else "unigram_baseline"]
    return {
        **_points(curve.set_index("updates")["valid_loss"]),
        "loss": loss,
        "diverged": diverged and diverged["update"],
        "baseline": baseline,
        "fails": diverged is not None or not has_learned(metrics["final"]["valid_loss"], baseline),
    }


def _trace(folder: Path) -> dict[str, Any]:
    """The losses of a trace, and the norm of each layer's gradient at its first and its last update."""
    trace = table(folder / "updates.csv", ["update", "loss"]).set_index("update")
    losses = trace["loss"].dropna()
    norms = trace.filter(regex=r"^gradient_norm\.(en|de)coder\.").dropna(axis="columns", how="all")
    ends = norms.dropna().iloc[[0, -1]]
    return {
        **_points(losses),
        "loss": float(losses.iloc[-1]),
        "layers": [str(column).removeprefix("gradient_norm.") for column in norms],
        "gradients": [
            {"update": update, "norms": _rounded(row)}
            for update, row in zip(ends.index.tolist(), ends.to_numpy(), strict=True)
        ],
    }


def _points(losses: pd.Series) -> dict[str, Any]:
    """At most `MOST_POINTS` points of a curve of losses by update, its first and its last among them."""
    kept = np.unique(np.linspace(0, len(losses) - 1, min(MOST_POINTS, len(losses))).round().astype(int))
    return {"x": losses.index[kept].tolist(), "y": _rounded(losses.iloc[kept])}


def _rounded(values: Iterable[float]) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in values]
