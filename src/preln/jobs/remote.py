"""The environment that submits a cluster's jobs."""

from __future__ import annotations

import shlex

from preln.errors import PrelnError


class RemoteRefused(PrelnError):
    """An environment from which Snakemake cannot start jobs on other machines."""


def require_plain_path(python: str) -> None:
    """See that a shell reads the path of Snakemake's Python as one word, for Snakemake writes it unquoted into the jobs
    that it submits.

    Raises:
        RemoteRefused: if a shell would take the path apart.
    """
    # Shells leave letters beyond ASCII as they are; shlex would quote them.
    plain = python.encode("ascii", "ignore").decode()
    if shlex.quote(plain) != plain:
        raise RemoteRefused(
            f"{python}: Snakemake does not quote the path of its Python in the jobs that it submits, and a shell takes "
            "this one apart; allowed: letters, digits and @%+=:,./_-; make the environment at such a path, for example "
            "by `make /home/me/venv/.ready VENV=/home/me/venv`, and activate it; the clone may stay where it is"
        )
