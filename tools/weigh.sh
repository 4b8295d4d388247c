#!/usr/bin/env bash
# Print what the repository weighs: words, files, lines of Python, and the packed size of HEAD.
set -euo pipefail
cd "$(dirname "$0")/.."

# Generated tables, the reference of the keys and the changelog are not written by hand.
words() { git ls-files -- "$@" | xargs cat | sed '/<!-- generated:/,/<!-- end -->/d' | wc -w; }
lines() { git ls-files -- "$@" | xargs -r cat | wc -l; }

echo "words of README.md            $(words README.md)"
echo "words of the other pages      $(words 'docs/*.md' CONTRIBUTING.md benchmarks/README.md)"
echo "files under results/          $(git ls-files results | wc -l)"
for folder in src tests docs benchmarks; do
    printf 'lines of Python in %-11s%s\n' "$folder/" "$(lines "$folder/*.py")"
done
echo "megabytes of HEAD, packed     $(git ls-tree -r HEAD | awk '{print $3}' | sort -u | git pack-objects --quiet --stdout |
    wc -c | awk '{printf "%.1f", $1 / 1e6}')"
