"""The length and the cost of translation runs before they are trained."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from preln.commands import cost
from preln.commands.cost import Estimate
from preln.config import Iwslt14Corpus
from preln.corpora.parallel import iwslt14
from preln.corpora.subsets import SIZES
from preln.jobs.results import files_made
from preln.training import prepared_text
from preln.translation.runs import Run

IWSLT14_TOKENS = 1100 * 4000
"""Target tokens in an epoch of IWSLT14 German-English with 10,000 joint pieces: some 1,100 updates of 4,000, by the
notes of T-Fixup (Huang et al., 2020)."""


@dataclass(frozen=True)
class _Epoch:
    """An epoch of a corpus: its target tokens, and its pairs' lengths (as in `cost.batches`) if the text is
    prepared."""

    tokens: float
    lengths: Counter[tuple[int, int]] | None = None


def estimates(runs: Sequence[Run], folder: Path) -> list[Estimate]:
    """The estimate of each run; prepared corpora are counted, in the workflow's folder or up to two below it."""
    by_corpus = {run.settings.corpus: run for run in runs}
    epochs = {name: _epoch(run, folder) for name, run in by_corpus.items()}
    # Counting a large text takes seconds, and many runs have the same batches.
    batches = {
        (name, tokens): cost.batches(epoch.lengths, tokens)
        for name, tokens in {(run.settings.corpus, run.settings.batch_tokens) for run in runs}
        if (epoch := epochs[name]) and epoch.lengths
    }
    return [
        _estimate(run, epochs[run.settings.corpus], batches.get((run.settings.corpus, run.settings.batch_tokens)))
        for run in runs
    ]


def _estimate(run: Run, epoch: _Epoch | None, batches: int | None) -> Estimate:
    """A run's estimate; `batches` are those of an epoch, if they are counted."""
    settings = run.settings
    model = cost.translation(settings, run.corpus.vocabulary)
    if epoch is None:
        return Estimate(model, settings.precision, None, None)
    epoch_batches = epoch.tokens / model.tokens_per_batch if batches is None else batches
    updates = settings.epochs * math.ceil(epoch_batches / settings.accumulate)
    tokens = settings.epochs * epoch.tokens
    return Estimate(model, settings.precision, updates, tokens, batches is not None, settings.warmup)


def _epoch(run: Run, folder: Path) -> _Epoch | None:
    """The epoch of a run's corpus: counted if the text is prepared, and estimated for IWSLT14."""
    corpus, (text,) = run.corpus, run.prepared
    candidates = [record.parents[1] for record in files_made(f"{text.folder}/bpe/bpe.json", folder)]
    if prepared := next((path for path in candidates if (path / "text" / "corpus.json").exists()), None):
        languages = prepared_text.record(prepared)["languages"]
        sides = [_lengths(prepared / "bpe" / f"train.{languages[side]}") for side in ("source", "target")]
        lengths = Counter(zip(*sides, strict=True))
        return _Epoch(sum(target * pairs for (_, target), pairs in lengths.items()), lengths)
    if not isinstance(corpus, Iwslt14Corpus):
        return None
    chosen = SIZES[corpus.subset] if corpus.subset else iwslt14.PAIRS
    return _Epoch(IWSLT14_TOKENS * min(corpus.pairs or chosen, chosen) / iwslt14.PAIRS)


def _lengths(path: Path) -> Iterator[int]:
    """The length of each sentence in a prepared text, in pieces with the end of sentence."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield line.count(" ") + 2
