#!/usr/bin/env bash
# Say in one line what the environment's installation would fail on later.
# Usage: check-machine.sh PYTHON FOLDER
set -euo pipefail
python=$1
folder=$2

stop() {
    echo "preln: $1" >&2
    exit 1
}

"$python" -c '' 2>/dev/null || stop "no Python found: install Python 3.11 or 3.12 (apt-get install python3 python3-venv)"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case $version in
    3.11 | 3.12) ;;
    *) stop "$python is Python $version, and 3.11 or 3.12 is needed: install one, or name it with make PYTHON=/path/to/python3.11" ;;
esac
"$python" -c 'import ensurepip, venv' 2>/dev/null || stop "Python's venv module is missing: apt-get install python$version-venv"
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -f "$include/Python.h" ] || stop "Python's headers are missing: apt-get install python$version-dev"
command -v c++ >/dev/null || command -v g++ >/dev/null || stop "no C++ compiler found: apt-get install g++"
command -v git >/dev/null || stop "git is missing: apt-get install git"
free=$(df --output=avail -BM "$folder" | tail -n 1 | tr -dc '0-9')
[ "$free" -ge 8000 ] || stop "only ${free} MB are free in $folder; the environment and the default study need 8000"
