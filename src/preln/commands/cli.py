"""The command line: one subcommand for each stage of the workflow, and what users ask of a study."""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import sys
import time
import warnings
from argparse import ArgumentError, ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
from pydantic import TypeAdapter, ValidationError

from preln import __version__, libraries
from preln.commands import completion
from preln.config import Corpus, EnglishText, NoResults, Study, StudyError, Task, describe, load, of_results
from preln.config.base import listed, meant
from preln.errors import PrelnError
from preln.jobs.base import Job
from preln.jobs.results import STUDY_FILE, of_folder, prepared_for, read_results, study_file, study_named
from preln.language.runs import LanguageRun
from preln.records.files import json_text, not_written

app = typer.Typer(
    help="Reproduce 'On Layer Normalization in the Transformer Architecture'.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

STUDY, LOOK, STAGE = "A study", "Results", "The stages, which the workflow calls"
"""The groups of the commands in the help."""

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="A study file, or a folder with study.yaml.")]
ResultsOf = Annotated[
    Path,
    typer.Argument(
        metavar="RESULTS", help="The folder of a study's results, such as results/quick, or the study's file."
    ),
]
Downloads = Annotated[Path, typer.Option(help="Folder of the downloads.")]
Out = Annotated[Path, typer.Option("--out", help="Where the result is written.")]
Page = Annotated[Path, typer.Option("--out", help="The HTML file to write.")]
Prepared = Annotated[Path, typer.Option(help="Folder of the prepared text.")]
PreparedOrFound = Annotated[
    Path | None, typer.Option(help="Folder of the prepared text; by default that of the workflow.")
]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run of the study.")]

SNAKEFILES = [Path(folder, name) for folder in ("", "workflow") for name in ("Snakefile", "snakefile")]
"""Where Snakemake looks for a workflow."""
WORKFLOW = Path(__file__).parents[1] / "workflow" / "Snakefile"
"""The workflow that comes with the package."""


def _version(asked: bool) -> None:
    if asked:
        print(f"preln {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of all commands."""


def main() -> None:
    """Run the command line; what users can mend is said in a line or two, without a traceback."""
    # Don't print a logging traceback per line when the disk is full.
    logging.raiseExceptions = False
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.isatty():
        # A terminal may not have each of our signs. What is written to files and to programs is UTF-8.
        sys.stdout.reconfigure(errors="replace")
    elif isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        # A path of the user's is relative to the current folder, which may have been deleted.
        folder = Path.cwd()
    except FileNotFoundError:
        _end("the current folder has been deleted; go into another one")
    try:
        app()
    except PrelnError as error:
        _end(str(error))
    except ModuleNotFoundError as error:
        if hint := libraries.missing(error):
            _end(hint)
        raise
    except Exception as error:
        if refusal := not_written(error, folder):
            _end(str(refusal))
        raise


def _end(message: str) -> NoReturn:
    """End with a message, which is also for the console that a rule keeps when its output goes to a log."""
    if console := os.environ.get("PRELN_CONSOLE"):
        # Whoever started this process may have closed it.
        with suppress(OSError, ValueError):
            os.write(int(console), f"preln: {message}\n".encode(errors="backslashreplace"))
    sys.exit(f"preln: {message}")


def _job(study: Path, kind: str, wanted: str, name: str) -> tuple[Study, Any]:
    """The study, and its job of a kind with the id `wanted`; messages call it by the name."""
    from preln.jobs.kinds import KINDS

    path = study_file(study)
    content = load(path)
    return content, _find(KINDS[kind].expand(content, path), wanted, name)


def _settings(option: str, kind: Any, text: str) -> Any:
    """The settings of a kind that an option has as JSON."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise StudyError(f"{option}: not JSON: {error}") from None
    try:
        return TypeAdapter(kind).validate_python(content)
    except ValidationError as error:
        raise StudyError("\n".join(f"{option}: {line}" for line in describe(error, content, kind))) from None


@app.command(rich_help_panel=STUDY)
def demo(seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of the four models.")] = 1) -> None:
    """Show the paper's finding in a minute on one core: four language models, with and without a warm-up."""
    from preln.language.demo import show

    show(seed)


@app.command(rich_help_panel=STUDY)
def bench(
    placement: Annotated[
        str,
        typer.Argument(
            metavar="PLACEMENT", help="A Python file, such as mine.py, or a placement's name, as in a study."
        ),
    ],
    budget: Annotated[str, typer.Option(help="How long it may train, such as 10m, 1h or 1h30m.")] = "10m",
    cores: Annotated[int, typer.Option(min=1, max=1024, help="Models that are trained at the same time.")] = 2,
    beside: Annotated[
        Path, typer.Option(help="The results with Pre-LN and Post-LN on the bench; without them, both are trained too.")
    ] = Path("results/language-bench"),
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder of the results; by default results/bench-NAME.")
    ] = None,
    json_form: Annotated[bool, typer.Option("--json", help="Print the rows as JSON, for programs.")] = False,
) -> None:
    """Compare a placement with Pre-LN in small language models; the exit status is 0 if it is ahead, 3 if the two
    are not told apart, and 4 if it is behind. Called again, it goes on."""
    from preln.commands.bench import STATUS, Bench, result_of, text

    hours = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", budget)
    if not budget or hours is None:
        raise PrelnError(f"--budget {budget}: must be a length of time, such as 10m, 1h or 1h30m")
    seconds = sum(int(number or 0) * unit for number, unit in zip(hours.groups(), (3600, 60, 1), strict=True))
    chosen = Bench.of(placement, out, beside)
    chosen.train(seconds, cores, _tell)
    result = result_of(chosen)
    print(json_text(result) if json_form else text(result), end="" if json_form else "\n")
    raise typer.Exit(STATUS[result["verdict"]])


