"""Parallel text: where it comes from, how it is checked, tokenised, split and cut into BPE pieces."""

from preln.errors import PrelnError


class CorpusError(PrelnError):
    """Text or settings cannot become a corpus; the message is written for the user who gave them."""
