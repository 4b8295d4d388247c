"""English documents for pre-training: read from a source, split into sentences, tokenised, and divided by document."""
