"""Figures and tables of the theory, from its measurements."""
