"""A record is current by what it says, and not by its age; in a job's folder, or in the file of its study."""

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preln.records import packed
from preln.records.files import Damaged, read_sealed, write_json, write_sealed, write_text
from preln.records.recording import NEWEST_FORM, Record, RecordError, read, write
from tests.made_up.translation import changed
from tests.refused import refused

IDENTITY = {"width": 16, "depths": (1, 2)}
FILES = ("run.json", "curve.csv", "metrics.json")
PARALLEL = {"parts": {part: {"files": {f"{part}.de": {"sha256": part}}} for part in ("train", "test")}}
ENGLISH = {"sha256": {"train.txt": "a", "valid.txt": "b"}}


def training(identity: dict[str, Any] = IDENTITY) -> Any:
    """A job with a curve and metrics."""
    return SimpleNamespace(folder="translation/a", records=FILES, identity=identity)


def recorded(results: Path, identity: dict[str, Any] = IDENTITY) -> Record:
    job = training(identity)
    write_text(results / job.folder / "curve.csv", f"epoch,loss\n1,{0.1 + 0.2}\n")
    record = {"id": "a", "identity": identity, "versions": {"torch": "2"}}
    write(results / job.folder, record, ["curve.csv"], {"final": 1e-9})
    return Record(job, results / job.folder)


@pytest.mark.parametrize("is_packed", [False, True], ids=["in its folder", "in the file of its study"])
@pytest.mark.parametrize("identity", [{}, {**IDENTITY, "width": 32}, {**IDENTITY, "heads": 2}], ids=str)
def test_a_record_is_current_of_its_identity_alone(identity: dict[str, Any], is_packed: bool, tmp_path: Path) -> None:
    record = recorded(tmp_path)
    if is_packed:
        packed.pack(tmp_path, {record.job.folder: record.job.records})
        shutil.rmtree(record.folder)
    assert record.is_current and not record.is_of_other_settings and record.damaged is None
    changed = Record(training(identity), record.folder)
    assert changed.is_of_other_settings and not changed.is_current


DAMAGES = [*((name, None) for name in FILES), *(("run.json", text) for text in ("", "[1]", '{"identity": '))]


@pytest.mark.parametrize(("name", "content"), DAMAGES)
def test_a_record_that_lacks_a_file_or_is_damaged_is_not(name: str, content: str | None, tmp_path: Path) -> None:
    record = recorded(tmp_path)
    path = record.folder / name
    path.unlink() if content is None else path.write_text(content)
    assert not record.is_current


def test_a_newer_record_in_the_file_of_the_study_comes_before_a_copy_of_the_older_one(tmp_path: Path) -> None:
    older = recorded(tmp_path / "older")
    packed.pack(tmp_path / "older", {older.job.folder: older.job.records})
    packed.lay_out(older.folder)
    identity = {**IDENTITY, "width": 32}
    newer = recorded(tmp_path / "newer", identity=identity)
    packed.pack(tmp_path / "newer", {newer.job.folder: newer.job.records})
    shutil.copy(tmp_path / "newer" / packed.FILE, tmp_path / "older")
    record = Record(newer.job, older.folder)
    assert record.is_current
    (tmp_path / "older" / packed.FILE).unlink()
    assert Record(older.job, older.folder).is_current
    shutil.copy(tmp_path / "newer" / packed.FILE, tmp_path / "older")
    packed.lay_out(older.folder)
    assert record.is_current and json.loads(record.path.read_text())["identity"]["width"] == 32
    write(older.folder, {"identity": IDENTITY}, ["curve.csv"])
    assert record.is_of_other_settings, "what was computed here comes before the file of the study"


