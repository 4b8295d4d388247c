# The study behind the rules: read and checked before any job, then looked up by the rules' wildcards. The rules name
# environment.yml for those who let Snakemake deploy software (--software-deployment-method conda); otherwise they run in
# the environment that Snakemake runs in.
import re
from os.path import relpath
from pathlib import Path

from preln.config import StudyError, require_local_paths, validate, write
from preln.corpora.registry import DOWNLOADS, languages, needed_downloads, wikipedia_dump
from preln.pretraining import runs as pretraining
from preln.pretraining.runs import ENGLISH_VERSION
from preln.report import products
from preln.runs import PREPARATION_VERSION, corpus_id, digest, expand
from preln.theory import parts
from snakemake.exceptions import WorkflowError

ORIGIN = ", ".join(map(str, workflow.configfiles)) or "--config"
try:
    STUDY = validate(dict(config), ORIGIN)
    require_local_paths(STUDY, ORIGIN)
    RUNS = {run.id: run for run in expand(STUDY, ORIGIN)}
    PRETRAININGS = {run.id: run for run in pretraining.expand(STUDY, ORIGIN)}
    FINETUNINGS = {job.id: job for job in pretraining.finetunings(STUDY, ORIGIN)}
    PARTS = {part.id: part for part in parts.expand(STUDY, list(RUNS.values()), ORIGIN)}
except StudyError as error:
    raise WorkflowError(str(error)) from None

EVERYTHING = [*RUNS.values(), *PRETRAININGS.values(), *FINETUNINGS.values(), *PARTS.values()]
RESULTS = f"results/{STUDY.study}"
LOGS = f"logs/{STUDY.study}"
CORPORA = {corpus_id(name, corpus): corpus for name, corpus in STUDY.corpora.items()}
TEXTS = {corpus_id(name, text): text for name, text in STUDY.texts.items()}
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


def sources(wanted):
    """The files that a corpus, an English text's source or a task is made from; none for one that is generated."""
    local = [
        file for path in wanted.local_paths.values() for file in ([path] if path.is_file() else sorted(path.rglob("*")))
    ]
    downloaded = [f"resources/downloads/{name}" for name in needed_downloads(wanted)]
    return [*downloaded, *(str(file) for file in local if file.is_file())]


def settled(described, folder):
    """A folder that was prepared from a text, or a task, as the input of what is computed from it. Of a published or
    generated text the settings say all, so that its age says nothing: records that came with a clone are not computed
    again because the text was prepared after them. A text on this machine may change, and counts when it is newer."""
    return folder if described.local_paths else ancient(folder)


def corpus_of(job):
    """The folder of the prepared corpus of a run, or of a part of the theory."""
    return f"resources/corpora/{corpus_id(job.settings.corpus, job.corpus)}"


def prepared(job, stage):
    """A stage of the prepared corpus of a run, or of a part of the theory."""
    return settled(job.corpus, f"{corpus_of(job)}/{stage}")


def prepared_text(run, stage):
    """A stage of the prepared text of a pre-training run."""
    return settled(run.text, f"resources/texts/{corpus_id(run.settings.text, run.text)}/{stage}")


def prepared_task(job, stage):
    """A stage of the prepared task of a fine-tuning: its pairs as the run's model reads them."""
    text = corpus_id(job.run.settings.text, job.run.text)
    folder = f"resources/tasks/{corpus_id(job.task_name, job.task)}/{text}-{job.run.settings.sequence_length}"
    return settled(job.task, f"{folder}/{stage}")


def prepared_texts():
    """The last stage of every text and task that the study trains on."""
    return [
        *(f"resources/corpora/{corpus}/binary" for corpus in CORPORA),
        *(f"resources/texts/{text}/binary" for text in TEXTS),
        *dict.fromkeys(prepared_task(job, "binary") for job in FINETUNINGS.values()),
    ]


