"""What the workflow's rules ask about a study's jobs: their records, their inputs, and what a cluster gives them.

A path is that of the rules, relative to the folder in which Snakemake runs. Where the workflow is a module of another,
the rules' files may be elsewhere: `located` tells where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preln.config import Corpus, EnglishText, Execution, Task, TextSource
from preln.corpora.registry import needed_downloads
from preln.jobs.checking import Checked
from preln.jobs.runs import Run, corpus_id
from preln.pretraining.runs import FinetuningJob, PretrainingRun
from preln.records.freshness import is_current, is_of_text
from preln.records.recording import METRICS, RUN
from preln.theory.measurement_jobs import ExactJob, GradientJob, MeasurementJob
from preln.theory.trace_jobs import TraceJob

Located = Callable[[str], str]
"""Where a path of the rules is."""

StudyJob = Run | PretrainingRun | FinetuningJob | MeasurementJob | TraceJob

DOWNLOADS_FOLDER = "resources/downloads"


@dataclass(frozen=True)
class Input:
    """A path that a job reads. Where the job's records are current, the path's age says nothing: records that came with
    a clone are not made anew because the text was prepared after them."""

    path: str
    is_current: bool


Found = dict[str, Input | list[Input]]
"""What a job reads, by the names that the rules have for it."""


def inputs_of(results: str, job: StudyJob, located: Located = str) -> Found:
    """What a job reads, by the names that the rules have for it.

    Args:
        results: the folder of the study's results.
        job: the job.
        located: where a path of the rules is.
    """

    recorded = is_recorded(results, job, located)
    own_record = record_of(results, job, located)

    def read(path: str, made_from: Corpus | EnglishText | Task | None = None, text: str | None = None) -> Input:
        if not recorded or made_from is None or not made_from.local_paths:
            return Input(path, recorded)
        return Input(path, text is not None and _is_of_text_here(own_record, Path(located(text)), made_from))

    def metrics(run: Run | PretrainingRun) -> str:
        return f"{results}/{run.folder}/{METRICS}"

    match job:
        case Run() | TraceJob():
            return _of_corpus(job, read)
        case PretrainingRun():
            folder = text_folder(job)
            record = f"{folder}/text/text.json"
            return {stage: read(f"{folder}/{stage}", job.text, record) for stage in ("text", "bpe", "binary")}
        case FinetuningJob():
            return {
                "metrics": read(metrics(job.run)),
                "text": read(f"{text_folder(job.run)}/binary", job.run.text),
                "pieces": read(f"{task_folder(job)}/pieces", job.task),
                "binary": read(f"{task_folder(job)}/binary", job.task),
            }
        case ExactJob():
            return {}
        case GradientJob():
            return {**_of_corpus(job, read), "trained": [read(metrics(run)) for run in job.trained]}


def _of_corpus(job: Run | GradientJob | TraceJob, read: Callable[[str, Corpus, str], Input]) -> Found:
    """The stages of the corpus that a job reads."""
    folder = corpus_folder(job)
    return {stage: read(f"{folder}/{stage}", job.corpus, f"{folder}/text/corpus.json") for stage in ("text", "binary")}


def _is_of_text_here(run: Path, text: Path, made_from: Corpus | EnglishText | Task) -> bool:
    """Whether a record is of a text that is made from files of this machine. These may change: their content decides.

    Args:
        run: the record of the job.
        text: the record of the prepared text, which tells the content.
        made_from: what the text is made from.
    """
    # The age of a folder tells that a file in it was removed.
    sources = [path for path in _named_and_below(made_from) if path.is_file() or path.is_dir()]
    return is_of_text(run, text, sources)


def record_of(results: str, job: StudyJob, located: Located = str) -> Path:
    """Where the record of a job is, which tells its settings."""
    return Path(located(f"{results}/{job.folder}/{RUN}"))


def is_recorded(results: str, job: StudyJob, located: Located = str) -> bool:
    """Whether a job's records are all there and of the settings that the study has now."""
    return is_current([Path(located(f"{results}/{file}")) for file in job.files], job.identity)


