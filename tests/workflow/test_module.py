"""The workflow within another one: as a module with a prefix, and as snakedeploy lays it out."""

import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml

from preln.corpora import data
from tests.conftest import RUN, bert_content, study_content
from tests.reading import blocks
from tests.workflow.conftest import ROOT, Workspace, copy_repository
from tests.workflow.test_theory import THEORY

# As snakedeploy writes `workflow/Snakefile`, but for its comments, with a path in the place of an address.
DEPLOYED = """
from snakemake.utils import min_version


min_version("6.10.0")


configfile: "config/config.yaml"


module preln:
    snakefile:
        "{snakefile}"
    config:
        config


use rule * from preln
"""
IN_FOLDER = """
configfile: "study.yaml"


module preln:
    snakefile:
        "{snakefile}"
    config:
        config
    prefix:
        "norms"


use rule * from preln as preln_*


rule mine:
    default_target: True
    input:
        rules.preln_all.input,
"""


@pytest.fixture
def user(tmp_path: Path) -> Workspace:
    """A folder of a user, who has preln installed and its repository elsewhere."""
    repository = copy_repository(tmp_path / "repository")
    folder = tmp_path / "a user's folder"
    folder.mkdir()
    (folder / "src").symlink_to(repository.folder / "src")
    return Workspace(folder)


def write_snakefile(user: Workspace, path: str, text: str) -> None:
    (user.folder / path).parent.mkdir(exist_ok=True)
    snakefile = user.folder.parent / "repository" / "workflow" / "Snakefile"
    (user.folder / path).write_text(text.format(snakefile=snakefile), encoding="utf-8")


def write_text(user: Workspace) -> None:
    """Write both sides of a parallel text of the user's own into `data/`."""
    (user.folder / "data").mkdir()
    for side, language in enumerate(("nl", "fr")):
        lines = [f"{pair[side]}\n" for pair in data.pairs()[:600]]
        (user.folder / "data" / f"train.{language}").write_text("".join(lines), encoding="utf-8")


def files_of(user: Workspace) -> set[str]:
    return {path.name for path in user.folder.iterdir() if not path.name.startswith(".")}


def test_a_module_with_a_prefix_has_its_files_in_its_folder_and_reads_the_users_where_they_are(user: Workspace) -> None:
    write_snakefile(user, "Snakefile", IN_FOLDER)
    write_text(user)
    text = {"source": "files", "source_language": "nl", "target_language": "fr", "held_out": 20, "vocabulary": 100}
    train = {"source": "data/train.nl", "target": "data/train.fr"}
    run = "post-adam-lr2e-3-wu10-epochs1-s1"
    sections = {
        "corpora": {"tiny": {**text, "train": train}},
        "theory": {**THEORY, "gradients": {"runs": [run], "depths": [1], "batches": 1}},
        "first_updates": {"updates": 2, "settings": RUN, "runs": [{}]},
    }
    user.write(study_content({"placement": "post", "epochs": 1}, **sections), "study.yaml")
    before = files_of(user)
    # Every record, and one picture and one table of the many.
    files = ("records.jsonl", "claims.csv", "figures/figure-runs.png", "tables/runs.md")
    targets = [f"norms/results/tiny/{file}" for file in files]
    user.snakemake(*targets, "--no-hooks")
    assert files_of(user) == before | {"norms"}
    assert {path.name for path in (user.folder / "norms").iterdir()} == {"logs", "resources", "results"}

    assert "Nothing to be done" in user.snakemake(*targets, "--dry-run").output
    # As in a clone, its records tell what they are of, however old they are.
    shutil.rmtree(user.folder / ".snakemake")
    (corpus,) = (user.folder / "norms" / "resources" / "corpora").iterdir()
    shutil.rmtree(corpus / "binary")
    jobs = user.snakemake("--dry-run").jobs
    computed = ("train_translation", "measure_theory", "trace_first_updates")
    assert not jobs.keys() & {f"preln_{rule}" for rule in computed}, jobs


def test_a_module_with_a_prefix_would_write_berts_files_into_its_folder(user: Workspace) -> None:
    write_snakefile(user, "Snakefile", IN_FOLDER)
    user.write(bert_content(checkpoints=[6]), "study.yaml")
    header, *files = (line.split("\t") for line in user.snakemake("--summary").output.splitlines() if "\t" in line)
    written = pd.DataFrame(files, columns=header)
    assert {"preln_pretrain", "preln_finetune"} <= set(written["rule"])
    # A job without a log has a dash.
    paths = {*written["output_file"], *written["log-file(s)"]} - {"-"}
    assert {path.split("/")[0] for path in paths} == {"norms"}


