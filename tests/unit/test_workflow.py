"""The rules ask the package for a job's records, its inputs, and its resources on a cluster."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preln.config import Execution, StudyError, write
from preln.errors import PrelnError
from preln.jobs.checking import Checked, check, check_file
from preln.jobs.workflow import (
    RESOURCES,
    cluster_resources,
    inputs_of,
    is_recorded,
    is_run_elsewhere,
    local_files,
    prepared_texts,
    require_kept_state,
    require_plain_path,
)
from preln.records.files import write_json, write_text
from tests.conftest import bert_content, every_kind
from tests.refused import refused

RESULTS = "results/tiny"


def asked(**sections: Any) -> Checked:
    """A study of every kind, checked: a translation run of Post-LN, a trace of Pre-LN, and the others."""
    return check(every_kind(**sections), "study.yaml")


def test_a_job_reads_the_stages_of_its_own_text_and_the_run_whose_weights_it_measures() -> None:
    study = asked()
    corpus, text, task = (path.removesuffix("/binary") for path in prepared_texts(study))
    read = {job.id: inputs_of(RESULTS, job) for job in study.every}
    assert read["post-adam-lr2e-3-wu10-s1"] == [f"{corpus}/text", f"{corpus}/binary"]
    assert read["pre-adam-lr2e-3-wu10-s1"] == [f"{corpus}/text", f"{corpus}/binary"]
    assert read["pre-lr2e-3-wu0-s1"] == [f"{text}/{stage}" for stage in ("text", "bpe", "binary")]
    assert read["pre-lr2e-3-wu0-s1-u6-pairs"] == [
        f"{RESULTS}/pretraining/pre-lr2e-3-wu0-s1/metrics.json",
        *(f"{text}/binary", f"{task}/pieces", f"{task}/binary"),
    ]
    assert read["exact-depths"] == []
    trained = f"{RESULTS}/translation/post-adam-lr2e-3-wu10-s1/metrics.json"
    assert [job for job, paths in read.items() if trained in paths] == ["post-1-after-warm-up"]


FILES = st.dictionaries(st.sampled_from(["a.txt", "b.txt", "more/a.txt"]), st.sampled_from(["one\n", "two\n"]))


@pytest.mark.slow
@settings(max_examples=25)
@given(FILES.filter(bool), FILES.filter(bool))
def test_an_english_text_is_its_content_wherever_it_lies(files: dict[str, str], other_files: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for place, texts in (("one", files), ("two", other_files)):
            for name, text in texts.items():
                write_text(Path(folder) / place / name, text)
        sources = [{"source": "files", "path": f"{folder}/{place}"} for place in ("one", "two")]
        studies = [asked(texts={"tiny": {"sources": [source], "vocabulary": 300}}) for source in sources]
        first, second = (study.jobs["pretraining"][0] for study in studies)
        assert (first.identity == second.identity) == (files == other_files)
        assert local_files(first.text) == [], "their content is in the folder's name"


@pytest.fixture
def own_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A corpus of two files, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("train.nl", "train.fr"):
        Path(name).write_text("".join(f"{name} {number}\n" for number in range(40)))
    train = {"source": "train.nl", "target": "train.fr"}
    return {"source": "files", "source_language": "nl", "target_language": "fr", "train": train, "held_out": 5}


def test_of_text_on_this_machine_the_content_decides(own_text: dict[str, Any]) -> None:
    run = asked(corpora={"tiny": own_text}).jobs["translation"][0]
    assert local_files(run.corpus) == [], "their content is in the folder's name"
    record = {"identity": run.identity, "corpus": {"parts": {"train": {"files": {"train.nl": {"sha256": "a"}}}}}}
    for file in run.files:
        write_json(Path(RESULTS, file), record if file.endswith("run.json") else {})
    assert is_recorded(RESULTS, run), "the text is not prepared"
    write_json(Path(inputs_of(RESULTS, run)[0]) / "corpus.json", {"sha256": {"train.nl": "another"}})
    assert not is_recorded(RESULTS, run), "the text is another"


def folder_of(corpus: dict[str, Any]) -> str:
    return str(asked(corpora={"tiny": corpus}).jobs["translation"][0].prepared[0].folder)


def test_a_moved_text_is_the_same_and_a_replaced_one_another(own_text: dict[str, Any], tmp_path: Path) -> None:
    before = folder_of(own_text)
    Path("elsewhere").mkdir()
    for name in ("train.nl", "train.fr"):
        Path(name).rename(f"elsewhere/{name}")
    moved = {"source": str(tmp_path / "elsewhere" / "train.nl"), "target": "elsewhere/train.fr"}
    assert folder_of({**own_text, "train": moved}) == before
    text = Path("elsewhere/train.nl").read_text()
    Path("elsewhere/train.nl").write_text(text.replace("7", "8"))
    os.utime("elsewhere/train.nl", (0, 0))
    assert folder_of({**own_text, "train": moved}) != before


def test_a_study_beside_its_results_knows_its_texts_without_the_files(own_text: dict[str, Any]) -> None:
    Path("novels.txt").write_text("One sentence.\n")
    novels = {"sources": [{"source": "files", "path": "novels.txt"}], "vocabulary": 300}
    study = asked(corpora={"tiny": own_text}, texts={"tiny": novels})
    before = [job.prepared[0].folder for job in study.every if job.prepared]
    write(study.study, Path("results/tiny/study.yaml"))
    files = ("novels.txt", "train.nl", "train.fr")
    for name in files:
        Path(name).unlink()
    with pytest.raises(StudyError, match=r"train.nl does not exist; .* preln run results/tiny"):
        asked(corpora={"tiny": own_text})
    kept = check_file(Path("results/tiny/study.yaml"))
    assert [job.prepared[0].folder for job in kept.every if job.prepared] == before
    for name in files[:2]:
        Path(name).write_text("Another sentence.\n")
        with refused(StudyError, f"{name} is not the text of these results", "rename the study"):
            check_file(Path("results/tiny/study.yaml"))
        Path(name).unlink()


@pytest.mark.parametrize(
    ("execution", "expected"),
    [
        ({"cpus": 3}, {"gpu": 0, "cpus_per_task": 3}),
        ({"gpus": 4, "cpus": 2}, {"gpu": 4, "cpus_per_task": 8}),
        (
            {"gpus": 8, "nodes": 2, "cpus": 2},
            {"gpu": 8, "nodes": 2, "mpi": "srun", "cpus_per_task": 2, "tasks_per_node": 4, "tasks_per_gpu": 0},
        ),
        ({"gpus": 2, "nodes": 2}, {"gpu": 2, "nodes": 2, "mpi": "srun", "tasks": 2, "tasks_per_gpu": 0}),
        ({"processes": 2, "nodes": 2, "cpus": 5}, {"nodes": 2, "mpi": "srun", "cpus_per_task": 5, "tasks": 2}),
    ],
    ids=["a CPU", "a node of GPUs", "two nodes of GPUs", "two nodes of a GPU each", "two nodes of processes"],
)
def test_a_cluster_gives_what_the_execution_says(execution: dict[str, Any], expected: dict[str, Any]) -> None:
    given = Execution(memory_mb=700, runtime_minutes=9, **execution)
    usual = {"runtime": 9, "mem_mb": 700, "gpu": 0, "nodes": 1, "cpus_per_task": 1}
    assert cluster_resources(given, 1) == {**dict.fromkeys(RESOURCES), **usual, **expected}


def test_a_job_that_is_tried_again_gets_twice_the_memory() -> None:
    tries = [cluster_resources(Execution(memory_mb=700), attempt)["mem_mb"] for attempt in (1, 2, 3)]
    assert tries == [700, 1400, 1400]


def test_a_checkpoint_is_fine_tuned_on_what_its_run_has_but_by_one_process() -> None:
    run = {"accumulate": 2, "execution": {"gpus": 2, "cpus": 3}}
    (execution,) = {job.execution for job in check(bert_content(run, checkpoints=[6]), "study.yaml").jobs["finetuning"]}
    assert (execution.gpus, execution.cpus, execution.cores) == (1, 3, 3)


OWN, OTHER = b"results/tiny/translation/a/run.json\n", b"old/results/tiny/translation/a/run.json\n"
LOCKS = st.lists(st.one_of(st.binary(max_size=60), st.sampled_from([OWN, OTHER, OTHER + OWN])), max_size=4)


@given(LOCKS)
def test_a_lock_says_whether_the_study_is_run_elsewhere_whatever_others_hold(contents: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        for number, content in enumerate(contents):
            (Path(name) / f"{number}.output.lock").write_bytes(content)
        (Path(name) / "a-folder.lock").mkdir()
        (Path(name) / "of-nothing.lock").symlink_to("nothing")
        holds = any(content in (OWN, OTHER + OWN) for content in contents)
        assert is_run_elsewhere(Path(name), "results/tiny") == holds


def test_a_lock_that_vanishes_while_it_is_looked_for_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "0.input.lock").write_text("results/tiny/study.yaml\n")
    monkeypatch.setattr(Path, "glob", lambda *_: iter([tmp_path / "gone.lock"]))
    assert not is_run_elsewhere(tmp_path, "results/tiny")


@pytest.mark.parametrize(
    ("storage", "shares", "option"),
    [("s3", True, "--default-storage-provider s3"), ("fs", False, "fs"), (None, False, "--shared-fs-usage")],
)
def test_storage_in_which_checkpoints_would_be_lost_is_refused(storage: str | None, shares: bool, option: str) -> None:
    require_kept_state(None, True)
    with refused(PrelnError, option, "checkpoints and weights", "run in a folder that all nodes share"):
        require_kept_state(storage, shares)


@pytest.mark.parametrize("character", " \t'\"\\$`&;|<>()*?[]#~!{}\n")
def test_a_path_that_a_shell_takes_apart_is_refused_by_its_name(character: str) -> None:
    path = f"/home/me/a{character}b/.venv/bin/python"
    with pytest.raises(PrelnError, match="a shell takes this one apart; allowed: letters, digits") as refused:
        require_plain_path(path)
    assert str(refused.value).startswith(path)


@pytest.mark.parametrize("folder", ["preln", "läuft", "project-1.2_x", "a@b+c=d:e,f%g"])
def test_a_path_that_a_shell_leaves_as_it_is_is_taken(folder: str) -> None:
    require_plain_path(f"/home/me/{folder}/.venv/bin/python")
