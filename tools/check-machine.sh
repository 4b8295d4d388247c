#!/usr/bin/env bash
# Say in one line what the environment's installation would fail on later.
# Usage: check-machine.sh PYTHON ENVIRONMENT [TORCH]
# ENVIRONMENT is the folder that is to hold it, and TORCH a word as in install.sh.
# Only what POSIX has and the bash of macOS (3.2) understands.
set -euo pipefail
python=$1
environment=$2
case ${3:-cuda} in cpu) needed=3000 ;; *) needed=8000 ;; esac

stop() {
    echo "preln: $1" >&2
    exit 1
}

# missing WHAT PACKAGE ON_MACOS: how to install it, where that is known.
missing() {
    if command -v apt-get >/dev/null; then
        stop "$1: apt-get install $2"
    elif [ "$(uname -s)" = Darwin ]; then
        stop "$1: $3"
    fi
    stop "$1: install it (on Debian, the package is $2)"
}

"$python" -c '' 2>/dev/null || missing "no Python found: install Python 3.11 to 3.13" "python3 python3-venv" "brew install python@3.12"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case $version in
    3.11 | 3.12 | 3.13) ;;
    *) stop "$python is Python $version, and 3.11 to 3.13 is needed: install one, or name it with make PYTHON=/path/to/python3.11" ;;
esac
again="brew install python@$version"
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing "Python's venv module is missing" "python$version-venv" "$again"
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -f "$include/Python.h" ] || missing "Python's headers are missing" "python$version-dev" "$again"
command -v c++ >/dev/null || command -v g++ >/dev/null || missing "no C++ compiler found" g++ "xcode-select --install"
command -v git >/dev/null || missing "git is missing" git "xcode-select --install"
if [ -x "$environment/bin/python" ]; then
    existing=$("$environment/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    [ "$existing" = "$version" ] ||
        stop "$environment is of Python $existing, and $python is Python $version: remove it first (rm -r $environment)"
fi
folder=$(dirname "$environment")
while [ ! -d "$folder" ]; do folder=$(dirname "$folder"); done
# The number before the percentage, in units of 1024 bytes: the name of a disk may have spaces.
free=$(df -Pk "$folder" | awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+%$/) print $(i - 1) }' | tail -n 1)
[ "$free" -ge "${needed}000" ] ||
    stop "only $((free / 1000)) MB are free in $folder, and the environment needs $needed: make room, or name another folder with make VENV=/path/to/one (without CUDA it is smaller: make TORCH=cpu)"
