# The study behind the rules: checked before any job, then looked up by the rules' wildcards. The rules name
# environment.yml for those who let Snakemake deploy software (--software-deployment-method conda); otherwise they run in
# the environment that Snakemake runs in.
import re
import sys
from os.path import relpath
from pathlib import Path

from preln.checking import check
from preln.config import StudyError, read, write
from preln.corpora.registry import DOWNLOADS, languages, wikipedia_dump
from preln.pretraining.runs import ENGLISH_VERSION
from preln.remote import RemoteRefused, require_plain_path
from preln.report import products
from preln.runs import PREPARATION_VERSION, corpus_id, digest
from preln.workflow import (
    RESOURCES,
    gpus_of,
    inputs_of,
    output_paths,
    prepared_option,
    prepared_texts,
    resources_of_training,
    sources,
)
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


def inputs(job):
    """What a job reads, by name. Where its records are current, the inputs' timestamps are ignored."""

    def ancient_if_current(found):
        if isinstance(found, list):
            return [ancient_if_current(one) for one in found]
        return ancient(found.path) if found.is_current else found.path

    return {name: ancient_if_current(found) for name, found in inputs_of(RESULTS, job).items()}


def resources_of(runs):
    """What a cluster gives the training of each of `runs`."""

    def resource(name):
        return lambda wildcards, attempt: resources_of_training(runs[wildcards.run].execution, attempt)[name]

    return {name: resource(name) for name in RESOURCES}


def records(runs):
    """The records of runs that figures and tables are made from."""
    return [path for run in runs for path in output_paths(RESULTS, run, "curve.csv", "metrics.json")]


def measurements(chosen):
    """The records of parts of the theory."""
    return [path for part in chosen for path in output_paths(RESULTS, part)]


def pretrained():
    """The records of all pre-training runs and their fine-tunings that figures and tables are made from."""
    runs, jobs = PRETRAININGS.values(), FINETUNINGS.values()
    return [
        *(path for run in runs for path in output_paths(RESULTS, run, "curve.csv", "metrics.json")),
        *(path for job in jobs for path in output_paths(RESULTS, job)),
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
