"""Binarisation of BPE pieces, into files as `fairseq-preprocess` writes them.

fairseq's own program converts pieces one by one, through a tensor. Looking up a whole line takes a quarter of the time.
The dictionary, the splitting of lines and the file format are fairseq's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from fairseq.data import Dictionary, indexed_dataset
from fairseq.tokenizer import tokenize_line

from preln.records.files import replaced_folder, require_stage


def symbols(dictionary: Path) -> list[str]:
    """A dictionary's symbols in order of index: `<s>`, `<pad>`, `</s>`, `<unk>`, and the pieces."""
    return list(Dictionary.load(str(dictionary)).symbols)


def binarise(pieces: Path, source: str, target: str, out: Path) -> None:
    """Binarise {train,valid,test}.{source,target} of the folder `pieces` into the folder `out`, with one dictionary for
    both languages.

    Raises:
        Damaged: if the pieces are not as they were prepared.
    """
    require_stage(pieces)
    languages = (source, target)
    with replaced_folder(out) as folder:
        dictionary = _dictionary_of(pieces / f"train.{language}" for language in languages)
        for language in languages:
            dictionary.save(str(folder / f"dict.{language}.txt"))
            for part in ("train", "valid", "test"):
                _write(pieces / f"{part}.{language}", dictionary, folder / f"{part}.{source}-{target}.{language}")


def binarise_english(pieces: Path, out: Path) -> None:
    """Binarise train.txt and valid.txt of the folder `pieces`, as `binarise` does, with the dictionary of train."""
    require_stage(pieces)
    with replaced_folder(out) as folder:
        dictionary = _dictionary_of([pieces / "train.txt"])
        _write_one_side(pieces / "train.txt", pieces / "valid.txt", dictionary, folder)


def binarise_task(pieces: Path, dictionary: Path, out: Path) -> None:
    """Binarise {train,dev}.{input0,input1,label} of the folder `pieces`, as `binarise` does; the sentences have the
    dictionary of the text that the model was pre-trained on."""
    require_stage(pieces)
    require_stage(dictionary.parent, {dictionary.name}.__contains__)
    with replaced_folder(out) as folder:
        # A fixed order of labels, not by frequency.
        labels = folder / "labels.txt"
        labels.write_text("0 1\n1 1\n", encoding="utf-8")
        for side, symbols_of_side in {"input0": dictionary, "input1": dictionary, "label": labels}.items():
            (folder / side).mkdir()
            known = Dictionary.load(str(symbols_of_side))
            _write_one_side(pieces / f"train.{side}", pieces / f"dev.{side}", known, folder / side)


def _write_one_side(train: Path, valid: Path, dictionary: Dictionary, folder: Path) -> None:
    """Write two files of one language, and the dictionary beside them."""
    dictionary.save(str(folder / "dict.txt"))
    _write(train, dictionary, folder / "train")
    _write(valid, dictionary, folder / "valid")


def _dictionary_of(texts: Iterable[Path]) -> Dictionary:
    """The pieces of the texts by falling frequency, padded to a multiple of 8 as in fairseq."""
    counts = Counter(piece for text in texts for line in _lines(text) for piece in line)
    dictionary = Dictionary()
    for piece, count in counts.items():
        dictionary.add_symbol(piece, count)
    dictionary.finalize(padding_factor=8)
    return dictionary


def _write(text: Path, dictionary: Dictionary, prefix: Path) -> None:
    """Write the indices of a text's pieces, with `</s>` after each line, as <prefix>.bin and <prefix>.idx."""
    numbers, unknown, end = dictionary.indices, dictionary.unk(), dictionary.eos()
    kind = indexed_dataset.best_fitting_int_dtype(len(dictionary))
    sizes = []
    with Path(indexed_dataset.data_file_path(str(prefix))).open("wb") as data:
        for line in _lines(text):
            row = np.array([*(numbers.get(piece, unknown) for piece in line), end], kind)
            data.write(row.tobytes())
            sizes.append(row.size)
    index = indexed_dataset.index_file_path(str(prefix))
    with indexed_dataset.MMapIndexedDataset.Index.writer(index, kind) as writer:
        writer.write(sizes)


def _lines(text: Path) -> Iterator[list[str]]:
    """The pieces of each line. Only a line feed ends a line, as where the pieces are written."""
    with text.open(encoding="utf-8", newline="\n") as lines:
        yield from map(tokenize_line, lines)