def weights_read(results: str, jobs: Iterable[FinetuningJob | MeasurementJob], located: Located = str) -> set[str]:
    """The folders of the runs whose weights are read by those of the jobs that are not recorded."""
    read: set[str] = set()
    for job in jobs:
        if not is_recorded(results, job, located):
            match job:
                case FinetuningJob():
                    read.add(job.run.folder)
                case GradientJob():
                    read.update(run.folder for run in job.trained)
    return read


def outdated_record(results: str, job: StudyJob, located: Located = str) -> Path | None:
    """A job's record, if it is there and of other settings than the study has now."""
    record = record_of(results, job, located)
    return record if record.exists() and not is_current([record], job.identity) else None


def local_files(wanted: Corpus | EnglishText | TextSource | Task) -> list[Path]:
    """The files of this machine that a corpus, a text, a source of one or a task is made from."""
    return [path for path in _named_and_below(wanted) if path.is_file()]


def _named_and_below(wanted: Corpus | EnglishText | TextSource | Task) -> list[Path]:
    """What of this machine a study names for them, and all that lies below it."""
    return [found for path in wanted.local_paths.values() for found in (path, *sorted(path.rglob("*")))]


def downloads(wanted: Corpus | TextSource | Task) -> list[str]:
    """The downloaded files that a corpus, an English text's source or a task is made from."""
    return [f"{DOWNLOADS_FOLDER}/{name}" for name in needed_downloads(wanted)]


def corpus_folder(job: Run | GradientJob | TraceJob) -> str:
    """The folder of the prepared corpus of a run, of its trace, or of a measurement of gradients."""
    return f"resources/corpora/{corpus_id(job.settings.corpus, job.corpus)}"


def text_folder(run: PretrainingRun) -> str:
    """The folder of the prepared text of a pre-training run."""
    return f"resources/texts/{corpus_id(run.settings.text, run.text)}"


def task_folder(job: FinetuningJob) -> str:
    """The folder of the prepared task of a fine-tuning: its pairs as the run's model reads them."""
    text = corpus_id(job.run.settings.text, job.run.text)
    return f"resources/tasks/{corpus_id(job.task_name, job.task)}/{text}-{job.run.settings.sequence_length}"


def prepared_texts(asked: Checked) -> list[str]:
    """The last stage of every text and task that a study trains on."""
    return [
        *(f"resources/corpora/{corpus_id(name, corpus)}/binary" for name, corpus in asked.study.corpora.items()),
        *(f"resources/texts/{corpus_id(name, text)}/binary" for name, text in asked.study.texts.items()),
        *dict.fromkeys(f"{task_folder(job)}/binary" for job in asked.finetunings),
    ]


def prepared_option(job: MeasurementJob, located: Located = str) -> list[str]:
    """The option of `preln measure` that names the prepared corpus; the model of the proofs has none."""
    return ["--prepared", located(corpus_folder(job))] if isinstance(job, GradientJob) else []


def cluster_resources(execution: Execution, attempt: int) -> dict[str, Any]:
    """What a cluster gives a job at its attempt of this number, which counts from 1. What is None is not asked for."""
    several = execution.nodes > 1
    # On one node a job is one task of Slurm's, which starts its processes; on several, srun starts them.
    return {
        "runtime": execution.runtime_minutes,
        # From the second attempt on, twice as much: the first may have ended for want of memory.
        "mem_mb": execution.memory_mb * min(attempt, 2),
        "gpu": execution.gpus,
        "nodes": execution.nodes,
        "mpi": "srun" if several else None,
        "cpus_per_task": execution.cpus if several else execution.cores,
        "tasks": execution.nodes if several and execution.on_each_node == 1 else None,
        "tasks_per_node": execution.on_each_node if several and execution.on_each_node > 1 else None,
        # The plugin takes `tasks` for it otherwise, and Slurm refuses both.
        "tasks_per_gpu": 0 if several and execution.gpus else None,
    }


RESOURCES = tuple(cluster_resources(Execution(), attempt=1))
"""The names of what a job asks of a cluster."""
