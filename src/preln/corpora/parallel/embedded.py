"""German-English sentences that come with the package; nothing is downloaded."""

from __future__ import annotations

from pathlib import Path

from preln.config import EmbeddedCorpus
from preln.corpora import data
from preln.corpora.published import Source
from preln.corpora.split import divide
from preln.corpora.text import Part, screen
from preln.corpora.tokenisation import LinePreparation, prepare_pairs


def prepare(corpus: EmbeddedCorpus, downloads: Path, processes: int) -> dict[str, Part]:
    """Train, valid and test."""
    raw = screen(Part(data.pairs()[: corpus.pairs]))
    preparations = [LinePreparation(language) for language in corpus.languages]
    pairs = prepare_pairs(raw.pairs, preparations, processes, "tokenise")
    return divide({"train": Part(pairs, raw.drops)}, corpus.held_out, corpus.seed)


SOURCE = Source(
    name="embedded",
    title="German-English sentences of a small grammar",
    origin="comes with this package (preln.corpora.data)",
    licence="MIT, as this package",
    prepare=prepare,
)
