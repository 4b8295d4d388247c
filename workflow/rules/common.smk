# The study behind the rules: checked before any job, then looked up by the rules' wildcards. Jobs run in the environment
# that Snakemake runs in, which has preln, for the rules need it. So no rule names another one for conda to make.
import hashlib
import re
import shlex
import sys
from functools import cache
from os import environ
from pathlib import Path

from preln.config import Execution, StudyError, is_written, read, write
from preln.config.base import recorded
from preln.corpora.registry import DOWNLOADS, wikipedia_dump
from preln.errors import PrelnError
from preln.jobs import replacement
from preln.jobs.base import digest, text_id
from preln.jobs.checking import check
from preln.jobs.workflow import (
    DOWNLOADS_FOLDER,
    RESOURCES,
    cluster_resources,
    downloads,
    inputs_of,
    is_recorded,
    is_run_elsewhere,
    local_files,
    prepared_options,
    prepared_texts,
    require_kept_state,
    require_plain_path,
    weights_read,
)
from preln.language.runs import LANGUAGE_VERSION
from preln.pretraining.runs import ENGLISH_VERSION
from preln.questions.core.ledger import CLAIMS_TABLE
from preln.records.packed import FILE as RECORDS, RUN, is_packed, read_bytes
from preln.records.recording import Record
from preln.report.catalogue import FIGURES, REPORT, TABLES, Catalogue, code_version
from preln.report.html.explorer import benches
from preln.translation.runs import PREPARATION_VERSION
from snakemake.exceptions import WorkflowError
from snakemake.io import IOFile
from snakemake.logging import logger
from snakemake.settings.types import SharedFSUsage

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

if workflow.is_main_process:
    try:
        require_kept_state(
            workflow.storage_settings.default_storage_provider,
            SharedFSUsage.INPUT_OUTPUT in workflow.storage_settings.shared_fs_usage,
        )
    except PrelnError as error:
        raise WorkflowError(str(error)) from None

STUDY = CHECKED.study
# By kind, which is the folder of the results that a rule writes to, and by id.
JOBS = {kind: {job.id: job for job in jobs} for kind, jobs in CHECKED.jobs.items()}
# Where a path of these rules is if the workflow is used as a module, whose files may be elsewhere.
located = workflow.modifier.path_modifier.replace_prefix

RESULTS = f"results/{STUDY.study}"
# No job has it as an input: a newer file is no reason to train again. What is a reason is in a job's params, as `identity`.
STUDY_FILE = located(f"{RESULTS}/study.yaml")
# `preln run` reads these fields: whoever calls a module does not know where the module has its files.
if workflow.is_main_process:
    replaced = replacement.told(CHECKED.every, Path(located(RESULTS)))
    places = {"study": STUDY.study, "results": located(RESULTS), "replaced": replaced}
    logger.info("Results of {study}: {results}".format(**places), extra=places)
    for line in replaced:
        logger.warning(line)
LOGS = f"logs/{STUDY.study}"
# As the user's files are now: the job that reads one refuses it if it has changed by then.
CORPORA = {text_id(name, corpus): recorded(corpus) for name, corpus in STUDY.corpora.items()}
PRETRAINING_TEXTS = {text_id(name, text): recorded(text) for name, text in STUDY.texts.items()}
TASKS = {text_id(name, task): task for name, task in STUDY.tasks.items()}


wildcard_constraints:
    run=r"[a-z0-9.-]+",
    part=r"[a-z0-9+-]+",
    finetuning=r"[a-z0-9.-]+",
    corpus=r"[a-z0-9-]+",
    text=r"[a-z0-9-]+",
    task=r"[a-z0-9-]+",
    longest=r"\d+",
    tokens="bpe|bytes",
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
def remove_other_record(job):
    """Remove the record of a job if it is of other settings and Snakemake has no notes on it, as on a copied one: it would
    compare nothing but the age."""
    if not is_to_run_jobs() or has_record(job):
        return
    record = Record(job, Path(located(f"{RESULTS}/{job.folder}")))
    if record.path.exists() and record.is_of_other_settings and notes_of(record.path) is None:
        for file in job.files:
            Path(located(f"{RESULTS}/{file}")).unlink(missing_ok=True)


def notes_of(file):
    """Look up Snakemake's notes on a file that it made here; None if it has none."""
    return workflow.persistence.metadata(IOFile(str(file)))


