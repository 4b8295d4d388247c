"""Sentences of running text, translated by the trained models of a study."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from preln import prepared_text
from preln.corpora import bpe
from preln.corpora.prepare import LONGEST
from preln.corpora.registry import SOURCES
from preln.corpora.tokenisation import detokenise
from preln.errors import PrelnError
from preln.runs import Run
from preln.translation.training import training_of
from preln.workflow import corpus_folder

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Translation:
    """A translation as running text, and its log-probability over length^penalty, in nats."""

    text: str
    score: float


class TrainedRun:
    """The model of a run as its newest checkpoint has it, with the study's preparation of text."""

    def __init__(self, run: Run, results: Path, prepared: Path | None = None) -> None:
        """
        Args:
            run: the run.
            results: the folder of the study's results.
            prepared: the folder of the prepared corpus; by default where the workflow prepares it.

        Raises:
            PrelnError: if the run has no weights on this machine, or the prepared corpus is not there.
        """
        # Importing fairseq takes seconds, which the other commands should not wait for.
        from preln.fairseq_plugin.checkpoints import trained_weights
        from preln.fairseq_plugin.translator import Translator

        self.run = run
        prepared = prepared or Path(corpus_folder(run))
        if not (prepared / "binary").is_dir():
            raise PrelnError(
                f"{prepared}: is not there; run this in the folder in which the study was trained, or name the "
                "prepared corpus with --prepared"
            )
        training = training_of(run, prepared, results / run.folder)
        state = training.state.folder
        if not state.is_dir():
            raise PrelnError(
                f"{results / run.folder}: has no weights on this machine, for a repository has records alone; train "
                "the run first"
            )
        moment, weights = trained_weights(state)
        logger.info("%s: as after epoch %d", run.id, moment.whole_epochs)
        self._translator = Translator(training.options(state), training.precision, weights)
        languages = prepared_text.record(prepared)["languages"]
        self.languages = (languages["source"], languages["target"])
        self._line = SOURCES[run.corpus.source].line(run.corpus, languages["source"])
        self._bpe = (prepared / "bpe" / "bpe.model").read_bytes()

    def translate(
        self, sentences: Sequence[str], beam: int | None = None, alternatives: int = 1
    ) -> list[list[Translation]]:
        """The translations of each sentence, the best first; a blank one is translated by a blank one.

        Args:
            sentences: running text.
            beam: hypotheses kept; by default the run's.
            alternatives: how many translations of each are wanted; the beam is at least as wide.

        Raises:
            PrelnError: if a sentence is too long.
        """
        settings = self.run.settings
        found = [[Translation("", 0.0)] for _ in sentences]
        lines = {number: line for number, sentence in enumerate(sentences) if (line := self._line(sentence))}
        pieces = list(bpe.encode(self._bpe, lines.values(), 1))
        for number, its in zip(lines, pieces, strict=True):
            if len(its) > LONGEST:
                raise PrelnError(
                    f"sentence {number + 1}: {len(its):,} BPE pieces, and a model reads at most {LONGEST:,}; divide it"
                )
            if unknown := self._translator.unknown(its):
                logger.warning("sentence %d: the model has never seen %s", number + 1, ", ".join(unknown))
        width = max(beam or settings.beam, alternatives)
        said = self._translator.translate(pieces, width, settings.length_penalty)
        for number, hypotheses in zip(lines, said, strict=True):
            found[number] = [
                Translation(detokenise(text, self.languages[1]), score) for score, text in hypotheses[:alternatives]
            ]
        return found


AT_ONCE = 64
"""Sentences of a file that are translated before the first of them is shown."""


def show(models: Sequence[TrainedRun], lines: TextIO, beam: int | None, alternatives: int, scores: bool) -> None:
    """Print the translations of sentences as they come: of one model and one alternative a line each, as a file of
    translations has them; otherwise below each sentence, with the ids of the runs."""
    if lines.isatty():
        print(f"Sentences ({models[0].languages[0]}), one a line; end with Ctrl-D.", file=sys.stderr)
    plain = len(models) == 1 and alternatives == 1 and not scores
    width = max(len(model.run.id) for model in models)
    for sentences in _in_parts((line.rstrip("\n") for line in lines), 1 if lines.isatty() else AT_ONCE):
        found = [model.translate(sentences, beam, alternatives) for model in models]
        for number, sentence in enumerate(sentences):
            if plain:
                print(found[0][number][0].text)
                continue
            print(sentence)
            for model, of_model in zip(models, found, strict=True):
                for one in of_model[number]:
                    score = f"{one.score:8.3f}  " if scores else ""
                    print(f"  {model.run.id:<{width}}  {score}{one.text}")
            print()
        sys.stdout.flush()


def _in_parts(lines: Iterable[str], size: int) -> Iterator[list[str]]:
    """The lines, so many at a time."""
    left = iter(lines)
    while part := list(islice(left, size)):
        yield part
