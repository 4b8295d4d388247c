"""Tasks of pairs: read as their official files have them, and refused where these are not right."""

import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from preln.config import EmbeddedTask, MrpcTask, RteTask
from preln.corpora import CorpusError
from preln.corpora.tasks import MRPC_COLUMNS, RTE_COLUMNS, mrpc, prepare_task, read, rte, shortened
from tests.refused import refused

GLUE = os.environ.get("PRELN_GLUE")

PAIRS = [
    ("1", "10", "11", "The first .", "First of all ."),
    ("0", "20", "21", "The second .", "Something else ."),
    ("0", "30", "31", "The third .", "Another thing ."),
]


def write_mrpc(folder: Path, rows: Sequence[tuple[str, ...]] = PAIRS, dev: str = "20\t21\n") -> Path:
    lines = ["\t".join(row) for row in (MRPC_COLUMNS, *rows)]
    (folder / "msr_paraphrase_train.txt").write_text("\ufeff" + "\n".join(lines) + "\n", encoding="utf-8")
    (folder / "mrpc_dev_ids.tsv").write_text(dev, encoding="utf-8")
    return folder


def write_rte(folder: Path, *rows: str) -> Path:
    (folder / "train.tsv").write_text("\n".join(["\t".join(RTE_COLUMNS), *rows]) + "\n", encoding="utf-8")
    return folder


def test_mrpcs_dev_is_the_pairs_of_its_ids(tmp_path: Path) -> None:
    parts = read(MrpcTask(source="mrpc", folder=write_mrpc(tmp_path)), tmp_path)
    assert [pair.first for pair in parts["dev"]] == ["The second ."]
    train = [(pair.second, pair.holds) for pair in parts["train"]]
    assert train == [("First of all .", True), ("Another thing .", False)]
    # GLUE's name of the ids.
    (tmp_path / "mrpc_dev_ids.tsv").rename(tmp_path / "dev_ids.tsv")
    assert read(MrpcTask(source="mrpc", folder=tmp_path), tmp_path) == parts


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b"1\t20\t21\tOnly one .", ("line 2: 4 fields", "should be 5")),
        (b"2\t10\t11\tA .\tB .", ("line 2: ", "'2'", "allowed: 0, 1")),
        (b"1\t10\t11\t \tB .", ("line 2: ", "empty")),
    ],
)
def test_a_wrong_line_is_refused_with_its_file_and_number(line: bytes, parts: tuple[str, ...], tmp_path: Path) -> None:
    write_mrpc(tmp_path, [])
    with open(tmp_path / "msr_paraphrase_train.txt", "ab") as file:
        file.write(line + b"\n")
    with refused(CorpusError, "msr_paraphrase_train.txt, ", *parts):
        mrpc(tmp_path / "msr_paraphrase_train.txt", tmp_path / "mrpc_dev_ids.tsv")


def test_another_header_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("a\tb\n")
    with refused(CorpusError, "train.tsv, line 1: ", "['a', 'b']", "should be ['index'"):
        rte(tmp_path, "train")


def test_an_id_of_dev_without_its_pair_is_refused(tmp_path: Path) -> None:
    write_mrpc(tmp_path, dev="20\t21\n98\t99\n")
    with refused(CorpusError, "mrpc_dev_ids.tsv: 1 ", "98 99"):
        mrpc(tmp_path / "msr_paraphrase_train.txt", tmp_path / "mrpc_dev_ids.tsv")


def test_a_task_without_pairs_is_refused(tmp_path: Path) -> None:
    with refused(CorpusError, "pairs", "train"):
        rte(write_rte(tmp_path), "train")


def test_rte_is_read_from_its_archive_and_from_a_folder(tmp_path: Path) -> None:
    row = "0\tIt rains.\tIt is wet.\tentailment"
    write_rte(tmp_path, row, "1\tIt rains.\tIt is dry.\tnot_entailment")
    from_folder = rte(tmp_path, "train")
    assert [pair.holds for pair in from_folder] == [True, False]
    (tmp_path / "zipped").mkdir()
    with zipfile.ZipFile(tmp_path / "zipped" / "RTE.zip", "w") as archive:
        archive.write(tmp_path / "train.tsv", "RTE/train.tsv")
    assert rte(tmp_path / "zipped", "train") == from_folder
    with refused(CorpusError, "RTE.zip: ", "RTE/dev.tsv"):
        rte(tmp_path / "zipped", "dev")