def test_a_new_user_gets_from_a_text_of_their_own_to_translations_an_export_and_a_report(user: Workspace) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    (user.folder / "preln").symlink_to(user.folder.parent / "repository")
    (snakefile,) = blocks(ROOT / "docs" / "your-own-study.md", "snakemake")
    (user.folder / "Snakefile").write_text(snakefile, encoding="utf-8")
    write_text(user)
    begun = user.run("preln", "init", "data/train.nl", "data/train.fr")
    assert "preln run config/mine.yaml" in begun.output, begun.output
    content = yaml.safe_load((user.folder / "config" / "mine.yaml").read_text(encoding="utf-8"))
    tiny = {"encoder_layers": 1, "decoder_layers": 1, "width": 16, "ffn_width": 32, "heads": 2, "epochs": 1}
    content["translation"]["settings"] |= {**tiny, "decay_period": 10}
    content["translation"]["runs"][0] |= {"warmup": 0, "seed": 1}
    user.write(content, "config/mine.yaml")
    plan, prepare = ("preln", "plan", "config/mine.yaml"), "preln run config/mine.yaml prepared"
    assert prepare in user.run(*plan).output
    user.snakemake("preln_prepared")
    assert prepare not in user.run(*plan).output
    outcome = user.run("preln", "run", "config/mine.yaml", "--cores", "2")
    assert "All of it on one page: norms/results/mine/report.html" in outcome.output.splitlines()[-3:]
    results = Path("norms/results/mine")
    status = user.run("preln", "status", str(results))
    run = "post-adam-lr2e-3-wu0-hold10-s1"
    assert "2 of 2 runs done" in status.output and run in status.output, status.output
    sentences = (user.folder / "data" / "train.nl").read_text(encoding="utf-8").splitlines()[:2]
    (user.folder / "sentences.nl").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    translated = user.run("preln", "translate", str(results), run, "--file", "sentences.nl")
    assert len(translated.output.splitlines()) == 2, translated.output
    user.run("preln", "export", str(results), run, "--to", "huggingface", "--out", "models/post-ln")
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(user.folder / "models" / "post-ln")
    assert model.config.d_model == tiny["width"]
    assert 'id="figure-finding"' in (user.folder / results / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def deployed(user: Workspace) -> Workspace:
    """A folder as snakedeploy makes it: the settings and the profiles are copied, the rest is a module."""
    write_snakefile(user, "workflow/Snakefile", DEPLOYED)
    for name in ("config", "profiles"):
        shutil.copytree(ROOT / name, user.folder / name)
    return user


def statements(snakefile: Path) -> list[str]:
    """The lines of a Snakefile without its comments."""
    lines = [line.strip() for line in snakefile.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def files_below(folder: Path) -> dict[Path, bytes]:
    """The content of each file by its path in a folder."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_these_tests_take_as_deployed_is_what_snakedeploy_makes(deployed: Workspace, tmp_path: Path) -> None:
    snakedeploy = shutil.which("snakedeploy")
    if not snakedeploy:
        pytest.skip("snakedeploy is not on the path (pip install snakedeploy, in an environment of its own)")
    repository, made = tmp_path / "repository", tmp_path / "made"
    shutil.copytree(ROOT / "profiles", repository / "profiles", symlinks=True)
    command = [snakedeploy, "deploy-workflow", str(repository), str(made), "--name", "preln", "--branch", "main"]
    subprocess.run(command, check=True)
    # It writes the path within the repository, if that is on this machine.
    whole = str(repository / "workflow" / "Snakefile")
    lines = [line.replace('"workflow/Snakefile"', f'"{whole}"') for line in statements(made / "workflow" / "Snakefile")]
    assert lines == statements(deployed.folder / "workflow" / "Snakefile")
    for name in ("config", "profiles"):
        assert files_below(made / name) == files_below(deployed.folder / name)


def test_as_deployed_a_study_of_ones_own_takes_the_place_of_the_default(deployed: Workspace) -> None:
    deployed.write(study_content({"epochs": 1}), "config/mine.yaml")
    # Each submitted job reads the rules again.
    submitting = (
        *("--executor", "cluster-generic", "--cluster-generic-submit-cmd", "sh", "--jobs", "1"),
        *("--seconds-between-status-checks", "1"),
    )
    outcome = deployed.snakemake("--until", "prepare_text", "--configfile", "config/mine.yaml", *submitting)
    assert outcome.jobs == {"prepare_text": 1}
    assert [path.name for path in (deployed.folder / "results").iterdir()] == ["tiny"]
    assert list(deployed.folder.glob("resources/corpora/tiny-*/text/corpus.json"))


@pytest.mark.parametrize("study", ["paper", "iwslt14-50k-cpu"])
def test_as_deployed_the_profile_of_slurm_runs_the_study_that_it_is_given(study: str, deployed: Workspace) -> None:
    given = [] if study == "paper" else ["--configfile", f"config/{study}.yaml"]
    outcome = deployed.snakemake("--profile", "profiles/slurm", "--dry-run", *given)
    assert f"results/{study}/report.html" in outcome.output
    assert "results/quick" not in outcome.output