def test_a_long_table_stands_beside_the_file_with_the_columns_that_each_job_has(tmp_path: Path) -> None:
    tables = {
        "first-updates/deep": "update,norm.1,norm.2,sharpness\n0,1.0,2.0,\n1,1.5,2.50,3e-07\n",
        "first-updates/flat": "update,norm.1,sharpness\n0,1.0,\n",
        "first-updates/none": "update,norm.1,sharpness\n",
    }
    for job, text in tables.items():
        write_text(tmp_path / job / "updates.csv", text)
        write(tmp_path / job, {"identity": IDENTITY}, ["updates.csv"])
    packed.pack(tmp_path, dict.fromkeys(tables, ("run.json", "updates.csv")))
    assert (tmp_path / "updates.csv").read_text().splitlines()[0] == "job,update,norm.1,norm.2,sharpness"
    shutil.rmtree(tmp_path / "first-updates")
    for job, text in tables.items():
        assert packed.read_bytes(tmp_path / job / "updates.csv").decode() == text
        packed.lay_out(tmp_path / job)
        assert Record(training(), tmp_path / job).damaged is None


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=30)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_files_laid_out_are_the_same(tmp_path_factory: pytest.TempPathFactory, contents: list[tuple[str, str]]) -> None:
    results = tmp_path_factory.mktemp("results")
    files = {f"translation/{n}": {"run.json": run, "curve.csv": curve} for n, (run, curve) in enumerate(contents)}
    for job, texts in files.items():
        for name, text in texts.items():
            write_text(results / job / name, text)
    packed.pack(results, files)
    shutil.rmtree(results / "translation")
    for job, texts in files.items():
        packed.lay_out(results / job)
        assert {name: (results / job / name).read_text("utf-8") for name in texts} == texts


@pytest.mark.parametrize("text", ["<<<<<<< HEAD\n", "{}\n", '{"blocks": []}\n{"job": "translation/a", "run.json"\n'])
def test_a_damaged_file_of_a_study_is_refused_by_name(text: str, tmp_path: Path) -> None:
    write_text(tmp_path / packed.FILE, text)
    with pytest.raises(Damaged, match=r"records.jsonl: damaged .*; restore it, for example by git checkout"):
        packed.exists(tmp_path / "translation" / "a" / "run.json")


@pytest.mark.parametrize(
    "table", ["<<<<<<< HEAD\n", "job,update,norm\n<<<<<<< HEAD\n", "job,update,norm\nfirst-updates/a,0\n"]
)
def test_a_damaged_long_table_is_refused_by_name(table: str, tmp_path: Path) -> None:
    tables = {"first-updates/a": "norm\n1\n", "first-updates/b": "update,norm\n0,1\n"}
    for job, text in tables.items():
        write_text(tmp_path / job / "updates.csv", text)
        write(tmp_path / job, {"identity": IDENTITY}, ["updates.csv"])
    packed.pack(tmp_path, dict.fromkeys(tables, ("run.json", "updates.csv")))
    shutil.rmtree(tmp_path / "first-updates")
    write_text(tmp_path / "updates.csv", table)
    with pytest.raises(Damaged, match=r"updates.csv: damaged .*; restore it, for example by git checkout"):
        packed.read_bytes(tmp_path / "first-updates" / "a" / "updates.csv")


@pytest.mark.parametrize(("key", "text"), [("corpus", PARALLEL), ("text", ENGLISH)])
def test_a_training_is_of_the_text_whose_files_it_had(key: str, text: dict[str, Any], tmp_path: Path) -> None:
    record = Record(training(), tmp_path)
    prepared, source = tmp_path / "text.json", tmp_path / "source.txt"
    source.write_text("as it is")
    write_json(record.path, {key: text})
    assert not record.is_of_text(prepared, [source]), "it is not prepared"

    write_json(prepared, text)
    os.utime(source, (0, 0))
    assert record.is_of_text(prepared, [source])

    os.utime(source)
    os.utime(prepared, (0, 0))
    assert not record.is_of_text(prepared, [source]), "it is to be prepared again"

    write_json(prepared, {"sha256": {"train.txt": "another"}})
    os.utime(source, (0, 0))
    assert not record.is_of_text(prepared, [source]), "it is another"


def test_a_record_of_a_newer_form_is_refused(tmp_path: Path) -> None:
    record = recorded(tmp_path)
    changed(record.path, record_version=NEWEST_FORM + 1)
    with refused(RecordError, str(record.path), "a newer preln wrote it", "update preln"):
        read(record.path)


def test_a_record_from_before_forms_had_numbers_is_read(tmp_path: Path) -> None:
    record = recorded(tmp_path)
    content = read_sealed(record.path)
    del content["record_version"]
    write_sealed(record.path, content)
    assert read(record.path)["identity"] == {"width": 16, "depths": [1, 2]}
