"""`python -m preln` is `preln`."""

from preln.cli import main

main()
