"""Trained models and records in the forms of other software."""