@app.command(rich_help_panel=STUDY)
def init(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="Sentences to translate, one a line, such as train.nl; or both sides in one file: tsv, csv, json, "
            "jsonl or tmx. Files may be compressed: gz, bz2, xz, zst.",
        ),
    ],
    target: Annotated[
        Path | None, typer.Argument(metavar="[TARGET]", help="Their translations, line by line: train.fr.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="The study to write.")] = Path("config/mine.yaml"),
    source_language: Annotated[
        str | None, typer.Option(help="By default the end of the file's name, or what one file says of both sides.")
    ] = None,
    target_language: Annotated[str | None, typer.Option(help="Likewise.")] = None,
) -> None:
    """Write a study for a parallel text of your own. If valid and test are beside train, it takes them."""
    from preln.commands import new_study

    text, languages = new_study.read(source, target, (source_language, target_language))
    seen, written = new_study.write(text, languages, out)
    if written:
        print(f"The text is now in {', '.join(map(str, written))}.")
    print(f"{out}: a study of {seen.pairs:,} pairs. Look at it. Then prepare the text, see the costs, and run it:")
    print(f"  preln run {shlex.quote(str(out))} prepared")
    print(f"  preln plan {shlex.quote(str(out))}")
    print(f"  preln run {shlex.quote(str(out))}")


@app.command(rich_help_panel=STUDY)
def plan(
    study: StudyFile,
    gpu: Annotated[
        str,
        typer.Option(
            help="The GPU, such as rtx4090 or h100. A wrong name lists those known.", autocompletion=completion.gpus
        ),
    ] = "a100",
    gpu_tflops: Annotated[
        float | None, typer.Option(min=0.1, max=1e6, help="Its peak, in place of the data sheet's.")
    ] = None,
) -> None:
    """Check a study, and say what it will cost, before anything is launched: updates, tokens, memory and hours."""
    from preln.commands.plan import show
    from preln.jobs.checking import check_file

    path = study_file(study)
    checked = check_file(path)
    _tell_fallback(checked.every)
    show(checked, path, gpu, Path(), gpu_tflops)


@app.command("run", rich_help_panel=STUDY, context_settings={"ignore_unknown_options": True})
def run_study(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="A study file, such as config/config.yaml.")],
    options: Annotated[
        list[str] | None, typer.Argument(metavar="OPTION", help="More options and targets of Snakemake.")
    ] = None,
    cores: Annotated[str, typer.Option(help="Cores, as Snakemake takes them: a number, or all.")] = "all",
) -> None:
    """Run the workflow of a study, and show how far it is. It is `snakemake --cores all`, whose log goes to a file.
    Where the folder has no Snakefile, the workflow is the one that comes with the package."""
    from preln.commands.follow import run
    from preln.jobs.checking import check_file
    from preln.report.catalogue import REPORT

    if str(study).startswith("-"):
        raise PrelnError(f"{study}: options of Snakemake come behind the study: preln run STUDY {study}")
    path, origin = study_file(study), Path.cwd()
    workflow = [] if any(map(Path.exists, SNAKEFILES)) else ["--snakefile", str(WORKFLOW)]
    folder, values = _options_of_snakemake(options or [])
    if wrong := [value for value in values if not re.match(r"[a-zA-Z_][\w-]*\w=", value)]:
        form = "must be KEY=VALUE with a key of the study; what is in a section is given in braces"
        raise PrelnError(f"--config {wrong[0]}: {form}, such as 'execution={{gpus: 0}}'")
    if folder:
        # Snakemake goes there too, and takes the paths of the study from there.
        path = path.absolute()
        folder.mkdir(parents=True, exist_ok=True)
        os.chdir(folder)
    checked = check_file(path)
    _tell_fallback(checked.every)
    arguments = [*workflow, "--cores", cores, "--rerun-incomplete", f"--configfile={path}", *(options or ())]
    status, results = run(checked.study, arguments, Path("logs") / checked.study.study / "snakemake.log", origin)
    if status:
        sys.exit(status)
    if folder:
        results = results.absolute()
    if (results / REPORT).exists():
        from preln.commands import conclusion

        # An option may have changed it.
        content = of_results(results / STUDY_FILE)
        print(*conclusion.lines(content, results.parent), sep="\n")
        print(f"The tables: preln summary {results}")


