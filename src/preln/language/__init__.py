"""Decoder-only language models with torch alone: the model, its text, its training, its records."""
