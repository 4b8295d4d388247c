#!/usr/bin/env bash
# Install all that locks/ pins, torch, fairseq and this package, and say how far it is.
# Usage: install.sh PYTHON-OF-THE-ENVIRONMENT, in the folder of the repository.
set -euo pipefail
python=$1
here=$(dirname "$0")

step() { echo "preln: installing, step $1 of 4: $2"; }

# pip builds three of them itself, with the setuptools of the day.
step 1 "the libraries, each file checked by its hash"
"$python" -m pip install --no-deps --require-hashes --requirement locks/requirements.txt |
    bash "$here/count-packages.sh" "$(grep -c '==' locks/requirements.txt)"
# Its files differ by kind of machine: a plain one, one with CUDA, or one of an index for processors alone. So it has no hash
# here, and whatever it brings beyond the libraries above (CUDA's) is chosen by itself.
step 2 "torch (0.2 GB for processors alone; 3 GB with CUDA, which takes minutes)"
"$python" -m pip install --constraint requirements.txt "$(grep '^torch==' requirements.txt)"
# It is built against the installed torch. It is installed without its dependencies, for its metadata asks for torchaudio, which
# nothing here uses.
step 3 "fairseq, which is compiled (a minute or two)"
"$python" -m pip install --quiet --no-deps --no-build-isolation --require-hashes --requirement locks/requirements-fairseq.txt
step 4 "preln, whose loops are compiled (half a minute)"
"$python" -m pip install --quiet --no-deps --no-build-isolation --editable .
