"""Figures and tables of the translation runs, from their records."""
