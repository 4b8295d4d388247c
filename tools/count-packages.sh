#!/usr/bin/env bash
# Read pip's messages, and show how many packages it has and about how long the rest takes.
# Usage: pip install ... | count-packages.sh NUMBER-OF-PACKAGES
set -euo pipefail
total=$1
count=0
while IFS= read -r line; do
    case $line in
        Collecting\ * | Processing\ * | "Requirement already satisfied"*) ;;
        "Installing collected packages"*)
            echo "preln: all $total packages are there; they are unpacked now (half a minute)"
            continue
            ;;
        *) continue ;;
    esac
    count=$((count + 1))
    if ((count % 20 == 0)); then
        echo "preln: $count of $total packages, about $((SECONDS * (total - count) / count)) s left"
    fi
done
