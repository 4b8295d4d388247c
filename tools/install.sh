#!/usr/bin/env bash
# Install all that locks/ pins, torch, fairseq and this package, and say how far it is.
# Usage: install.sh PYTHON-OF-THE-ENVIRONMENT [TORCH], in the folder of the repository.
# TORCH is one of these words:
#   cuda    what pip finds by itself, as when there is no word: PyPI's torch for Linux comes with CUDA
#   cpu     PyTorch's torch for processors alone
#   cu126   PyTorch's torch for CUDA 12.6; so with each version of CUDA that it has an index for
set -euo pipefail
python=$1
word=${2:-cuda}
here=$(dirname "$0")

# Only what the bash of macOS (3.2) understands. Of an index of PyTorch the very file is asked for, so that pip takes none of
# PyPI where that index has none. It is one more index: pip goes on looking at those of its user.
torch=$(grep '^torch==' requirements.txt)
case $word in
    cuda) set -- "$torch" ;;
    cpu | cu[0-9][0-9][0-9]) set -- "$torch+$word" --extra-index-url "https://download.pytorch.org/whl/$word" ;;
    *)
        echo "preln: TORCH=$word is none of these: cpu; cuda; cu and three digits for a version of CUDA, such as cu126" >&2
        exit 1
        ;;
esac

step() { echo "preln: installing, step $1 of 5: $2"; }

messages=$(mktemp)
heart=
trap 'rm -f "$messages"; [ -z "$heart" ] || kill "$heart"' EXIT

# compile COMMAND...: run it, and say every 20 seconds that it does.
compile() {
    while sleep 20 >/dev/null 2>&1; do echo "preln: still compiling, ${SECONDS} s after the beginning"; done &
    heart=$!
    "$@"
    kill "$heart"
    heart=
}

# A new environment has the pip of its Python's release. In the lock, pip's entry ends at the first line without a backslash.
step 1 "$(grep '^pip==' requirements.txt), which installs the rest"
"$python" -m pip install --quiet --no-deps --require-hashes \
    --requirement <(sed -n '/^pip==/,/[^\\]$/p' locks/requirements.txt)
# pip builds three of them itself, with the setuptools of the day.
step 2 "the libraries, each file checked by its hash"
"$python" -m pip install --no-deps --require-hashes --requirement locks/requirements.txt |
    bash "$here/count-packages.sh" "$(grep -c '==' locks/requirements.txt)"
# Its files differ by kind of machine: a plain one, one with CUDA, or one of an index for processors alone. So it has no hash
# here, and whatever it brings beyond the libraries above (CUDA's) is chosen by itself.
step 3 "torch (0.2 GB for processors alone; 3 GB with CUDA, which takes minutes)"
{ "$python" -m pip install --constraint requirements.txt "$@" 2>&1 >&3 | tee "$messages" >&2; } 3>&1 || {
    why="pip says why above; https://pytorch.org has the versions of CUDA"
    # pip ends with a conflict of versions whatever the reason is.
    if grep -Eq "Failed to (resolve|establish)|ConnectTimeout|ConnectionError|Connection re(fused|set)" "$messages"; then
        why="an index of packages cannot be reached from here"
        [ $# = 1 ] || why="$3, which TORCH=$word needs, cannot be reached from here; leave TORCH out to take PyPI's, with CUDA"
    fi
    echo "preln: no $1 (TORCH=$word) was installed: $why" >&2
    exit 1
}
# It is built against the installed torch. It is installed without its dependencies, for its metadata asks for torchaudio, which
# nothing here uses.
step 4 "fairseq, which is compiled (two to four minutes of one core)"
compile "$python" -m pip install --quiet --no-deps --no-build-isolation --require-hashes --requirement locks/requirements-fairseq.txt
step 5 "preln, whose loops are compiled (half a minute)"
compile "$python" -m pip install --quiet --no-deps --no-build-isolation --editable .
