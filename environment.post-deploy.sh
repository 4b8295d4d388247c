#!/usr/bin/env bash
# Snakemake runs this in the environment that it has made of environment.yml, from the repository's root.
set -euo pipefail
pip install --no-deps --no-build-isolation --requirement locks/requirements-fairseq.txt
pip install --no-deps --no-build-isolation --editable .
