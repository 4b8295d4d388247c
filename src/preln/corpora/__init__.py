"""Parallel text: where it comes from, how it is checked, tokenised, split and cut into BPE pieces."""


class CorpusError(ValueError):
    """Text or settings that cannot become a corpus; the message is written for the person who gave them."""
