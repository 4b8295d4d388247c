# The study behind the rules: checked before any job, then looked up by the rules' wildcards. The rules name
# environment.yml for those who let Snakemake deploy software (--software-deployment-method conda); otherwise they run in
# the environment that Snakemake runs in.
import re
import sys
from os.path import relpath
from pathlib import Path

from preln.checking import check
from preln.config import StudyError, read, write
from preln.corpora.registry import DOWNLOADS, languages, needed_downloads, wikipedia_dump
from preln.freshness import is_current, is_of_text
from preln.pretraining.runs import ENGLISH_VERSION
from preln.remote import RemoteRefused, require_plain_path
from preln.report import products
from preln.runs import PREPARATION_VERSION, corpus_id, digest
from preln.theory import measurement_jobs
from snakemake.exceptions import WorkflowError

ORIGIN = ", ".join(map(str, workflow.configfiles)) or "--config"
try:
    # Snakemake takes the last value of a key that is given twice.
    for file in workflow.configfiles:
        read(Path(file))
    CHECKED = check(dict(config), ORIGIN)
except StudyError as error:
    raise WorkflowError(str(error)) from None

STUDY = CHECKED.study
RUNS = {run.id: run for run in CHECKED.runs}
PRETRAININGS = {run.id: run for run in CHECKED.pretrainings}
FINETUNINGS = {job.id: job for job in CHECKED.finetunings}
MEASUREMENTS = {job.id: job for job in CHECKED.measurement_jobs}
EVERYTHING = [*RUNS.values(), *PRETRAININGS.values(), *FINETUNINGS.values(), *MEASUREMENTS.values()]
RESULTS = f"results/{STUDY.study}"
LOGS = f"logs/{STUDY.study}"
CORPORA = {corpus_id(name, corpus): corpus for name, corpus in STUDY.corpora.items()}
PRETRAINING_TEXTS = {corpus_id(name, text): text for name, text in STUDY.texts.items()}
TASKS = {corpus_id(name, task): task for name, task in STUDY.tasks.items()}


wildcard_constraints:
    run=r"[a-z0-9.-]+",
    part=r"[a-z0-9+-]+",
    finetuning=r"[a-z0-9.-]+",
    corpus=r"[a-z0-9-]+",
    text=r"[a-z0-9-]+",
    task=r"[a-z0-9-]+",
    longest=r"\d+",
    file="|".join([*map(re.escape, DOWNLOADS), wikipedia_dump(r"\d{8}")]),
    figure=r"\d+|theory|gradients",
    theory_table=r"theory|figure-3",
    bert_table=r"pretraining|finetuning",


def corpus_json(wildcards):
    """A corpus's settings, all that its preparation depends on."""
    return CORPORA[wildcards.corpus].model_dump_json()


def local_files(wanted):
    """The files of this machine that a corpus, a text, a source of one or a task is made from."""
    paths = wanted.local_paths.values()
    found = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    return [file for file in found if file.is_file()]


def sources(wanted):
    """The files that a corpus, an English text's source or a task is made from; none for one that is generated."""
    downloaded = [f"resources/downloads/{name}" for name in needed_downloads(wanted)]
    return [*downloaded, *map(str, local_files(wanted))]


OF_TRAINING = ("run.json", "curve.csv", "metrics.json")
OF_FINETUNING = ("run.json", "scores.csv")
OF_THEORY = ("run.json", "measurements.csv")


def output_paths(job, room, *names):
    """The records of a job."""
    return [f"{RESULTS}/{room}/{job.id}/{name}" for name in names]


def ancient_if_current(path, outputs, identity, made_from=None, text=None):
    """An input of a job whose age says nothing where the job's records are current: those that came with a clone are
    not made anew because the text was prepared after them. A text or task that the input is `made_from` on this machine
    may change, so that there the content of `text`, its record, decides."""
    outputs = [Path(output) for output in outputs]
    current = is_current(outputs, identity)
    if current and made_from and made_from.local_paths:
        current = text is not None and is_of_text(outputs[0], Path(text), local_files(made_from))
    return ancient(path) if current else path


def corpus_of(job):
    """The folder of the prepared corpus of a run, or of a part of the theory."""
    return f"resources/corpora/{corpus_id(job.settings.corpus, job.corpus)}"


def prepared(run, stage):
    """A stage of the prepared corpus of a run."""
    folder = corpus_of(run)
    outputs = output_paths(run, "translation", *OF_TRAINING)
    return ancient_if_current(f"{folder}/{stage}", outputs, run.identity, run.corpus, f"{folder}/text/corpus.json")


def text_of(run):
    """The folder of the prepared text of a pre-training run."""
    return f"resources/texts/{corpus_id(run.settings.text, run.text)}"


def prepared_text(run, stage):
    """A stage of the prepared text of a pre-training run."""
    folder = text_of(run)
    outputs = output_paths(run, "pretraining", *OF_TRAINING)
    return ancient_if_current(f"{folder}/{stage}", outputs, run.identity, run.text, f"{folder}/text/text.json")


def task_of(job):
    """The folder of the prepared task of a fine-tuning: its pairs as the run's model reads them."""
    text = corpus_id(job.run.settings.text, job.run.text)
    return f"resources/tasks/{corpus_id(job.task_name, job.task)}/{text}-{job.run.settings.sequence_length}"


