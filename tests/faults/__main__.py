"""`python -m tests.faults`: the whole campaign."""

import typer

from tests.faults.campaign import campaign

if __name__ == "__main__":
    typer.run(campaign)