@app.command(rich_help_panel=STUDY)
def status(
    results: ResultsOf,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep showing it, every few seconds, until all is done.")
    ] = False,
    json_form: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print it once, as JSON for programs; docs/your-own-study.md in preln's repository lists the fields.",
        ),
    ] = False,
) -> None:
    """Show how far a study and each of its jobs is, their scores, speed and time left; it only reads files."""
    from preln.commands.status import StudyProgress, show
    from preln.jobs import notes
    from preln.jobs.kinds import jobs_of

    if watch and json_form:
        raise PrelnError("--watch and --json: choose one; a program that watches calls --json again")
    try:
        folder, study = read_results(results)
        origin = results
    except NoResults:
        file = results if results.is_file() else study_named(results.name)
        if file is None:
            raise
        folder, study, origin = of_folder(results).parent, load(file), file
    if json_form:
        content = StudyProgress.read(study, folder, time.time()).content()
        print(json_text(content | {"notes": notes.of_study(jobs_of(study), folder)}), end="")
    else:
        show(study, folder, origin, watch)


@app.command(rich_help_panel=STUDY)
def summary(results: ResultsOf) -> None:
    """Print what a study found, the tables of what is done, and where the figures are."""
    from preln.commands import conclusion
    from preln.jobs import notes
    from preln.questions.core.ledger import CLAIMS_TABLE
    from preln.report.catalogue import Catalogue
    from preln.report.core import forms

    folder, study = read_results(results)
    catalogue = Catalogue(study)
    print(*conclusion.lines(study, folder.parent), sep="\n")
    for written in catalogue.tables.values():
        if written is not CLAIMS_TABLE:
            print(forms.plain(written.make(study, catalogue.load(written, folder.parent))))
    for line in notes.told(notes.of_study(catalogue.everything, folder)):
        print(line)
    for picture in catalogue.pictures():
        if (folder / picture).exists():
            print(folder / picture)


@app.command(rich_help_panel=STUDY)
def compare(
    before: ResultsOf,
    after: Annotated[Path, typer.Argument(metavar="RESULTS", help="The results to compare with them, likewise.")],
) -> None:
    """Say which settings differ between two studies, and compare their numbers; fails if a number is worse."""
    from preln.commands.compare import compare, text

    # The folders as they were given, or those of a study.yaml, for their names are in what is said.
    folders = [of_folder(path).parent for path in (before, after)]
    for folder in folders:
        # It says what was meant by a misspelt name.
        read_results(folder)
    comparison = compare(*folders)
    print(text(comparison))
    if comparison.is_worse:
        raise typer.Exit(1)