@cache
def is_to_run_jobs():
    """Tell whether this process is going to run jobs of the study, and no other one does. With --nolock, another may."""
    only_looks = workflow.dryrun or workflow.touch
    if not workflow.is_main_process or not workflow.executor_plugin or only_looks:
        return False
    locks = workflow.execution_settings.lock
    return not (locks and is_run_elsewhere(Path(".snakemake/locks"), str(Path(STUDY_FILE).parent)))


def inputs(job):
    """List what a job reads. The job of a record that comes with the study's file reads nothing: it lays it out."""
    write_study()
    remove_other_record(job)
    if is_laid_out(job):
        return []
    files = inputs_of(RESULTS, job)
    # A text that is prepared once more is the same text, and newer than what was computed from it.
    return ancient(files) if has_record(job) else files


@cache
def has_record(job):
    """Tell whether a job is recorded with the settings that the study has now, and of the text that is here."""
    return is_recorded(RESULTS, job, located)


FORCED = "PRELN_FORCED"


@cache
def is_forced():
    """Tell whether the user forces jobs. Snakemake forces every job that it submits, and such a job hears of the user's
    wish from the process that submits it."""
    if workflow.is_main_process:
        settings = workflow.dag_settings
        forced = settings.forceall or settings.forcerun or settings.forcetargets
        environ[FORCED] = "1" if forced else ""
    return bool(environ.get(FORCED))


@cache
def is_laid_out(job):
    """Tell whether a job's record is laid out from the study's file, and not computed here: the file has it, this workflow
    did not compute it, and it is not to be computed once more."""
    if is_forced() or not has_record(job):
        return False
    # Snakemake has notes of what it ran here.
    notes = notes_of(located(f"{RESULTS}/{job.files[0]}"))
    # A job that outlived the Snakemake which started it has left a record, and neither notes nor a line.
    is_from_file = notes is None and is_packed(Path(located(f"{RESULTS}/{job.folder}")))
    return (is_from_file or bool(notes and repr(LAY_OUT) in notes["params"])) and job.folder not in wanted_weights()


@cache
def wanted_weights():
    """The folders of the runs whose weights are read by jobs that are not done yet. A record has no weights: such a run is
    trained."""
    return weights_read(RESULTS, CHECKED.every, located)


LAY_OUT = "Lay out the record of"


def lay_out(job):
    """The command that lays out the record of a job, in place of the one that computes it; where it is computed, none."""
    if not is_laid_out(job):
        return ":"
    folder = Path(located(f"{RESULTS}/{job.folder}"))
    # The checksum makes another record of the same settings, as a pull may bring, a reason to lay it out again.
    checksum = hashlib.sha256(read_bytes(folder / RUN)).hexdigest()
    return f"exec python -P -m preln.records.packed {shlex.quote(str(folder))} {checksum}"


def asked(job, verb):
    """The parameters of a rule's jobs: what a job does, in words and as the shell's first command, and what it is computed
    from; `job` finds each by the rule's wildcards."""
    return {
        "study": STUDY_FILE,
        "does": lambda wildcards: LAY_OUT if is_laid_out(job(wildcards)) else verb,
        "lay_out": lambda wildcards: lay_out(job(wildcards)),
        "identity": lambda wildcards: digest(job(wildcards).identity),
        "prepared": lambda wildcards: prepared_options(job(wildcards), located),
    }


def resources_of(job):
    """The resources of each job of a rule on a cluster; `job` finds it by the rule's wildcards. To lay out a record takes
    no GPU."""

    def resource(name):
        def value(wildcards, attempt):
            execution = Execution() if is_laid_out(job(wildcards)) else job(wildcards).execution
            return cluster_resources(execution, attempt)[name]

        return value

    return {name: resource(name) for name in RESOURCES}


CATALOGUE = Catalogue(STUDY)


# A figure, a table or the report is made again when the code that makes them changes.
CODE = code_version()


def made_from(entry):
    """The records that a figure or a table is made from."""
    write_study()
    return [f"{RESULTS}/{file}" for file in CATALOGUE.records(entry)]


def sources(wanted):
    """The files that a corpus, an English text's source or a task is made from; none for one that is generated."""
    # Those of this machine are where the study says, and not where a module's files are.
    return [*downloads(wanted), *(local(str(file)) for file in local_files(wanted))]


def same(wanted, stage):
    """A stage of a prepared corpus or text as an input. Where its folder's name has all that it is made from, its age tells
    nothing: one that is copied or made again is the same."""
    return stage if local_files(wanted) else ancient(stage)


def study_results():
    """Every end product of the study."""
    return [f"{RESULTS}/{file}" for file in [REPORT, RECORDS, *CATALOGUE.files()]]
