# The study behind the rules: checked before any job, then looked up by the rules' wildcards. Jobs run in the environment
# that Snakemake runs in, which has preln, for the rules need it. So no rule names another one for conda to make.
import os
import re
import sys
from contextlib import suppress
from functools import cache
from os.path import relpath
from pathlib import Path

from preln.jobs.checking import check
from preln.config import StudyError, is_written, read, write
from preln.corpora.registry import DOWNLOADS, languages, wikipedia_dump
from preln.pretraining.runs import ENGLISH_VERSION
from preln.jobs.remote import RemoteRefused, require_plain_path
from preln.report.catalogue import FIGURES, REPORT, TABLES, Catalogue, code
from preln.questions.core.ledger import CLAIMS_TABLE
from preln.jobs.runs import PREPARATION_VERSION, corpus_id, digest
from preln.theory import measurement_jobs
from preln.theory.measurement_jobs import ExactJob
from preln.jobs.workflow import (
    DOWNLOADS_FOLDER,
    RESOURCES,
    cluster_resources,
    downloads,
    inputs_of,
    local_files,
    outdated_record,
    prepared_option,
    prepared_texts,
    record_of,
    weights_read,
)
from snakemake.exceptions import WorkflowError
from snakemake.io import IOFile
from snakemake.logging import logger

# A study that is given by --configfile takes the place of that of a workflow which has this one as a module. Snakemake
# would merge the two, and has no other way in the jobs that it submits, where it forgets --replace-workflow-config.
is_given = workflow.overwrite_configfiles and config == workflow.modifier_stack[0].globals["config"]
FILES = workflow.overwrite_configfiles if is_given else workflow.configfiles
GIVEN = dict(workflow.config_settings.overwrite_config if is_given else config)
try:
    # Snakemake takes the last value of a key that is given twice.
    contents = [read(Path(file)) for file in FILES]
    # A mistake is on a line of the file, unless Snakemake merged it with another or with --config.
    CHECKED = check(GIVEN, Path(FILES[0]) if contents == [GIVEN] else ", ".join(map(str, FILES)) or "--config")
except StudyError as error:
    raise WorkflowError(str(error)) from None

STUDY = CHECKED.study
RUNS = {run.id: run for run in CHECKED.runs}
PRETRAININGS = {run.id: run for run in CHECKED.pretrainings}
FINETUNINGS = {job.id: job for job in CHECKED.finetunings}
MEASUREMENTS = {job.id: job for job in CHECKED.measurement_jobs}
TRACES = {job.id: job for job in CHECKED.traces}
# Where a path of these rules is if the workflow is used as a module, whose files may be elsewhere.
located = workflow.modifier.path_modifier.replace_prefix

RESULTS = f"results/{STUDY.study}"
# No job has it as an input: a newer file is no reason to train again. What is a reason is in a job's params, as `identity`.
STUDY_FILE = located(f"{RESULTS}/study.yaml")
# `preln run` reads this line: whoever calls a module does not know where the module has its files.
if workflow.is_main_process:
    logger.info(f"Results of {STUDY.study}: {located(RESULTS)}")
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
    figure="|".join(FIGURES),
    table="|".join(TABLES),


@cache
def write_study():
    """Write the study as it was read, for the jobs that are going to be run: they read it.

    It is not `onstart` that does this, for a module has none. The file is no output of a rule either. If it were, jobs
    would read it as `ancient`, and where it is made again, Snakemake would look for no other reason to run them. Where this
    study is being run already, Snakemake is going to refuse, and the jobs that run go on reading the file as it is."""
    if is_to_run_jobs() and not is_written(STUDY, Path(STUDY_FILE)):
        write(STUDY, Path(STUDY_FILE))


@cache
def is_to_run_jobs():
    """Whether this process is going to run jobs of the study, and no other one does."""
    locks = Path(".snakemake/locks").glob("*.lock")
    is_running = any(f"{Path(STUDY_FILE).parent}/" in lock.read_text(encoding="utf-8") for lock in locks)
    only_looks = workflow.dryrun or workflow.touch
    return workflow.is_main_process and workflow.executor_plugin and not only_looks and not is_running


def inputs(job):
    """What a job reads, by name. Where its records are current, the inputs' timestamps are ignored."""
    write_study()
    found = inputs_of(RESULTS, job, located)
    # In a clone, Snakemake has no notes of the settings that a record was made with, and its age need not tell that they were
    # others: a text that was prepared elsewhere may be older.
    record = outdated_record(RESULTS, job, located)
    if record:
        # Older than all that it is made from, it is made anew, and is kept until its job begins. Where it is read-only, so
        # is the study.
        with suppress(PermissionError):
            os.utime(record, (1, 1))
    every = [one for read in found.values() for one in (read if isinstance(read, list) else [read])]
    # What is not there may be made for another job. Snakemake would take that for a reason to do this one again.
    missing = {one.path for one in every if not Path(located(one.path)).exists()}
    left_out = missing if missing and all(one.is_current for one in every) and stays(job) else set()

    def given(read):
        if isinstance(read, list):
            return [given(one) for one in read if one.path not in left_out]
        return ancient(read.path) if read.is_current else read.path

    files = {name: given(read) for name, read in found.items() if isinstance(read, list) or read.path not in left_out}
    if isinstance(job, ExactJob):
        # It reads no text. This input is there to be newer than an outdated record; otherwise its age says nothing.
        [code] = relative([measurement_jobs.__file__])
        files["code"] = code if record else ancient(code)
    return files


def stays(job):
    """Whether the records of a job came with a clone and are not asked for again."""
    forced = workflow.dag_settings
    if forced.forceall or forced.forcerun or forced.forcetargets:
        return False
    # Snakemake has notes of what was made here. It does a job again whose inputs are not those of its notes.
    made_here = workflow.persistence.metadata(IOFile(str(record_of(RESULTS, job, located)))) is not None
    return not made_here and job.folder not in wanted_weights()


@cache
def wanted_weights():
    """The folders of the runs whose weights are read by jobs that are not done yet. A clone has no weights: such a run is
    trained again with its text."""
    return weights_read(RESULTS, [*FINETUNINGS.values(), *MEASUREMENTS.values()], located)


def resources_of(job):
    """What a cluster gives each job of a rule; `job` finds it by the rule's wildcards."""

    def resource(name):
        return lambda wildcards, attempt: cluster_resources(job(wildcards).execution, attempt)[name]

    return {name: resource(name) for name in RESOURCES}


CATALOGUE = Catalogue(STUDY)


def made_from(entry):
    """The records that a figure or a table is made from, and the code that makes it: it is made anew when these change."""
    write_study()
    return {"records": [f"{RESULTS}/{file}" for file in CATALOGUE.records(entry)], "code": relative(code(entry))}


def relative(files):
    """The paths of files of this project, relative where they can be: a clone that is moved is still the same."""
    return [local(relpath(file)) for file in files]


def sources(wanted):
    """The files that a corpus, an English text's source or a task is made from; none for one that is generated."""
    # Those of this machine are where the study says, and not where a module's files are.
    return [*downloads(wanted), *(local(str(file)) for file in local_files(wanted))]


def study_results():
    """Every end product of the study."""
    return [f"{RESULTS}/{file}" for file in [REPORT, *CATALOGUE.files()]]
