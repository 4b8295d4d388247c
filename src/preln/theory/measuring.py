"""Measurements of a study's theory and traces of first updates: taken, and written as records."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from tqdm import tqdm

from preln.config import Execution, LanguageSettings, Study
from preln.errors import PrelnError
from preln.language import probe as language
from preln.language.runs import LanguageRun
from preln.language.text import TokenText
from preln.language.training import tokens_folder
from preln.records import recording
from preln.records.provenance import commit, hardware, versions
from preln.theory import first_updates, gradients, lemmas
from preln.theory.measurement_jobs import ExactJob, GradientJob, MeasurementJob
from preln.theory.measurements import AFTER_WARMUP, INITIAL, Measurement, write
from preln.theory.trace_jobs import TraceJob
from preln.training import prepared_text
from preln.training.machine import claim
from preln.translation.runs import Run
from preln.translation.training import after_warmup

if TYPE_CHECKING:
    from preln.fairseq_plugin.probe import Probe as TranslationProbe


def measure(
    study: Study, job: MeasurementJob | TraceJob, prepared: Path | None, runs: Path | None, folder: Path
) -> None:
    """Take a measurement, or trace the first updates of a run, and write its records to `folder`. `prepared` is the
    folder of the prepared corpus, or of the prepared text with its tokens (none for the toy model), and `runs` that of
    the study's translation runs (none for a trace).

    Raises:
        PrelnError: if a trained run did not keep the weights at the end of its warm-up, the first epoch of a traced run
            has fewer updates, the text has no sequence of the run's length, or the machine lacks the requested GPUs.
    """
    claim(job.execution)
    started = time.monotonic()
    torch.set_num_threads(job.execution.cpus)
    values: dict[str, Any] = {}
    _, table = job.records
    if isinstance(job, ExactJob):
        measured = job.setting, job.placements, job.seeds
        rows = lemmas.by_layer(*measured) if job.sweep == "layers" else lemmas.last_layers(*measured, job.sweep)
        write(rows, folder / table)
    elif prepared is None:
        raise PrelnError(f"{job.id}: needs a text; give its folder by --prepared")
    elif isinstance(job, GradientJob):
        assert runs is not None
        values = _text_of(job.run, prepared)
        write(list(_gradients(job, prepared, runs)), folder / table)
    else:
        text, probe = _text_of(job.run, prepared), _probe(job.run, prepared, job.execution)
        trace = first_updates.trace(probe, job.settings, job.updates, job.sharpness_every)
        first_updates.write(trace, folder / table)
        ended = "finished" if math.isfinite(trace["loss"].iloc[-1]) else "diverged"
        values = {"status": ended, "updates": len(trace) - 1, **text}
    origin = {
        "id": job.id,
        "study": study.study,
        "identity": job.identity,
        "versions": versions(),
        **commit(),
        "hardware": hardware(job.execution),
        "seconds": round(time.monotonic() - started, 1),
    }
    recording.write(folder, origin | values, [table])


def _text_of(run: Run | LanguageRun, prepared: Path) -> dict[str, Any]:
    """The part of a record that is of a run's text."""
    if isinstance(run, LanguageRun):
        return {"text": prepared_text.record(prepared)}
    prepared_text.require_parallel(prepared)
    return {"corpus": prepared_text.record(prepared)}


def _probe(run: Run | LanguageRun, prepared: Path, execution: Execution) -> TranslationProbe | language.Probe:
    """A run's model at initialisation."""
    if isinstance(run, LanguageRun):
        return language.Probe(*_language_model(run, prepared, execution))
    # Importing fairseq takes seconds, and language models are measured without it.
    from preln.fairseq_plugin.probe import Probe as TranslationProbe

    return TranslationProbe(run.settings, prepared / "binary", prepared / "text", run.corpus.languages, execution)


def _language_model(run: LanguageRun, prepared: Path, execution: Execution) -> tuple[LanguageSettings, TokenText, str]:
    """A language model's settings, text and device, of which its probe and its training are made."""
    text = TokenText.read(tokens_folder(prepared, run.settings))
    text.require(run.settings)
    return run.settings, text, "cuda" if execution.gpus else "cpu"


def _after_warmup(run: Run | LanguageRun, prepared: Path, folder: Path, execution: Execution) -> Any:
    """The weights at the end of a run's warm-up, for its probe; None if it diverged before."""
    if isinstance(run, LanguageRun):
        return language.after_warmup(*_language_model(run, prepared, execution))
    return after_warmup(run, prepared, folder).of_run()


def _gradients(job: GradientJob, prepared: Path, runs: Path) -> Iterator[Measurement]:
    weights = {run.settings.seed: _after_warmup(run, prepared, runs / run.id, job.execution) for run in job.trained}
    diverged = [seed for seed, path in weights.items() if path is None]
    for seed in tqdm([seed for seed in job.seeds if seed not in diverged], desc=job.id, unit="seed", mininterval=5):
        settings: Any = job.settings.model_copy(update={"seed": seed})
        probe: Any = _probe(replace(job.run, settings=settings), prepared, job.execution)
        if job.variant:
            from preln.fairseq_plugin.probe import VARIED_WEIGHTS

            for name in job.variant.split("+"):
                if name in VARIED_WEIGHTS:
                    VARIED_WEIGHTS[name](probe)
        if trained := weights.get(seed):
            probe.load(trained)
        base = Measurement(
            model=job.run.kind,
            variant=job.variant,
            state=AFTER_WARMUP if job.trained else INITIAL,
            placement=settings.placement,
            stack="",
            depth=settings.decoder_layers,
            width=settings.width,
            layer=None,
            matrix="",
            seed=seed,
            quantity="",
            value=math.nan,
        )
        for row in gradients.measure(probe, job.batches, base):
            if job.every_matrix or (row.stack == "decoder" and row.matrix in ("W1", "W2")):
                yield row
