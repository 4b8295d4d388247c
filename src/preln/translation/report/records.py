"""The records of a study's runs as tidy frames: settings from the study, numbers from the run's folder.

A run counts as done when its folder `results/<study>/translation/<run>/` holds metrics.json; a grid that is
partly done gives the frames of what there is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from preln.config import RunSettings, Study
from preln.libraries import pd
from preln.records.recording import METRICS, RecordError, read
from preln.report.core.entries import Source
from preln.report.core.records import done, hardware_line, table
from preln.report.reference import cells
from preln.translation.curve import ADDED, COLUMNS
from preln.translation.runs import Run, expand

SETTINGS = list(RunSettings.model_fields)
"""The columns that hold a run's settings, named as in the study file."""

RATE = {"learning_rate": "rate"}
"""The other name of the learning rate at a time, since `learning_rate` is the setting: the peak."""
MEASURED = [RATE.get(name, name) for name in COLUMNS]
"""The columns of curve.csv; `rate` is that at the end of the epoch."""

_EPOCH = ["epoch", "valid_loss", "test_loss", "valid_bleu", "test_bleu", "valid_sacrebleu", "test_sacrebleu"]
_EPOCH += sorted(ADDED)
_ENDING = ["status", "diverged_update", "diverged_epoch", "updates", "parameters", "seconds", "tokens_per_second"]
_SIGNATURES = ["signature_tokenised", "signature_sacrebleu", "signature_chrf"]
_SENTENCES = ["sentences_valid", "sentences_test"]
_LOSSES = [f"{epoch}_{name}" for epoch in ("final", "best") for name in _EPOCH]
SUMMARY = [*_ENDING, *_LOSSES, *_SIGNATURES, *_SENTENCES, "constant_guess", "commit", "hardware"]
"""The columns of a summary that come from the records; those of chrF are left out where no record has them."""
_WHOLE = ["diverged_update", "diverged_epoch", "updates", "parameters", "final_epoch", "best_epoch", *_SENTENCES]


@dataclass(frozen=True)
class Records:
    """The records of some runs.

    Attributes:
        runs: the runs, whether they are done or not.
        curves: a row for each epoch of each run: the run's id, its settings, and the columns `MEASURED`. Losses are in
            bits a token, with label smoothing unless `nll` is in the name; BLEU and chrF are in percent. A run that
            diverged in its first epoch has no row.
        summary: a row for each run that is done: the run's id, its settings, and the columns `SUMMARY`.
            `constant_guess` is the loss of a model that knows how frequent each piece is, and nothing else; `final_` is
            the last epoch and `best_` the epoch of the lowest validation loss; `tokens_per_second` is the median over
            the epochs, `seconds` the time of all epochs.
    """

    runs: tuple[Run, ...]
    curves: pd.DataFrame
    summary: pd.DataFrame


def load(study: Study, runs: Sequence[Run], results: Path) -> Records:
    """The records of those of the runs that are done; `results` is the folder of the results of all studies. It raises
    what `done` raises, and RecordError if a metrics.json is incomplete."""
    epochs: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for run, folder, record in done(study, runs, results, METRICS):
        metrics = read(folder / METRICS)
        settings = {"run": run.id, **run.settings.model_dump(mode="json")}
        curve = _curve(folder / "curve.csv")
        epochs += [settings | {name: epoch[name] for name in MEASURED} for epoch in curve.to_dict("records")]
        try:
            row = _summary_row(metrics) | {
                "tokens_per_second": curve["tokens_per_second"].median(),
                "constant_guess": metrics.get("constant_guess") or known_baseline(run.settings, record),
                "commit": record["commit"],
                "hardware": hardware_line(record["hardware"]),
            }
        except (KeyError, TypeError) as error:
            raise RecordError(f"{folder / METRICS}: incomplete ({error})") from None
        rows.append(settings | row)
    # Whole numbers stay whole where a run that diverged at once has none.
    summary = pd.DataFrame(rows, columns=["run", *SETTINGS, *SUMMARY]).astype(dict.fromkeys(_WHOLE, "Int64"))
    summary = summary.drop(columns=[name for name in SUMMARY if "chrf" in name and summary[name].isna().all()])
    return Records(tuple(runs), pd.DataFrame(epochs, columns=["run", *SETTINGS, *MEASURED]), summary)


def translating(study: Study, runs: Iterable[Run], results: Path) -> list[tuple[float, float]]:
    """The seconds of training and those of BLEU, of each run that is done and recorded both for all of its epochs; it
    raises what `load` does."""
    every = [read(folder / METRICS) for _, folder, _ in done(study, runs, results, METRICS)]
    recorded = [(metrics["seconds"], metrics["bleu"].get("seconds")) for metrics in every]
    return [(training, sum(epochs)) for training, epochs in recorded if epochs and None not in epochs]


def _summary_row(metrics: dict[str, Any]) -> dict[str, Any]:
    bleu = metrics["bleu"]
    diverged = metrics["diverged"] or {"update": None, "epoch": None}
    return {
        "status": metrics["status"],
        "diverged_update": diverged["update"],
        "diverged_epoch": diverged["epoch"],
        "updates": metrics["updates"],
        "parameters": metrics["parameters"],
        "seconds": metrics["seconds"],
        "signature_tokenised": bleu["tokenised"],
        "signature_sacrebleu": bleu["sacrebleu"],
        "signature_chrf": bleu.get("chrf"),
        "sentences_valid": bleu["sentences"]["valid"],
        "sentences_test": bleu["sentences"]["test"],
        **{
            f"{epoch}_{name}": {**dict.fromkeys(ADDED), **metrics[epoch]}[name] if metrics[epoch] else None
            for epoch in ("final", "best")
            for name in _EPOCH
        },
    }


def known_baseline(settings: RunSettings, record: dict[str, Any]) -> float:
    """The unigram baseline, in bits a token, of the text of a run that was trained before each recorded its own, by the
    run's settings and its run.json; NaN where it is not known."""
    corpus = record.get("corpus", {})
    texts = [file["sha256"] for file in corpus.get("parts", {}).get("train", {}).get("files", {}).values()]
    vocabulary = corpus.get("settings", {}).get("vocabulary")
    guesses = (_baselines().get((text, vocabulary, settings.label_smoothing)) for text in texts)
    return next((bits for bits in guesses if bits is not None), math.nan)


@cache
def _baselines() -> dict[tuple[str, int, float], float]:
    """By the checksum of the target text, the vocabulary's size and the label smoothing. They were computed by
    `preln.translation.unigram_baseline` from the prepared texts; one is known to two digits alone."""
    return {
        (row["train_sha256"], int(row["vocabulary"]), float(row["label_smoothing"])): float(row["bits"])
        for row in cells("constant_guesses.csv", __package__)
    }


def _curve(path: Path) -> pd.DataFrame:
    needed = [name for name in COLUMNS if name not in ADDED]
    return table(path, needed).reindex(columns=COLUMNS).rename(columns=RATE)


SOURCE = Source(expand, load)
