"""What the workflow's rules ask about a study's jobs: their records, their inputs, and what a cluster gives them.

A path is that of the rules, relative to the folder in which Snakemake runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preln.checking import Checked
from preln.config import Corpus, EnglishText, Execution, Study, Task, TextSource
from preln.corpora.registry import needed_downloads
from preln.freshness import is_current, is_of_text
from preln.pretraining.runs import Finetuning, PretrainingRun
from preln.runs import Run, corpus_id
from preln.theory.measurement_jobs import ExactJob, GradientJob, MeasurementJob
from preln.theory.trace_jobs import TraceJob

StudyJob = Run | PretrainingRun | Finetuning | MeasurementJob | TraceJob

DOWNLOADS_FOLDER = "resources/downloads"


@dataclass(frozen=True)
class Input:
    """A path that a job reads. Where the job's records are current, the path's age says nothing: records that came with
    a clone are not made anew because the text was prepared after them."""

    path: str
    is_current: bool


def output_paths(results: str, job: StudyJob, *names: str) -> list[str]:
    """The records of a job.

    Args:
        results: the folder of the study's results.
        job: the job.
        names: of the records; all of them where none is given.
    """
    return [f"{results}/{job.folder}/{name}" for name in names or job.records]


def inputs_of(results: str, job: StudyJob) -> dict[str, Input | list[Input]]:
    """What a job reads, by the names that the rules have for it.

    Args:
        results: the folder of the study's results.
        job: the job.
    """
    match job:
        case Run() | TraceJob():
            return {stage: _of_corpus(results, job, stage) for stage in ("text", "binary")}
        case PretrainingRun():
            folder = text_folder(job)
            record = f"{folder}/text/text.json"
            return {
                stage: _input(f"{folder}/{stage}", results, job, job.text, record)
                for stage in ("text", "bpe", "binary")
            }
        case Finetuning():
            (metrics,) = output_paths(results, job.run, "metrics.json")
            return {
                "metrics": _input(metrics, results, job),
                "text": _input(f"{text_folder(job.run)}/binary", results, job, job.run.text),
                "pieces": _input(f"{task_folder(job)}/pieces", results, job, job.task),
                "binary": _input(f"{task_folder(job)}/binary", results, job, job.task),
            }
        case ExactJob():
            return {}
        case GradientJob():
            trained = [path for run in job.trained for path in output_paths(results, run, "metrics.json")]
            return {
                "text": _of_corpus(results, job, "text"),
                "binary": _of_corpus(results, job, "binary"),
                "trained": [_input(path, results, job) for path in trained],
            }


def _of_corpus(results: str, job: Run | GradientJob | TraceJob, stage: str) -> Input:
    """A stage of the corpus that a job reads."""
    folder = corpus_folder(job)
    return _input(f"{folder}/{stage}", results, job, job.corpus, f"{folder}/text/corpus.json")


def _input(
    path: str,
    results: str,
    job: StudyJob,
    made_from: Corpus | EnglishText | Task | None = None,
    text: str | None = None,
) -> Input:
    """An input of a job.

    Args:
        path: the input.
        results: the folder of the study's results.
        job: the job that reads it.
        made_from: what it is made from. Where this is on this machine, it may change, and its content decides.
        text: the record of the prepared text, which tells the content. Without it, the path's age decides there.
    """
    outputs = list(map(Path, output_paths(results, job)))
    current = is_current(outputs, job.identity)
    if current and made_from and made_from.local_paths:
        current = text is not None and is_of_text(outputs[0], Path(text), local_files(made_from))
    return Input(path, current)


def local_files(wanted: Corpus | EnglishText | TextSource | Task) -> list[Path]:
    """The files of this machine that a corpus, a text, a source of one or a task is made from."""
    paths = wanted.local_paths.values()
    found = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    return [file for file in found if file.is_file()]


def sources(wanted: Corpus | TextSource | Task) -> list[str]:
    """The files that a corpus, an English text's source or a task is made from; none for one that is generated."""
    downloaded = [f"{DOWNLOADS_FOLDER}/{name}" for name in needed_downloads(wanted)]
    return [*downloaded, *map(str, local_files(wanted))]


def corpus_folder(job: Run | GradientJob | TraceJob) -> str:
    """The folder of the prepared corpus of a run, of its trace, or of a measurement of gradients."""
    return f"resources/corpora/{corpus_id(job.settings.corpus, job.corpus)}"


def text_folder(run: PretrainingRun) -> str:
    """The folder of the prepared text of a pre-training run."""
    return f"resources/texts/{corpus_id(run.settings.text, run.text)}"


def task_folder(job: Finetuning) -> str:
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


def prepared_option(job: MeasurementJob) -> list[str]:
    """The option of `preln measure` that names the prepared corpus; the model of the proofs has none."""
    return ["--prepared", corpus_folder(job)] if isinstance(job, GradientJob) else []


def gpus_of(job: MeasurementJob, study: Study) -> int:
    """The GPUs of a measurement; the model of the proofs has no use for one."""
    return study.execution.alone.gpus if isinstance(job, GradientJob) else 0


def resources_of_training(execution: Execution, attempt: int) -> dict[str, Any]:
    """What a cluster gives a training at its attempt of this number, which counts from 1. What is None is not asked
    for."""
    several = execution.nodes > 1
    # On one node a training is one task of Slurm's, which starts its processes; on several, srun starts them.
    return {
        "runtime": execution.runtime_minutes,
        # Twice as much from the second attempt on, for want of memory may have ended the first.
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


RESOURCES = tuple(resources_of_training(Execution(), attempt=1))
"""The names of what a training asks of a cluster."""