def _options_of_snakemake(options: Sequence[str]) -> tuple[Path | None, list[str]]:
    """The folder in which Snakemake's options have it work, None for the current one, and the values of --config."""
    parser = ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--directory", "-d", type=Path)
    parser.add_argument("--config", "-C", nargs="*", default=[])
    # These may stand before -d in one word: -nd.
    for flag in "npkfF":
        parser.add_argument(f"-{flag}", action="store_true")
    given = Namespace(directory=None, config=[])
    # An option without a value is Snakemake's to refuse.
    with suppress(ArgumentError):
        parser.parse_known_args(options, given)
    return given.directory, given.config


def _tell_fallback(jobs: Sequence[Job]) -> None:
    """Say that jobs on a CPU are slow here, where they are; language models do without the loops everywhere."""
    if any(job.kind != LanguageRun.kind and not job.execution.gpus for job in jobs):
        from preln.fused import native

        if line := native.fallback():
            print(line, flush=True)


def _tell(progress: str) -> None:
    """Tell on standard error how far a study is, where it is not at its end."""
    if progress:
        print(progress, file=sys.stderr)


@app.command(rich_help_panel=STUDY)
def answer(
    question: Annotated[
        str,
        typer.Argument(
            metavar="QUESTION",
            help="Such as C15 or control. A wrong name lists those known.",
            autocompletion=completion.questions,
        ),
    ],
    results: Annotated[
        Path | None,
        typer.Argument(metavar="[RESULTS]", help="A study's results; without it, those of the current folder."),
    ] = None,
) -> None:
    """Say what a study answers to a question: its rule, each finding with its seeds, and the verdict."""
    from preln.commands.answer import answer as answer_of

    folder = None if results is None else read_results(results)[0]
    print(answer_of(question, folder))


def _require_html(out: Path) -> None:
    if out.suffix != ".html":
        raise PrelnError(f"--out {out}: must end in .html")


@app.command(rich_help_panel=LOOK)
def report(results: ResultsOf, out: Page) -> None:
    """Write the report of what is done: one page that needs no network."""
    from preln.report.catalogue import Catalogue
    from preln.report.html import page

    _require_html(out)
    folder, study = read_results(results)
    page.write(study, folder.parent, out)
    catalogue = Catalogue(study)
    _tell(catalogue.progress(catalogue.everything, folder.parent))


@app.command(rich_help_panel=LOOK)
def explorer(
    out: Page,
    results: Annotated[
        Path, typer.Argument(metavar="[RESULTS]", help="The folder of the results of all studies.")
    ] = Path("results"),
) -> None:
    """Write the explorer: one page with every recorded run of the benches and maps, which needs no network."""
    from preln.report.html import explorer as page

    _require_html(out)
    page.write(results, out)


@app.command(rich_help_panel=LOOK)
def figure(
    results: ResultsOf,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Such as 4, for figure 4. A wrong name lists those allowed.",
            autocompletion=completion.figures,
        ),
    ],
    out: Annotated[list[Path], typer.Option("--out", help="A file to draw: pdf, png or svg. Repeatable.")],
) -> None:
    """Draw a figure from what is done."""
    from preln.report.catalogue import Catalogue

    folder, study = read_results(results)
    catalogue = Catalogue(study)
    drawn = catalogue.figure(name)
    drawn.write(study, catalogue.load(drawn, folder.parent), out)
    _tell(catalogue.progress(catalogue.jobs(drawn), folder.parent))


@app.command(rich_help_panel=LOOK)
def table(
    results: ResultsOf,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Such as runs or claims. A wrong name lists those allowed.",
            autocompletion=completion.tables,
        ),
    ],
    out: Annotated[list[Path], typer.Option("--out", help="A file to write: csv, md or tex. Repeatable.")],
) -> None:
    """Write a table of what is done."""
    from preln.report.catalogue import Catalogue

    folder, study = read_results(results)
    catalogue = Catalogue(study)
    written = catalogue.table(name)
    progress = catalogue.progress(catalogue.jobs(written), folder.parent)
    written.write(study, catalogue.load(written, folder.parent), out, progress)
    _tell(progress)


