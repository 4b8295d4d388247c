"""What the workflow's rules ask about a study's jobs: their records, their inputs, and what a cluster gives them.

A path is that of the rules, relative to the folder in which Snakemake runs. Where the workflow is a module of another,
the rules' files may be elsewhere: `located` tells where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from preln.config import Corpus, EnglishText, Execution, Task, TextSource
from preln.corpora.registry import needed_downloads
from preln.jobs.checking import Checked
from preln.jobs.runs import Run, corpus_id
from preln.pretraining.runs import FinetuningJob, PretrainingRun
from preln.records.record import Record
from preln.records.recording import METRICS
from preln.theory.measurement_jobs import ExactJob, GradientJob, MeasurementJob
from preln.theory.trace_jobs import TraceJob

Located = Callable[[str], str]
"""Where a path of the rules is."""

StudyJob = Run | PretrainingRun | FinetuningJob | MeasurementJob | TraceJob

DOWNLOADS_FOLDER = "resources/downloads"


Inputs = dict[str, str | list[str]]
"""What a job reads, as paths by the names that the rules have for them."""


def inputs_of(results: str, job: StudyJob) -> Inputs:
    """What a job reads, by the names that the rules have for it.

    Args:
        results: the folder of the study's results.
        job: the job.
    """

    def metrics(run: Run | PretrainingRun) -> str:
        return f"{results}/{run.folder}/{METRICS}"

    match job:
        case Run() | TraceJob():
            return _of_corpus(job)
        case PretrainingRun():
            folder = text_folder(job)
            return {stage: f"{folder}/{stage}" for stage in ("text", "bpe", "binary")}
        case FinetuningJob():
            return {
                "metrics": metrics(job.run),
                "text": f"{text_folder(job.run)}/binary",
                "pieces": f"{task_folder(job)}/pieces",
                "binary": f"{task_folder(job)}/binary",
            }
        case ExactJob():
            return {}
        case GradientJob():
            return {**_of_corpus(job), "trained": [metrics(run) for run in job.trained]}


def _of_corpus(job: Run | GradientJob | TraceJob) -> Inputs:
    """The stages of the corpus that a job reads."""
    folder = corpus_folder(job)
    return {stage: f"{folder}/{stage}" for stage in ("text", "binary")}


def is_recorded(results: str, job: StudyJob, located: Located = str) -> bool:
    """Whether a job is recorded with the settings that the study has now, and of the text that is here.

    Args:
        results: the folder of the study's results.
        job: the job.
        located: where a path of the rules is.
    """
    record = Record(job, Path(located(f"{results}/{job.folder}")))
    return record.is_current and _is_of_text_here(job, record, located)


def _is_of_text_here(job: StudyJob, record: Record, located: Located) -> bool:
    """Whether a record is of a text as it is here. Files of this machine may change: their content decides. Any other
    text is the same everywhere."""
    match job:
        case Run() | TraceJob() | GradientJob():
            return _is_of(record, job.corpus, f"{corpus_folder(job)}/text/corpus.json", located)
        case PretrainingRun():
            return _is_of(record, job.text, f"{text_folder(job)}/text/text.json", located)
        case FinetuningJob():
            # Its record has no checksums: as soon as text of this machine is prepared, it may be another.
            sources = {
                f"{text_folder(job.run)}/text": job.run.text.local_paths,
                f"{task_folder(job)}/pieces": job.task.local_paths,
            }
            return not any(paths and Path(located(prepared)).exists() for prepared, paths in sources.items())
        case ExactJob():
            return True


def _is_of(record: Record, source: Corpus | EnglishText, text: str, located: Located) -> bool:
    prepared = Path(located(text))
    # As long as the text is not prepared, nothing is known of it.
    if not source.local_paths or not prepared.exists():
        return True
    # The age of a folder tells that a file in it was removed.
    sources = [path for path in _named_and_below(source) if path.is_file() or path.is_dir()]
    return record.is_of_text(prepared, sources)


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


def prepared_options(job: StudyJob, located: Located = str) -> list[str]:
    """The options of a job's command that name what was prepared for it; the model of the proofs reads nothing."""
    match job:
        case Run() | TraceJob() | GradientJob():
            return ["--prepared", located(corpus_folder(job))]
        case PretrainingRun():
            return ["--prepared", located(text_folder(job))]
        case FinetuningJob():
            return ["--prepared", located(text_folder(job.run)), "--task", located(task_folder(job))]
        case ExactJob():
            return []


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
