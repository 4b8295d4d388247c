"""When a training counts as diverged."""

LIMIT = 10.0
"""A loss above this multiple of a uniform guess's has exploded. A model that merely fails to learn stays near a uniform
guess, and trains to its end."""
