"""Binarised text is what `fairseq-preprocess` makes of the same pieces, byte for byte."""

from pathlib import Path

import pytest
from fairseq import options
from fairseq_cli import preprocess
from hypothesis import given, settings
from hypothesis import strategies as st

from preln.fairseq_plugin.binarise import binarise, binarise_english, binarise_task
from preln.records.files import replaced_folder

PIECES = ["▁a", "▁b", "c", "▁ä", "</s>", "<unk>", "a\u2028b", "c\u00a0", "\u3000", "\x1c", "\t", " ", "  "]
"""Frequent and rare ones, fairseq's own symbols, and what Python or Unicode takes for the end of a line or of a word.
No text has a carriage return when it is prepared."""

TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join), min_size=1, max_size=6)


def write(folder: Path, **texts: list[str]) -> Path:
    """A folder of pieces as a stage leaves it; `_` stands for the dot of a file's name."""
    with replaced_folder(folder) as made:
        for name, lines in texts.items():
            text = "".join(f"{line}\n" for line in lines)
            (made / name.replace("_", ".")).write_text(text, encoding="utf-8", newline="\n")
    return folder


def fairseqs(out: Path, *arguments: str) -> dict[str, bytes]:
    """The files that fairseq's own program writes."""
    preprocess.main(options.get_preprocessing_parser().parse_args(["--destdir", str(out), *arguments]))
    return contents(out)


def contents(folder: Path) -> dict[str, bytes]:
    """The content of a folder, but for our manifest and for the log of fairseq's program."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and path.suffix in (".bin", ".idx", ".txt")
    }


@settings(max_examples=20)
@given(texts=st.tuples(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS))
def test_parallel_text_is_fairseqs(texts: tuple[list[str], ...], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("parallel")
    names = [f"{part}_{language}" for part in ("train", "valid", "test") for language in ("de", "en")]
    pieces = write(folder / "pieces", **dict(zip(names, texts, strict=True)))
    binarise(pieces, "de", "en", folder / "ours")
    parts = [f"--{part}pref={pieces / part}" for part in ("train", "valid", "test")]
    assert contents(folder / "ours") == fairseqs(
        folder / "fairseqs", "--source-lang=de", "--target-lang=en", "--joined-dictionary", *parts
    )


@settings(max_examples=20)
@given(train=TEXTS, valid=TEXTS)
def test_english_text_is_fairseqs(train: list[str], valid: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("english")
    pieces = write(folder / "pieces", train_txt=train, valid_txt=valid)
    binarise_english(pieces, folder / "ours")
    assert contents(folder / "ours") == fairseqs(
        folder / "fairseqs",
        "--only-source",
        f"--trainpref={pieces / 'train.txt'}",
        f"--validpref={pieces / 'valid.txt'}",
    )


def test_a_task_is_fairseqs_with_the_dictionary_of_its_text(tmp_path: Path) -> None:
    text = write(tmp_path / "text", train_txt=["▁a ▁b ▁b c", "▁ä"], valid_txt=["▁a"])
    binarise_english(text, tmp_path / "binary")
    sides = {"input0": (["▁a c", "▁new"], ["▁b"]), "input1": (["", "▁ä ▁a"], ["c c"]), "label": (["1", "0"], ["1"])}
    files = {f"{part}_{side}": texts[at] for side, texts in sides.items() for at, part in enumerate(("train", "dev"))}
    task = write(tmp_path / "task", **files)
    binarise_task(task, tmp_path / "binary" / "dict.txt", tmp_path / "ours")
    for side in sides:
        dictionary = tmp_path / "ours" / "labels.txt" if side == "label" else tmp_path / "binary" / "dict.txt"
        stock = fairseqs(
            tmp_path / side,
            "--only-source",
            f"--trainpref={task / f'train.{side}'}",
            f"--validpref={task / f'dev.{side}'}",
            f"--srcdict={dictionary}",
        )
        assert contents(tmp_path / "ours" / side) == stock, side
