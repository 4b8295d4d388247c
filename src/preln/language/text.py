"""The text of a language model as tokens in memory-mapped files, made from a prepared English text as a stream."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from preln.config.language import LanguageSettings, Tokens
from preln.corpora import CorpusError
from preln.libraries import np
from preln.records.files import read_sealed, replaced_folder, require_stage, write_sealed
from preln.translation.unigram_baseline import unigram_baseline

if TYPE_CHECKING:
    import numpy.typing as npt
    import torch

PARTS = ("train", "valid")
BYTES = 256
DTYPE = "<u2"
"""The type of a token: no vocabulary of a study has more than 65,536 entries."""
BLOCK = 1 << 20
"""Tokens in memory at a time."""
RECORD = "tokens.json"


@dataclass(frozen=True)
class TokenText:
    """A text as tokens, one after the other, with the size of the vocabulary, and the count of each token in train, of
    shape (vocabulary,)."""

    train: npt.NDArray[np.uint16]
    valid: npt.NDArray[np.uint16]
    vocabulary: int
    counts: npt.NDArray[np.int64]

    @classmethod
    def read(cls, folder: Path) -> TokenText:
        """The text in a folder that `prepare_tokens` wrote; its files are mapped, not read.

        Raises:
            Damaged: if one is not as it was written.
        """
        require_stage(folder)
        train, valid = (np.memmap(folder / f"{part}.bin", DTYPE, mode="r") for part in PARTS)
        return cls(train, valid, read_sealed(folder / RECORD)["vocabulary"], np.load(folder / "counts.npy"))

    def batch(self, starts: list[int], length: int, part: str = "train") -> tuple[torch.Tensor, torch.Tensor]:
        """The `length` tokens from each of `starts`, and the tokens that follow each of them, of shape (starts, length)
        both."""
        import torch

        tokens = getattr(self, part)
        rows = np.stack([tokens[start : start + length + 1] for start in starts]).astype(np.int64)
        windows = torch.from_numpy(rows)
        return windows[:, :-1], windows[:, 1:]

    def require(self, settings: LanguageSettings) -> None:
        """Check that both parts have a sequence of a run's length.

        Raises:
            CorpusError: if one has not.
        """
        for part in PARTS:
            if len(getattr(self, part)) <= settings.sequence_length:
                raise CorpusError(
                    f"sequence_length: {settings.sequence_length} needs more than {len(getattr(self, part)):,} tokens, "
                    f"all that {part} has; give more text, or a smaller length"
                )

    def valid_starts(self, settings: LanguageSettings) -> list[int]:
        """Where the sequences begin that a validation reads: one after the other, up to the run's `valid_tokens`."""
        length = settings.sequence_length
        last = min(len(self.valid) - 1, max(settings.valid_tokens, length))
        return list(range(0, last - length + 1, length))

    def unigram_baseline(self, settings: LanguageSettings) -> float:
        """The loss, in bits a token, of predicting each token that a validation predicts by its frequency in train."""
        predicted = len(self.valid_starts(settings)) * settings.sequence_length
        valid = np.bincount(self.valid[1 : predicted + 1], minlength=self.vocabulary)
        train, of_valid = (
            {str(token): int(counts[token]) for token in counts.nonzero()[0]} for counts in (self.counts, valid)
        )
        return unigram_baseline(train, of_valid, self.vocabulary, label_smoothing=0.0)


def prepare_tokens(prepared: Path, tokens: Tokens, out: Path) -> None:
    """Write a prepared text's tokens to `out`/train.bin and valid.bin, the counts of those of train to counts.npy, and
    the size of the vocabulary to tokens.json. At any time at most `BLOCK` tokens are in memory. Tokens are the bytes of
    the text, or its pieces with a mark at the end of each line, which is the last entry of the vocabulary.

    Raises:
        Damaged: if the prepared text is not as it was prepared.
    """
    stage = prepared / ("bpe" if tokens == "bpe" else "text")
    require_stage(stage)
    if tokens == "bpe":
        with (stage / "bpe.vocab").open(encoding="utf-8") as lines:
            pieces = {line.split("\t")[0]: number for number, line in enumerate(lines)}
        vocabulary = len(pieces) + 1
    else:
        pieces, vocabulary = {}, BYTES
    counts = np.zeros(vocabulary, np.int64)
    with replaced_folder(out) as folder:
        for part in PARTS:
            text = stage / f"{part}.txt"
            with (folder / f"{part}.bin").open("wb") as file:
                for block in _pieces(text, pieces) if pieces else _bytes(text):
                    file.write(block.astype(DTYPE).tobytes())
                    if part == "train":
                        counts += np.bincount(block, minlength=vocabulary)
        np.save(folder / "counts.npy", counts)
        write_sealed(folder / RECORD, {"tokens": tokens, "vocabulary": vocabulary})


def _pieces(text: Path, pieces: dict[str, int]) -> Iterator[npt.NDArray[np.int64]]:
    """The pieces of a text with an end of each line, in blocks."""
    end, unknown = len(pieces), pieces["<unk>"]
    with text.open(encoding="utf-8") as lines:
        tokens = (token for line in lines for token in (*(pieces.get(piece, unknown) for piece in line.split()), end))
        while block := list(itertools.islice(tokens, BLOCK)):
            yield np.array(block, np.int64)


def _bytes(text: Path) -> Iterator[npt.NDArray[np.int64]]:
    """The bytes of a text, in blocks."""
    with text.open("rb") as file:
        while block := file.read(BLOCK):
            yield np.frombuffer(block, np.uint8).astype(np.int64)
