"""The records of a study's jobs, their inputs, and their resources on a cluster, for the workflow's rules.

A path is that of the rules, relative to the folder in which Snakemake runs. Where the workflow is a module of another,
the rules' files may be elsewhere: `located` tells where.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from preln.config import Corpus, EnglishText, Execution, FilesCorpus, Settings, Task, TextFilesSource, TextSource
from preln.corpora.registry import needed_downloads
from preln.errors import PrelnError
from preln.jobs.base import Job, Prepared, of_corpus, of_text
from preln.jobs.checking import Checked
from preln.records.recording import METRICS, Record

Located = Callable[[str], str]
"""Where a path of the rules is."""

DOWNLOADS_FOLDER = "resources/downloads"


def inputs_of(results: str, job: Job) -> list[str]:
    """The paths that a job reads: prepared texts, and the metrics of the runs whose weights it reads in the folder of
    the study's results."""
    stages = [path for prepared in job.prepared for path in prepared.paths]
    return [*(f"{results}/{run.folder}/{METRICS}" for run in job.weights_of), *stages]


def is_recorded(results: str, job: Job, located: Located = str) -> bool:
    """Tell whether a job is recorded in the folder of the study's results with the settings that the study has now, and
    of the text that is here."""
    record = Record(job, Path(located(f"{results}/{job.folder}")))
    return record.is_current and all(_is_of(record, prepared, located) for prepared in job.prepared)


def _is_of(record: Record, prepared: Prepared, located: Located) -> bool:
    """Tell whether a record is of a text as it is here. Files of this machine may change: their content decides. Any
    other text is the same everywhere."""
    first = Path(located(f"{prepared.folder}/{prepared.first}"))
    # As long as the text is not prepared, nothing is known of it.
    if not prepared.settings.local_paths or not (first / prepared.record).exists():
        return True
    if not prepared.record:
        # Without checksums, a text of this machine that is prepared may be another.
        return False
    # The age of a folder tells that a file in it was removed.
    sources = [path for path in _aged(prepared.settings) if path.is_file() or path.is_dir()]
    return record.is_of_text(first / prepared.record, sources)


def weights_read(results: str, jobs: Iterable[Job], located: Located = str) -> set[str]:
    """The folders of the runs whose weights are read by those of the jobs that are not recorded."""
    readers = (job for job in jobs if job.weights_of)
    return {run.folder for job in readers if not is_recorded(results, job, located) for run in job.weights_of}


def local_files(wanted: Settings) -> list[Path]:
    """The files of this machine whose age tells whether a corpus, a text, a source of one or a task is to be made
    again."""
    return [path for path in _aged(wanted) if path.is_file()]


def _aged(wanted: Settings) -> list[Path]:
    """The paths of this machine that a study names for them, and everything below. Text of the user's own has none: its
    prepared folder is named after its content, and needs no age."""
    if isinstance(wanted, EnglishText):
        return [entry for source in wanted.sources for entry in _aged(source)]
    if isinstance(wanted, FilesCorpus | TextFilesSource):
        return []
    return [entry for path in wanted.local_paths.values() for entry in (path, *sorted(path.rglob("*")))]


def downloads(wanted: Corpus | TextSource | Task) -> list[str]:
    """The downloaded files that a corpus, an English text's source or a task is made from."""
    return [f"{DOWNLOADS_FOLDER}/{name}" for name in needed_downloads(wanted)]


def prepared_texts(asked: Checked) -> list[str]:
    """The last stage of every text of a study, and of every task that it fine-tunes on."""
    read = [prepared for job in asked.every for prepared in job.prepared]
    defined = [
        *(of_corpus(name, corpus) for name, corpus in asked.study.corpora.items()),
        *(of_text(name, text) for name, text in asked.study.texts.items()),
    ]
    # The stages of a text depend on the models that read it.
    unread = [prepared for prepared in defined if prepared.folder not in {other.folder for other in read}]
    return list(dict.fromkeys(prepared.paths[-1] for prepared in [*unread, *read]))


def prepared_options(job: Job, located: Located = str) -> list[str]:
    """The options of a job's command that name what was prepared for it."""
    return [word for prepared in job.prepared for word in (prepared.option, located(prepared.folder))]


def cluster_resources(execution: Execution, attempt: int) -> dict[str, Any]:
    """The resources of a job on a cluster at its attempt of this number, from 1; None is not asked for."""
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


def is_run_elsewhere(locks: Path, folder: str) -> bool:
    """Tell whether a Snakemake has locked files below a folder, whose path it has relative to its own. Each file of
    `locks` has a path a line; one may vanish meanwhile, or be no file of text."""
    for lock in locks.glob("*.lock"):
        with suppress(OSError):
            paths = lock.read_text(encoding="utf-8", errors="replace").splitlines()
            if any(path.startswith(f"{folder}/") for path in paths):
                return True
    return False


def require_kept_state(storage: str | None, shares_files: bool) -> None:
    """See that `state/` of a run, which is no output of a rule, outlives the job that writes it: Snakemake keeps inputs
    and outputs in the file system (`storage` is None), which all jobs share.

    Raises:
        PrelnError: if it does not.
    """
    if storage or not shares_files:
        option = f"--default-storage-provider {storage}" if storage else "--shared-fs-usage without input-output"
        raise PrelnError(
            f"{option}: not with preln, for checkpoints and weights (state/ of each run) would stay in a job's scratch "
            "and be missed by the next one: leave the option out, and run in a folder that all nodes share"
        )


def require_plain_path(python: str) -> None:
    """See that a shell reads the path of Snakemake's Python as one word, for Snakemake writes it unquoted into the jobs
    that it submits.

    Raises:
        PrelnError: if a shell would take the path apart.
    """
    # Shells leave letters beyond ASCII as they are; shlex would quote them.
    plain = python.encode("ascii", "ignore").decode()
    if shlex.quote(plain) != plain:
        raise PrelnError(
            f"{python}: Snakemake does not quote the path of its Python in the jobs that it submits, and a shell takes "
            "this one apart; allowed: letters, digits and @%+=:,./_-; make the environment at such a path, for example "
            "by `make /home/me/venv/.ready VENV=/home/me/venv`, and activate it; the clone may stay where it is"
        )


RESOURCES = tuple(cluster_resources(Execution(), attempt=1))
"""The names of what a job asks of a cluster."""
