"""`python -m preln` is `preln`."""

from preln.commands.cli import main

main()
