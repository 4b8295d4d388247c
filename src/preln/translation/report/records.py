"""The records of a study's runs as tidy frames: settings from the study, numbers from the run's folder.

A run counts as done when its folder `results/<study>/translation/<run>/` holds metrics.json; a grid that is
partly done gives the frames of what there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preln.config import RunSettings, Study
from preln.libraries import pd
from preln.records import packed
from preln.records.recording import AGAIN, METRICS, RecordError, read
from preln.report.core.entries import Source
from preln.report.core.records import Texts, hardware_line, own, table
from preln.translation.curve import COLUMNS
from preln.translation.report.constant_guesses import known
from preln.translation.runs import Run, expand

SETTINGS = list(RunSettings.model_fields)
"""The columns that hold a run's settings, named as in the study file."""

RATE = {"learning_rate": "rate"}
"""The other name of the learning rate at a time, since `learning_rate` is the setting: the peak."""
MEASURED = [RATE.get(name, name) for name in COLUMNS]
"""The columns of curve.csv; `rate` is that at the end of the epoch."""

_OF_AN_EPOCH = [
    *("epoch", "valid_loss", "test_loss", "valid_bleu", "test_bleu", "valid_sacrebleu", "test_sacrebleu"),
]

SUMMARY = [
    *("status", "diverged_update", "diverged_epoch", "updates", "parameters", "seconds", "tokens_per_second"),
    *(f"{which}_{name}" for which in ("final", "best") for name in _OF_AN_EPOCH),
    *("signature_tokenised", "signature_sacrebleu", "sentences_valid", "sentences_test"),
    *("constant_guess", "commit", "hardware"),
]
"""The columns of a summary that come from the records."""

_WHOLE = [
    *("diverged_update", "diverged_epoch", "updates", "parameters", "final_epoch", "best_epoch"),
    *("sentences_valid", "sentences_test"),
]


def curves(study: Study, runs: Iterable[Run], results: Path) -> pd.DataFrame:
    """One row for each run and epoch: the run's id, its settings, and the columns `MEASURED`.

    Losses are in bits a token, with label smoothing unless `nll` is in the name; BLEU is in percent. A run
    that diverged in its first epoch has no row.

    Raises:
        RecordError: if a file is missing, damaged, or was made with other settings than the study's.
    """
    rows: list[dict[str, Any]] = []
    for run, folder, metrics, _ in _done(study, runs, results):
        settings = run.settings.model_dump(mode="json")
        for epoch in _curve(folder / "curve.csv", metrics).to_dict("records"):
            rows.append({"run": run.id, **settings, **{str(name): value for name, value in epoch.items()}})
    return pd.DataFrame(rows, columns=["run", *SETTINGS, *MEASURED])


def summary(study: Study, runs: Iterable[Run], results: Path) -> pd.DataFrame:
    """One row for each run that is done: the run's id, its settings, and the columns `SUMMARY`.

    `constant_guess` is the loss of a model that knows how frequent each piece is, and nothing else. `final_` is the
    last epoch and `best_` the epoch of the lowest validation loss, in the units of `curves`; `tokens_per_second` is the
    median over the epochs, `seconds` the time of all epochs.

    Raises:
        RecordError: if a file is missing, damaged, or was made with other settings than the study's.
    """
    rows: list[dict[str, Any]] = []
    for run, folder, metrics, record in _done(study, runs, results):
        speed = _curve(folder / "curve.csv", metrics)["tokens_per_second"].median()
        try:
            row = _summary_row(metrics) | {
                "tokens_per_second": speed,
                "constant_guess": metrics.get("constant_guess") or known(run.settings, record),
                "commit": record["commit"],
                "hardware": hardware_line(record["hardware"]),
            }
        except (KeyError, TypeError) as error:
            raise RecordError(f"{folder / METRICS}: incomplete ({error})") from None
        rows.append({"run": run.id, **run.settings.model_dump(mode="json"), **row})
    # Whole numbers stay whole where a run that diverged at once has none.
    return pd.DataFrame(rows, columns=["run", *SETTINGS, *SUMMARY]).astype(dict.fromkeys(_WHOLE, "Int64"))


def translating(study: Study, runs: Iterable[Run], results: Path) -> list[tuple[float, float]]:
    """The seconds of training and those of BLEU, of each run that is done and recorded both for all of its epochs.

    Raises:
        RecordError: as `summary`.
    """
    recorded = [(found["seconds"], found["bleu"].get("seconds")) for _, _, found, _ in _done(study, runs, results)]
    return [(training, sum(epochs)) for training, epochs in recorded if epochs and None not in epochs]


def _done(
    study: Study, runs: Iterable[Run], results: Path
) -> Iterator[tuple[Run, Path, dict[str, Any], dict[str, Any]]]:
    """The runs that are done, each with its folder, its metrics.json and its run.json.

    Raises:
        RecordError: if a record cannot be used, or two runs on one corpus were trained on different texts.
    """
    texts = Texts("corpus")
    for run in runs:
        folder = results / study.study / run.folder
        if not packed.exists(folder / METRICS):
            continue
        metrics, record = _metrics(run, folder)
        texts.require_same(run.settings.corpus, record, folder)
        yield run, folder, metrics, record


def _summary_row(metrics: dict[str, Any]) -> dict[str, Any]:
    """The values of metrics.json in the columns of a summary."""
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
        "sentences_valid": bleu["sentences"]["valid"],
        "sentences_test": bleu["sentences"]["test"],
        **{
            f"{which}_{name}": metrics[which][name] if metrics[which] else None
            for which in ("final", "best")
            for name in _OF_AN_EPOCH
        },
    }


def _metrics(run: Run, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """metrics.json and run.json, after a check that they are of this run with these settings."""
    record, metrics = own(folder, run.identity), read(folder / METRICS)
    if metrics.get("id") != run.id:
        raise RecordError(f"{folder / METRICS}: is of the run {metrics.get('id')!r}, not {run.id!r}; {AGAIN}")
    if metrics.get("status") not in ("finished", "diverged"):
        raise RecordError(f"{folder / METRICS}: status {metrics.get('status')!r}; allowed: finished, diverged; {AGAIN}")
    return metrics, record


def _curve(path: Path, metrics: dict[str, Any]) -> pd.DataFrame:
    """The curve in a run's curve.csv, which ends as its metrics.json says."""
    curve = table(path, COLUMNS)[COLUMNS].rename(columns=RATE)
    text = [name for name in MEASURED if len(curve) and not pd.api.types.is_numeric_dtype(curve[name])]
    if text:
        raise RecordError(f"{path}: not numbers in {', '.join(text)}")
    said = metrics.get("final") or {}
    last = curve.iloc[-1] if len(curve) else pd.Series(dtype=float)
    if list(curve["epoch"]) != list(range(1, len(curve) + 1)) or any(
        last.get(name) != said.get(name) for name in ("epoch", "valid_loss", "test_loss")
    ):
        raise RecordError(f"{path}: does not end as metrics.json beside it says; {AGAIN}")
    return curve


@dataclass(frozen=True)
class Records:
    """What some runs came to.

    Attributes:
        runs: the runs, whether they are done or not.
        curves: a row for each of their epochs.
        summary: a row for each of them that is done.
    """

    runs: tuple[Run, ...]
    curves: pd.DataFrame
    summary: pd.DataFrame


def load(study: Study, runs: Sequence[Run], results: Path) -> Records:
    """The records of those of the runs that are done; the errors are those of `curves`."""
    return Records(tuple(runs), curves(study, runs, results), summary(study, runs, results))


SOURCE = Source(expand, load)