@app.command(rich_help_panel=LOOK)
def translate(
    results: ResultsOf,
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="The ids of trained runs; several are shown side by side.",
            autocompletion=completion.translations,
        ),
    ],
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            help="Running text in UTF-8, a sentence a line; tokens if the study's text has `tokenise: false`. Without "
            "it: standard input.",
        ),
    ] = None,
    beam: Annotated[int | None, typer.Option(min=1, max=100, help="Hypotheses kept; by default the run's.")] = None,
    alternatives: Annotated[int, typer.Option(min=1, max=100, help="Translations of each sentence.")] = 1,
    scores: Annotated[
        bool, typer.Option("--scores", help="Show the score of each: its log-probability over length^length_penalty.")
    ] = False,
    prepared: PreparedOrFound = None,
) -> None:
    """Translate sentences of running text with trained runs of a study. They are prepared as the study's text was."""
    # Standard output is for translations alone, and fairseq's import would log there.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    # The libraries warn of nothing that a user who translates could change.
    warnings.simplefilter("ignore")
    from preln.translation.runs import expand
    from preln.translation.translating import TrainedRun, show

    if file is not None and not file.exists():
        raise PrelnError(f"--file {file}: there is no such file")
    folder, study = read_results(results)
    every = expand(study, folder / STUDY_FILE)
    asked = [_find(every, run, "run") for run in runs]
    models = [TrainedRun(run, folder, prepared or prepared_for(folder, run.prepared[0].folder)) for run in asked]
    if file is None:
        # As every other text of the project, whatever the locale is.
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8-sig", newline="\n")
        show(models, sys.stdin, beam, alternatives, scores)
    else:
        with file.open(encoding="utf-8-sig", newline="\n") as lines:
            show(models, lines, beam, alternatives, scores)


@app.command(rich_help_panel=LOOK)
def export(
    results: ResultsOf,
    to: Annotated[
        Literal["huggingface", "tensorboard", "csv", "parquet", "ro-crate"],
        typer.Option(
            help="A model for the library transformers; curves for TensorBoard, or as one file of CSV or Parquet; or "
            "all results as an RO-Crate for an archive."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="The new folder, or the file of curves, which may be there.")],
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]",
            help="The id of a run. A model needs one; curves are of all runs without it.",
            autocompletion=completion.all_runs,
        ),
    ] = None,
    prepared: PreparedOrFound = None,
    licence: Annotated[
        str | None,
        typer.Option(help="Of an RO-Crate, which must have one: an SPDX identifier such as CC-BY-4.0, or an address."),
    ] = None,
) -> None:
    """Write a trained model, the curves of what is done, or a whole study, for other software."""
    for option, value, form in (("--prepared", prepared, "huggingface"), ("--licence", licence, "ro-crate")):
        if value and to != form:
            raise PrelnError(f"{option}: only for --to {form}; leave it out with --to {to}")
    if to == "huggingface":
        if run is None:
            raise PrelnError(f"--to {to}: name the run whose model it is; preln status {results} lists them")
        _export_model(results, run, out, prepared)
        print(f"{out / 'README.md'} has the code that uses it.", file=sys.stderr)
    elif to == "ro-crate":
        if run:
            raise PrelnError(f"--to {to}: exports a whole study; leave out {run}")
        if not licence:
            raise PrelnError(
                f"--to {to}: an RO-Crate must say under which licence the results are; add --licence with an SPDX "
                "identifier such as CC-BY-4.0, or with an address"
            )
        from preln.export import crate

        folder, study = read_results(results)
        crate.export(study, folder, licence, out)
    else:
        _export_curves(results, run, to, out)
    print(out)


def _export_model(results: Path, run: str, out: Path, prepared: Path | None) -> None:
    """Write a trained model for the library transformers, with its tokenizer and a model card."""
    folder, study = read_results(results)
    import transformers

    transformers.logging.set_verbosity_error()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    from preln.export import language
    from preln.jobs.kinds import KINDS

    trained = {kind.name: kind.trained for kind in KINDS.values() if kind.trained}
    names = [*trained, LanguageRun.kind]
    job = _find([job for name in names for job in KINDS[name].expand(study, folder / STUDY_FILE)], run, "run")
    text = prepared or prepared_for(folder, job.prepared[0].folder)
    if isinstance(job, LanguageRun):
        language.export(job, text, folder / job.folder, out)
        return
    # Language models need no fairseq.
    from preln.export import huggingface

    huggingface.export(job, trained[job.kind](job, text, folder / job.folder), text, out)


