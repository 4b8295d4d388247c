"""The figures and tables of language models."""
