"""The generated blocks of README.md and docs/: `python -m preln.report.pages` writes them."""
