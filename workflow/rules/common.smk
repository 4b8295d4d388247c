# The study behind the rules: read and checked before any job, then looked up by the rules' wildcards. The rules name
# environment.yml for those who let Snakemake deploy software (--software-deployment-method conda); otherwise they run in
# the environment that Snakemake runs in.
from os.path import relpath
from pathlib import Path

from preln.config import Iwslt14Corpus, StudyError, require_local_paths, validate, write
from preln.corpora.registry import SOURCES, languages
from preln.runs import PREPARATION_VERSION, corpus_id, digest, expand
from preln.theory import parts
from snakemake.exceptions import WorkflowError

ORIGIN = ", ".join(map(str, workflow.configfiles)) or "--config"
try:
    STUDY = validate(dict(config), ORIGIN)
    require_local_paths(STUDY, ORIGIN)
    RUNS = {run.id: run for run in expand(STUDY, ORIGIN)}
    PARTS = {part.id: part for part in parts.expand(STUDY, list(RUNS.values()), ORIGIN)}
except StudyError as error:
    raise WorkflowError(str(error)) from None

RESULTS = f"results/{STUDY.study}"
LOGS = f"logs/{STUDY.study}"
IWSLT14_ARCHIVE = f"resources/downloads/{SOURCES['iwslt14'].downloads[0].name}"
CORPORA = {corpus_id(name, corpus): corpus for name, corpus in STUDY.corpora.items()}
# Relative where it can be, for a clone that is moved is still the same.
SOURCE = Path(relpath(Path(str(workflow.current_basedir)).parents[1] / "src" / "preln"))


wildcard_constraints:
    run=r"[a-z0-9.-]+",
    part=r"[a-z0-9+-]+",
    corpus=r"[a-z0-9-]+",
    figure=r"\d+|theory|gradients",
    table=r"theory|figure-3",


def corpus_json(wildcards):
    """A corpus's settings, all that its preparation depends on."""
    return CORPORA[wildcards.corpus].model_dump_json()


def text_sources(corpus):
    """The files that a corpus is made from; none for one that is generated."""
    if isinstance(corpus, Iwslt14Corpus):
        if corpus.folder is None:
            return [IWSLT14_ARCHIVE]
        return [str(path) for path in sorted(corpus.folder.glob("*")) if path.suffix in (".tgz", ".de", ".en")]
    return [str(path) for path in corpus.local_paths]


def prepared(settings):
    """The folder of the prepared corpus of a run's settings."""
    return f"resources/corpora/{corpus_id(settings.corpus, STUDY.corpora[settings.corpus])}"


def prepared_for(part):
    """The option that names the prepared corpus of a part of the theory; the model of the proofs has none."""
    return ["--prepared", prepared(part.settings)] if isinstance(part, parts.GradientPart) else []


def gpus_of(part):
    """The GPUs that measure a part of the theory; the model of the proofs has no use for one."""
    return STUDY.execution.gpus if isinstance(part, parts.GradientPart) else 0


def measured_from(part):
    """What a part of the theory is measured from: nothing, a prepared corpus, or trained runs of the study."""
    if isinstance(part, parts.ExactPart):
        return []
    corpus = [f"{prepared(part.settings)}/{folder}" for folder in ("text", "binary")]
    return corpus + [f"{RESULTS}/translation/{run.id}/metrics.json" for run in part.trained]


def records(runs):
    """The records of runs."""
    return [f"{RESULTS}/translation/{run.id}/{name}" for run in runs for name in ("curve.csv", "metrics.json")]


def measurements(chosen):
    """The records of parts of the theory."""
    return [f"{RESULTS}/theory/{part.id}/{name}" for part in chosen for name in ("measurements.csv", "run.json")]


def shown_in(figure):
    """The runs or the parts of the theory that a figure shows."""
    if figure in FIGURES_OF_THEORY:
        return list(PARTS.values())
    return [run for run in RUNS.values() if int(figure) in run.figures]


def drawn_from(figure):
    """The records of what a figure shows."""
    return measurements(shown_in(figure)) if figure in FIGURES_OF_THEORY else records(shown_in(figure))


def drawn_with(figure):
    """The modules that draw a figure, beside its own."""
    if figure in FIGURES_OF_THEORY:
        return ("page.py", "style.py", *OF_THEORY_WITH)
    return ("drawing.py", "page.py", *OF_RUNS_WITH)


def digest_of(shown):
    """What a figure or a table depends on beside its records: of what, and how the study describes it."""
    described = {"description": STUDY.description, "paper_settings": STUDY.paper_settings}
    return digest({**described, "shown": {one.id: one.identity for one in shown}})


FIGURES_OF_THEORY = ("3", "theory", "gradients")
OF_RUNS_WITH = ("labels.py", "records.py", "style.py", "reference/__init__.py", "reference/paper.csv")
OF_THEORY_WITH = (
    *("labels.py", "statistics.py", "theory_records.py", "reference/gradients.py", "reference/gradients.csv"),
    *("../theory/closed_forms.py", "../theory/measurements.py"),
)


def code(*modules):
    """Modules, named from the report's folder: what is computed by them is computed again when they change."""
    return [str(Path(relpath(SOURCE / "report" / module))) for module in modules]


def study_results():
    """Every end product of the study."""
    figures = sorted({str(number) for run in RUNS.values() for number in run.figures})
    tables = ["runs"]
    if STUDY.theory:
        figures.append("theory")
        tables.append("theory")
    if STUDY.theory and STUDY.theory.gradients:
        figures += ["3", "gradients"]
        tables.append("figure-3")
    return [
        *records(RUNS.values()),
        *measurements(PARTS.values()),
        *(f"{RESULTS}/figures/figure-{figure}.{suffix}" for figure in figures for suffix in ("pdf", "png")),
        *(f"{RESULTS}/tables/{table}.{suffix}" for table in tables for suffix in ("csv", "md", "tex")),
    ]