@pytest.mark.parametrize(
    ("where", "by", "parts"), [("flags", b"\x01\x00", ("encrypted", "unpack")), ("content", b"\xff\xff", ("Error -3",))]
)
def test_unreadable_archives_are_refused_by_name(where: str, by: bytes, parts: tuple[str, ...], tmp_path: Path) -> None:
    write_rte(tmp_path, *(f"{number}\tIt rains.\tIt is wet.\tentailment" for number in range(100)))
    archive = tmp_path / "RTE.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        written.write(tmp_path / "train.tsv", "RTE/train.tsv")
    content = bytearray(archive.read_bytes())
    start = content.index(b"PK\x01\x02") + 8 if where == "flags" else content.index(b"train.tsv") + len("train.tsv")
    content[start : start + 2] = by
    archive.write_bytes(content)
    with refused(CorpusError, "RTE.zip: ", "RTE/train.tsv", *parts):
        rte(tmp_path, "train")


@pytest.mark.parametrize("relation", ["paraphrase", "entailment"])
def test_the_embedded_tasks_parts_share_no_pair(relation: str, tmp_path: Path) -> None:
    task = EmbeddedTask.model_validate({"source": "embedded", "relation": relation, "pairs": 400, "dev": 100})
    parts = read(task, tmp_path)
    assert {part: len(pairs) for part, pairs in parts.items()} == {"train": 400, "dev": 100}
    assert not set(parts["train"]) & set(parts["dev"])
    assert 0.4 < sum(pair.holds for pair in parts["train"]) / 400 < 0.6


@given(st.integers(0, 60), st.integers(0, 60), st.integers(2, 50))
def test_of_a_long_pair_the_longer_sentence_loses_its_end(first: int, second: int, most: int) -> None:
    first_pieces, second_pieces = [f"a{i}" for i in range(first)], [f"b{i}" for i in range(second)]
    kept = shortened(first_pieces, second_pieces, most)
    assert first_pieces[: len(kept[0])] == kept[0]
    assert second_pieces[: len(kept[1])] == kept[1]
    assert len(kept[0]) + len(kept[1]) == min(first + second, most)
    # A side that has lost pieces is as long as the other, to a piece, or longer.
    if len(kept[0]) < first:
        assert len(kept[0]) >= len(kept[1]) - 1
    if len(kept[1]) < second:
        assert len(kept[1]) >= len(kept[0]) - 1


def lengths(folder: Path) -> list[int]:
    """The pieces of each pair of dev."""
    first, second = ((folder / f"dev.{side}").read_text().splitlines() for side in ("input0", "input1"))
    return [len(left.split()) + len(right.split()) for left, right in zip(first, second, strict=True)]


@pytest.mark.slow
def test_a_prepared_task_is_the_pairs_as_the_model_reads_them(prepared_text: Path, prepared_task: Path) -> None:
    pieces = prepared_task / "pieces"
    lines = {name: (pieces / name).read_text().splitlines() for name in ("dev.input0", "dev.input1", "dev.label")}
    record = json.loads((pieces / "task.json").read_text())
    assert {len(side) for side in lines.values()} == {record["parts"]["dev"]["pairs"]} == {20}
    assert sum(map(int, lines["dev.label"])) == record["parts"]["dev"]["positive"]
    processor = sentencepiece.SentencePieceProcessor(model_file=str(prepared_text / "bpe" / "bpe.model"))
    pair = read(EmbeddedTask(source="embedded", pairs=60, dev=20), pieces)["dev"][0]
    told = processor.decode(lines["dev.input0"][0].split())
    assert pair.first.lower().replace(".", " .").startswith(told.split(",")[0][:10])
    assert max(lengths(pieces)) + 4 <= record["longest"]


@pytest.mark.slow
def test_what_is_shortened_is_counted(prepared_text: Path, tmp_path: Path) -> None:
    task = EmbeddedTask(source="embedded", pairs=60, dev=20)
    prepare_task(task, tmp_path, prepared_text / "bpe" / "bpe.model", 12, tmp_path / "pieces")
    record = json.loads((tmp_path / "pieces" / "task.json").read_text())
    assert record["parts"]["dev"]["shortened"] == 20
    assert set(lengths(tmp_path / "pieces")) == {8}


@pytest.mark.skipif(not GLUE, reason="the official files are not at hand")
def test_the_tasks_have_their_official_pairs() -> None:
    assert GLUE is not None
    folder = Path(GLUE) / "MRPC"
    parts = read(MrpcTask(source="mrpc", folder=folder), folder)
    assert {part: len(pairs) for part, pairs in parts.items()} == {"train": 3668, "dev": 408}
    rows = (folder / "dev.tsv").read_text(encoding="utf-8-sig").splitlines()[1:]
    official = {(first, second, label == "1") for label, _, _, first, second in (row.split("\t") for row in rows)}
    assert {tuple(pair) for pair in parts["dev"]} == official
    rte = read(RteTask(source="rte", folder=Path(GLUE) / "RTE"), Path())
    assert {part: len(pairs) for part, pairs in rte.items()} == {"train": 2490, "dev": 277}