def finetuned_from(job):
    """The inputs of a fine-tuning, by name."""

    def input(path, made_from=None):
        return ancient_if_current(path, output_paths(job, "finetuning", *OF_FINETUNING), job.identity, made_from)

    return {
        "metrics": input(f"{RESULTS}/pretraining/{job.run.id}/metrics.json"),
        "text": input(f"{text_of(job.run)}/binary", job.run.text),
        "pieces": input(f"{task_of(job)}/pieces", job.task),
        "binary": input(f"{task_of(job)}/binary", job.task),
    }


def prepared_texts():
    """The last stage of every text and task that the study trains on."""
    return [
        *(f"resources/corpora/{corpus}/binary" for corpus in CORPORA),
        *(f"resources/texts/{text}/binary" for text in PRETRAINING_TEXTS),
        *dict.fromkeys(f"{task_of(job)}/binary" for job in FINETUNINGS.values()),
    ]


def prepared_for(part):
    """The option that names the prepared corpus of a part of the theory; the model of the proofs has none."""
    return ["--prepared", corpus_of(part)] if isinstance(part, measurement_jobs.GradientJob) else []


def resources_of_training(runs):
    """What a cluster gives the training of each of `runs`; what is None is not asked for."""

    def resource(value):
        return lambda wildcards: value(runs[wildcards.run].execution)

    return {
        "runtime": resource(lambda execution: execution.runtime_minutes),
        # Twice as much from the second attempt on, for want of memory may have ended the first.
        "mem_mb": lambda wildcards, attempt: runs[wildcards.run].execution.memory_mb * min(attempt, 2),
        "gpu": resource(lambda execution: execution.gpus),
        "nodes": resource(lambda execution: execution.nodes),
        # On one node a training is one task of Slurm's, which starts its processes; on several, srun starts them.
        "mpi": resource(lambda execution: "srun" if execution.nodes > 1 else None),
        "cpus_per_task": resource(lambda execution: execution.cpus if execution.nodes > 1 else execution.cores),
        "tasks": resource(
            lambda execution: execution.nodes if execution.nodes > 1 and execution.on_each_node == 1 else None
        ),
        "tasks_per_node": resource(
            lambda execution: execution.on_each_node if execution.nodes > 1 and execution.on_each_node > 1 else None
        ),
        # The plugin takes `tasks` for it otherwise, and Slurm refuses both.
        "tasks_per_gpu": resource(lambda execution: 0 if execution.nodes > 1 and execution.gpus else None),
    }


def gpus_of(part):
    """The GPUs that measure a part of the theory; the model of the proofs has no use for one."""
    return STUDY.execution.alone.gpus if isinstance(part, measurement_jobs.GradientJob) else 0


def measured_from(part):
    """What a part of the theory is measured from: nothing, a prepared corpus, or trained runs of the study."""
    if isinstance(part, measurement_jobs.ExactJob):
        return []

    def input(path, *made_from):
        return ancient_if_current(path, output_paths(part, "theory", *OF_THEORY), part.identity, *made_from)

    folder = corpus_of(part)
    corpus = [input(f"{folder}/{stage}", part.corpus, f"{folder}/text/corpus.json") for stage in ("text", "binary")]
    return corpus + [input(path) for run in part.trained for path in output_paths(run, "translation", "metrics.json")]


def records(runs):
    """The records of runs that figures and tables are made from."""
    return [path for run in runs for path in output_paths(run, "translation", "curve.csv", "metrics.json")]


def measurements(chosen):
    """The records of parts of the theory."""
    return [path for part in chosen for path in output_paths(part, "theory", *OF_THEORY)]


def pretrained():
    """The records of all pre-training runs and their fine-tunings that figures and tables are made from."""
    runs, jobs = PRETRAININGS.values(), FINETUNINGS.values()
    return [
        *(path for run in runs for path in output_paths(run, "pretraining", "curve.csv", "metrics.json")),
        *(path for job in jobs for path in output_paths(job, "finetuning", *OF_FINETUNING)),
    ]


def shown_in(figure):
    """The runs or the parts of the theory that a figure shows."""
    if figure == products.FIGURE_OF_PRETRAINING:
        return [*PRETRAININGS.values(), *FINETUNINGS.values()]
    if figure in products.FIGURES_OF_THEORY:
        return list(MEASUREMENTS.values())
    return [run for run in RUNS.values() if int(figure) in run.figures]


def drawn_from(figure):
    """The records of what a figure shows."""
    if figure == products.FIGURE_OF_PRETRAINING:
        return pretrained()
    return measurements(shown_in(figure)) if figure in products.FIGURES_OF_THEORY else records(shown_in(figure))


def code(*modules):
    """The files that modules of the report compute by: what they compute is computed again when these change."""
    # Relative where it can be, for a clone that is moved is still the same.
    return [relpath(file) for file in products.code(*modules)]


def study_results():
    """Every end product of the study."""
    return [
        f"{RESULTS}/{products.REPORT}",
        *records(RUNS.values()),
        *pretrained(),
        *measurements(MEASUREMENTS.values()),
        *(f"{RESULTS}/{file}" for file in products.files(STUDY, RUNS.values())),
    ]