def _export_curves(results: Path, run: str | None, to: str, out: Path) -> None:
    """Write the curves of a run, or of all, as a table or for TensorBoard."""
    from preln.export import curves
    from preln.jobs.kinds import KINDS

    folder, study = read_results(results)
    jobs = [job for kind in KINDS.values() if kind.curves for job in kind.expand(study, folder / STUDY_FILE)]
    if run:
        _find(jobs, run, "run")
        # A trace has the id of its run.
        jobs = [job for job in jobs if job.id == run]
    write = {"csv": curves.to_csv, "parquet": curves.to_parquet, "tensorboard": curves.to_tensorboard}[to]
    write(curves.load(study, folder.parent, jobs), out)


@app.command(rich_help_panel=STAGE)
def download(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name in the registry of downloads.")], out: Out
) -> None:
    """Download a file into a folder, and verify it."""
    from preln.corpora.download import fetch, registered

    fetch(registered(name), out)


@app.command("prepare-task", rich_help_panel=STAGE)
@app.command("prepare-english", rich_help_panel=STAGE)
@app.command("prepare-text", rich_help_panel=STAGE)
def prepare_text(
    downloads: Downloads,
    out: Out,
    corpus: Annotated[str | None, typer.Option(help="A parallel corpus's settings, as JSON.")] = None,
    text: Annotated[str | None, typer.Option(help="An English text's settings, as JSON.")] = None,
    task: Annotated[str | None, typer.Option(help="A task's settings, as JSON; with --model, --longest.")] = None,
    model: Annotated[Path | None, typer.Option(help="The BPE model of the text that is pre-trained on.")] = None,
    longest: Annotated[int | None, typer.Option(help="Tokens that the pre-trained models read.")] = None,
    processes: Annotated[int, typer.Option(min=1, help="Processes that tokenise.")] = 1,
) -> None:
    """Make train, valid and test of a corpus, sentences of an English text, or pieces of a task's pairs."""
    if corpus:
        from preln.corpora import prepare

        prepare.prepare_text(_settings("--corpus", Corpus, corpus), downloads, out, processes)
    elif text:
        from preln.corpora.english import prepare as english

        english.prepare_text(_settings("--text", EnglishText, text), downloads, out, processes)
    elif task and model and longest:
        from preln.corpora import tasks

        tasks.prepare_task(_settings("--task", Task, task), downloads, model, longest, out)
    else:
        raise PrelnError("give --corpus, --text, or --task with --model and --longest")


@app.command("prepare-english-bpe", rich_help_panel=STAGE)
@app.command("prepare-bpe", rich_help_panel=STAGE)
def prepare_bpe(
    text: Annotated[Path, typer.Option(help="Folder of the tokenised text or of the sentences.")],
    vocabulary: Annotated[int, typer.Option(help="Size of the vocabulary, which two languages share.")],
    out: Out,
    threads: Annotated[int, typer.Option(min=1, help="Threads that encode.")] = 1,
) -> None:
    """Train a BPE model on a text and split the text into its pieces."""
    from preln.corpora import prepare
    from preln.corpora.english import prepare as english

    is_english = (text / "text.json").exists()
    (english.prepare_pieces if is_english else prepare.prepare_bpe)(text, vocabulary, out, threads)


@app.command("binarise-task", rich_help_panel=STAGE)
@app.command("binarise-english", rich_help_panel=STAGE)
@app.command("binarise", rich_help_panel=STAGE)
def binarise(
    pieces: Annotated[Path, typer.Option(help="Folder of the BPE pieces.")],
    out: Out,
    source: Annotated[str | None, typer.Option(help="Source language of a parallel text.")] = None,
    target: Annotated[str | None, typer.Option(help="Target language of a parallel text.")] = None,
    dictionary: Annotated[
        Path | None, typer.Option(help="Of a task: the dictionary of the text that is pre-trained on.")
    ] = None,
) -> None:
    """Binarise the pieces of a parallel text, an English text or a task for fairseq."""
    from preln.fairseq_plugin import binarise

    if (source is None) != (target is None):
        raise PrelnError("--source and --target: give both, or neither")
    if source and target:
        binarise.binarise(pieces, source, target, out)
    elif dictionary:
        binarise.binarise_task(pieces, dictionary, out)
    else:
        binarise.binarise_english(pieces, out)


