"""Writes the blocks and values of every page of the repository that is the current folder."""

from pathlib import Path

from preln.report.pages.fill import pages, update

if __name__ == "__main__":
    for page in pages(Path()):
        update(page, Path())