def prepared_for(part):
    """The option that names the prepared corpus of a part of the theory; the model of the proofs has none."""
    return ["--prepared", corpus_of(part)] if isinstance(part, parts.GradientPart) else []


def resources_of_training(runs):
    """What a cluster gives the training of each of `runs`; what is None is not asked for."""

    def resource(value):
        return lambda wildcards: value(runs[wildcards.run].execution)

    return {
        "runtime": resource(lambda how: how.runtime_minutes),
        # Twice as much from the second attempt on, for want of memory may have ended the first.
        "mem_mb": lambda wildcards, attempt: runs[wildcards.run].execution.memory_mb * min(attempt, 2),
        "gpu": resource(lambda how: how.gpus),
        "nodes": resource(lambda how: how.nodes),
        # On one node a training is one task of Slurm's, which starts its processes; on several, srun starts them.
        "mpi": resource(lambda how: "srun" if how.nodes > 1 else None),
        "cpus_per_task": resource(lambda how: how.cpus if how.nodes > 1 else how.cores),
        "tasks": resource(lambda how: how.nodes if how.nodes > 1 and how.on_each_node == 1 else None),
        "tasks_per_node": resource(lambda how: how.on_each_node if how.nodes > 1 and how.on_each_node > 1 else None),
        # The plugin takes `tasks` for it otherwise, and Slurm refuses both.
        "tasks_per_gpu": resource(lambda how: 0 if how.nodes > 1 and how.gpus else None),
    }


def gpus_of(part):
    """The GPUs that measure a part of the theory; the model of the proofs has no use for one."""
    return STUDY.execution.alone.gpus if isinstance(part, parts.GradientPart) else 0


def settled(described, folder):
    """A folder that was prepared from a text, or a task, as the input of what is computed from it. Of a published or
    generated text the settings say all, so that its age says nothing: records that came with a clone are not computed
    again because the text was prepared after them. A text on this machine may change, and counts when it is newer."""
    return folder if described.local_paths else ancient(folder)


def measured_from(part):
    """What a part of the theory is measured from: nothing, a prepared corpus, or trained runs of the study."""
    if isinstance(part, parts.ExactPart):
        return []
    corpus = [prepared(part, stage) for stage in ("text", "binary")]
    # What can change the weights is in the identity.
    return corpus + [ancient(f"{RESULTS}/translation/{run.id}/metrics.json") for run in part.trained]


def records(runs):
    """The records of runs."""
    return [f"{RESULTS}/translation/{run.id}/{name}" for run in runs for name in ("curve.csv", "metrics.json")]


def measurements(chosen):
    """The records of parts of the theory."""
    return [f"{RESULTS}/theory/{part.id}/{name}" for part in chosen for name in ("measurements.csv", "run.json")]


def pretrained():
    """The records of all pre-training runs and their fine-tunings."""
    return [
        *(f"{RESULTS}/pretraining/{run}/{name}" for run in PRETRAININGS for name in ("curve.csv", "metrics.json")),
        *(f"{RESULTS}/finetuning/{job}/{name}" for job in FINETUNINGS for name in ("scores.csv", "run.json")),
    ]


def shown_in(figure):
    """The runs or the parts of the theory that a figure shows."""
    if figure == products.FIGURE_OF_PRETRAINING:
        return [*PRETRAININGS.values(), *FINETUNINGS.values()]
    if figure in products.FIGURES_OF_THEORY:
        return list(PARTS.values())
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
    named = products.figures(STUDY, RUNS.values())
    return [
        f"{RESULTS}/report.html",
        f"{RESULTS}/claims.csv",
        *records(RUNS.values()),
        *pretrained(),
        *measurements(PARTS.values()),
        *(f"{RESULTS}/figures/figure-{figure}.{suffix}" for figure in named for suffix in ("pdf", "png")),
        *(f"{RESULTS}/tables/{table}.{suffix}" for table in products.tables(STUDY) for suffix in ("csv", "md", "tex")),
    ]
