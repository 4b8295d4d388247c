"""The pages' links lead somewhere, their code is real, and the site is built from them."""

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from snakemake.cli import get_argument_parser
from typer.core import TyperGroup
from typer.main import get_command

from docs.gather import gather
from preln.commands.cli import app
from preln.config.reading import validate
from preln.jobs.kinds import jobs_of
from preln.report.pages.committed import Committed
from preln.report.pages.fill import current, pages
from tests.conftest import ROOT
from tests.reading import FENCE, blocks

PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob(".github/**/*.md"))]
PAGES += [ROOT / "config" / "README.md", ROOT / "benchmarks" / "README.md"]
OF_PAGES = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
FOLDERS = ("src/", "tests/", "config/", "workflow/", "docs/", "slurm/", "tools/", "benchmarks/")


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are on the site."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@OF_PAGES
def test_what_a_page_installs_has_the_versions_that_were_tested(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (torch,) = re.findall(r"^torch==\S+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"torch==\S+", text)) <= {torch}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for command in re.findall(r"pip install -e [^`\n]+", text.replace("\\\n", " ")):
        named = re.findall(r"--constraint (?:preln/)?(\S+\.txt)", command)
        pins = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in named).lower()
        (wanted,) = re.findall(r"\[([\w,]+)\]", command)
        libraries = [re.split("[<>=]", name)[0].lower() for extra in wanted.split(",") for name in extras[extra]]
        assert [library for library in libraries if f"\n{library}==" not in pins] == [], command


@pytest.mark.slow
@pytest.mark.numbers
@pytest.mark.parametrize("page", pages(ROOT), ids=lambda page: page.name)
def test_the_blocks_of_a_page_are_those_of_the_records(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert current(text, Committed(ROOT), page.name) == text, "python -m preln.report.pages writes them"


@OF_PAGES
def test_a_link_leads_to_a_file_and_to_a_heading_that_are_there(page: Path) -> None:
    for link in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@OF_PAGES
def test_a_whole_study_in_a_page_is_one_and_python_compiles(page: Path) -> None:
    for code in blocks(page, "yaml"):
        content = yaml.safe_load(code)
        # This one has a placement that the reader of its page adds first; a test of its own does both.
        if isinstance(content, dict) and "study" in content and content["study"] != "pre-post":
            assert jobs_of(validate(content, page.name))
    for code in blocks(page, "python"):
        compile(code, page.name, "exec")


def commands(page: Path) -> Iterator[list[str]]:
    """The commands of a page, in its blocks and in its text, each as its words, up to where its output goes."""
    lines = [line for code in blocks(page, "sh") for line in code.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`((?:make|preln|snakemake|python -m) [^`<>]*[^`<>.])`", re.sub(r"\s+", " ", prose(page)))
    for line in lines:
        words = shlex.split(line, comments=True)
        while words:
            end = next((at for at, word in enumerate(words) if word in ("&&", "|", ">")), len(words))
            if words[:end]:
                yield words[:end]
            words = words[end + 2 :] if words[end : end + 1] == [">"] else words[end + 1 :]


@pytest.mark.slow
@OF_PAGES
def test_a_command_in_a_page_is_one_that_there_is(page: Path) -> None:
    for program, *arguments in commands(page):
        if program == "make":
            outcome = subprocess.run(["make", "--dry-run", *arguments], cwd=ROOT, capture_output=True, text=True)
            assert outcome.returncode == 0, outcome.stderr
        elif program == "preln":
            group = get_command(app)
            assert isinstance(group, TyperGroup)
            if arguments[0].startswith("--"):
                assert arguments[0] in {option for parameter in group.params for option in parameter.opts}
            elif len(arguments) > 1:
                group.commands[arguments[0]].make_context(arguments[0], arguments[1:])
            else:
                assert arguments[0] in group.commands
        elif program == "snakemake":
            given = get_argument_parser().parse_args(arguments)
            for file in given.configfile or []:
                assert exists_or_is_saved(str(file), page), file
        elif program in ("python", "python3") and arguments[0] == "-m":
            assert importlib.util.find_spec(arguments[1]), arguments
        else:
            # Programs of other projects.
            of_others = {"apptainer", "nvidia-cuda-mps-control", "docker", "sbatch"}
            assert program in {"cd", "git", "printf", "rm", "sed", "source", *of_others}, program


def exists_or_is_saved(path: str, page: Path) -> bool:
    """True of a file that is in the repository, or that the page tells its reader to save."""
    return (ROOT / path).exists() or bool(re.search(rf"[Ss]ave [^.]*`{re.escape(path)}`", prose(page)))


@OF_PAGES
def test_a_file_that_a_page_names_is_there(page: Path) -> None:
    for name in re.findall(r"`([^`\n]+)`", re.sub(r"\s+", " ", prose(page))):
        in_repository = name.startswith(FOLDERS) or re.fullmatch(r"[\w/]+/\w+\.(py|cpp|smk)", name)
        if in_repository and not re.search(r"[<>{} ]", name) and not exists_or_is_saved(name, page):
            assert any(ROOT.glob(name)) or any(ROOT.glob(f"src/preln/{name}")), name


def test_the_versions_in_the_docs_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "how-it-is-built.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+_VERSION)` \| `([\w/.]+)` \| (\d+) \|", page, re.MULTILINE)
    code = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")}
    constants = [
        (name, str(path.relative_to(ROOT)), value)
        for path, text in code.items()
        for name, value in re.findall(r"^(\w+_VERSION) = (\d+)$", text, re.MULTILINE)
    ]
    assert sorted(listed) == sorted(constants)


@pytest.mark.slow
def test_the_site_is_built_strictly_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("zensical", reason="zensical is not installed (requirements-docs.txt; make test installs it)")
    gather(tmp_path / "build" / "pages")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    pages = list((tmp_path / "build" / "site").rglob("*.html"))
    assert len(pages) > 15
    for page in pages:
        html = page.read_text(encoding="utf-8")
        assert re.findall(r"<(?:script|img|iframe|link)[^>]*(?:src|href)=\"?https?:[^>]*>", html) == [], page.name
