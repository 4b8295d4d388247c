"""Write the generated blocks and values of README.md and docs/ of the clone that is the current folder."""

from argparse import ArgumentParser
from pathlib import Path

from preln.report.pages.fill import pages, update

if __name__ == "__main__":
    ArgumentParser(prog="python -m preln.report.pages", description=__doc__).parse_args()
    for page in pages(Path()):
        update(page, Path())