@app.command(rich_help_panel=STAGE)
def prepare_tokens(
    prepared: Prepared,
    tokens: Annotated[Literal["bpe", "bytes"], typer.Option(help="The text's pieces, or its bytes.")],
    out: Out,
) -> None:
    """Write the tokens of an English text to files that a language model's training maps into memory."""
    from preln.language.text import prepare_tokens as prepare

    prepare(prepared, tokens, out)


@app.command(rich_help_panel=STAGE)
def train(study: StudyFile, run: RunId, prepared: Prepared, out: Out) -> None:
    """Train one run, or go on with it, and write its records."""
    from preln.translation.training import train_run

    train_run(*_job(study, "translation", run, "run"), prepared, out)


@app.command(rich_help_panel=STAGE)
def pretrain(study: StudyFile, run: RunId, prepared: Prepared, out: Out) -> None:
    """Pre-train one run, or go on with it, and write its records."""
    from preln.pretraining.training import pretrain_run

    pretrain_run(*_job(study, "pretraining", run, "pre-training run"), prepared, out)


@app.command(rich_help_panel=STAGE)
def train_language(study: StudyFile, run: RunId, prepared: Prepared, out: Out) -> None:
    """Train one language model, or go on with it, and write its records."""
    from preln.language.training import train_run

    train_run(*_job(study, "language", run, "language model"), prepared, out)


@app.command(rich_help_panel=STAGE)
def finetune(
    study: StudyFile,
    finetuning: Annotated[str, typer.Argument(metavar="FINETUNING", help="The id of a fine-tuning of the study.")],
    prepared: Prepared,
    task: Annotated[Path, typer.Option(help="Folder of the prepared task.")],
    runs: Annotated[Path, typer.Option(help="Folder of the study's pre-training runs.")],
    out: Out,
) -> None:
    """Fine-tune one checkpoint on one task over the whole grid, or go on with it, and write its scores."""
    from preln.pretraining.finetuning import finetune as finetune_checkpoint

    finetune_checkpoint(*_job(study, "finetuning", finetuning, "fine-tuning"), prepared, task, runs, out)


@app.command(rich_help_panel=STAGE)
def measure(
    study: StudyFile,
    job: Annotated[str, typer.Argument(metavar="MEASUREMENT", help="The id of a measurement of the study's theory.")],
    runs: Annotated[Path, typer.Option(help="Folder of the study's translation runs.")],
    out: Out,
    prepared: Annotated[
        Path | None, typer.Option(help="Folder of the prepared text; not for the proofs' model.")
    ] = None,
) -> None:
    """Take one measurement of the theory: of the proofs' model, or of the gradients of a model as it is trained."""
    from preln.theory import measuring

    measuring.measure(*_job(study, "theory", job, "measurement"), prepared, runs, out)


@app.command(rich_help_panel=STAGE)
def trace(study: StudyFile, run: RunId, prepared: Prepared, out: Out) -> None:
    """Trace the first updates of one run, and write its records."""
    from preln.theory import measuring

    measuring.measure(*_job(study, "first-updates", run, "trace"), prepared, None, out)


@app.command("records", rich_help_panel=STAGE)
def write_records(study: StudyFile, out: Out) -> None:
    """Write the records of all jobs of a study to one file, with which they come in a clone."""
    from preln.jobs.kinds import jobs_of
    from preln.records import packed

    packed.pack(out, {job.folder: job.records for job in jobs_of(load(study_file(study)))})


def _find(choices: Sequence[Any], wanted: str, kind: str) -> Any:
    """The job with the id, or an error that names those that there are."""
    for choice in choices:
        if choice.id == wanted:
            return choice
    ids = [choice.id for choice in choices]
    raise StudyError(f"the study has no {kind} {wanted}{meant(wanted, ids)}; it has {listed(ids) or 'none'}")
