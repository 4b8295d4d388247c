"""Translation of running text by a study's trained models."""

from __future__ import annotations

import logging
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from preln.corpora import bpe
from preln.corpora.languages import language_of
from preln.corpora.registry import SOURCES
from preln.corpora.text import MOST_PIECES
from preln.corpora.typography import as_written
from preln.errors import PrelnError
from preln.training import prepared_text
from preln.translation.runs import Run
from preln.translation.training import trained

AT_ONCE = 64
"""Sentences from a file that are translated together."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Translation:
    """A translation as running text, and its log-probability over length^penalty, in nats."""

    text: str
    score: float


class TrainedRun:
    """A run's model from its newest checkpoint, with the study's preparation of text."""

    def __init__(self, run: Run, results: Path, prepared: Path) -> None:
        """Load a run from the folder of its study's results, with the folder of the prepared corpus.

        Raises:
            PrelnError: if the run has no weights on this machine, or the prepared corpus is missing or a different one.
        """
        # Importing fairseq takes seconds, which the other commands should not wait for.
        from preln.fairseq_plugin.translator import Translator

        self.run = run
        model = trained(run, prepared, results / run.folder)
        options = model.training.options(model.training.state.folder)
        self._translator = Translator(options, model.training.precision, model.weights)
        languages = prepared_text.record(prepared)["languages"]
        self.languages = (languages["source"], languages["target"])
        self._preparation = SOURCES[run.corpus.source].line(run.corpus, self.languages[0])
        self._bpe = (prepared / "bpe" / "bpe.model").read_bytes()

    def translate(
        self, sentences: Sequence[str], beam: int | None = None, alternatives: int = 1, first: int = 1
    ) -> list[list[Translation]]:
        """Give `alternatives` translations of each sentence of running text, best first; a blank line stays blank. The
        beam, by default the run's, is at least as wide, and messages count the sentences from `first`.

        Raises:
            PrelnError: if a sentence is too long, or the model's scores are not finite.
        """
        settings = self.run.settings
        translations = [[Translation("", 0.0)] for _ in sentences]
        # Every text that a model is trained on has composed accents, and some programs write others.
        prepared = (self._preparation(unicodedata.normalize("NFC", sentence)) for sentence in sentences)
        lines = {number: line for number, line in enumerate(prepared) if line}
        pieces = list(bpe.encode(self._bpe, lines.values(), 1))
        for number, sentence_pieces in zip(lines, pieces, strict=True):
            if len(sentence_pieces) > MOST_PIECES:
                raise PrelnError(
                    f"sentence {first + number}: {len(sentence_pieces):,} BPE pieces, and a model reads at most "
                    f"{MOST_PIECES:,}; divide it"
                )
            if unknown := self._translator.unknown(sentence_pieces):
                logger.warning(
                    "%s, sentence %d: the model has never seen %s", self.run.id, first + number, ", ".join(unknown)
                )
        width = max(beam or settings.beam, alternatives)
        try:
            outputs = self._translator.translate(pieces, width, settings.length_penalty)
        except FloatingPointError as error:
            raise PrelnError(f"{self.run.id}: {error}; its training broke the weights") from None
        for number, hypotheses in zip(lines, outputs, strict=True):
            best = hypotheses[:alternatives]
            translations[number] = [Translation(as_written(text, self.languages[1]), score) for score, text in best]
        return translations

    @property
    def reads_tokens(self) -> bool:
        """The study's text came as tokens that Moses would make."""
        return not self._preparation.tokenise and language_of(self.languages[0]).moses is not None


def show(models: Sequence[TrainedRun], lines: TextIO, beam: int | None, alternatives: int, scores: bool) -> None:
    """Print translations: with one model, one alternative and no scores, a line for each sentence; otherwise the
    sentence, then a line for each translation with its run's id.

    Raises:
        PrelnError: if the models have different languages, a line is not UTF-8, or a sentence cannot be translated
            (at a terminal, the error is printed and the next sentence is read).
    """
    if len({model.languages for model in models}) > 1:
        raise PrelnError("the runs translate between different languages; name runs of one pair")
    for model in models:
        if model.reads_tokens:
            logger.warning("%s: its text has `tokenise: false`; sentences are read without tokenising", model.run.id)
    is_terminal = lines.isatty()
    if is_terminal:
        print(f"Sentences ({models[0].languages[0]}), one a line; end with Ctrl-D.", file=sys.stderr)
    plain = len(models) == 1 and alternatives == 1 and not scores
    width = max(len(model.run.id) for model in models)
    size = 1 if is_terminal else AT_ONCE
    for batch, sentences in enumerate(_batched(_read(lines), size)):
        try:
            translations = [model.translate(sentences, beam, alternatives, 1 + batch * size) for model in models]
        except PrelnError as error:
            if not is_terminal:
                raise
            print(error, file=sys.stderr)
            continue
        for number, sentence in enumerate(sentences):
            if plain:
                print(translations[0][number][0].text)
                continue
            print(sentence)
            for model, outputs in zip(models, translations, strict=True):
                for translation in outputs[number]:
                    score = f"{translation.score:8.3f}  " if scores else ""
                    print(f"  {model.run.id:<{width}}  {score}{translation.text}")
            print()
        sys.stdout.flush()


def _read(lines: TextIO) -> Iterator[str]:
    try:
        for line in lines:
            yield line.removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise PrelnError(f"{lines.name}: not UTF-8 ({error.reason}); convert it, for example with iconv") from None


def _batched(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    iterator = iter(lines)
    while batch := list(islice(iterator, size)):
        yield batch
