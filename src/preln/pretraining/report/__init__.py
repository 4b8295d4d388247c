"""Figures and tables of pre-training and fine-tuning, from their records."""
