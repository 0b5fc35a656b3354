#!/bin/sh
# Checks that clang-format 14 would leave every C++ and CUDA file of ours as it is.
set -eu
cd "$(dirname "$0")/../.."

format=
for name in clang-format-14 clang-format; do
    case $("$name" --version 2>/dev/null) in
    *"version 14."*) format=$name && break ;;
    esac
done
if [ -z "$format" ]; then
    echo "clang-format 14 is not installed; other versions lay code out otherwise. Debian's package is clang-format-14."
    exit 77
fi

files=$(git ls-files '*.cpp' '*.hpp' '*.cu' '*.h' 2>/dev/null) ||
    files=$(find grader labs reference solutions -name '*.[ch]pp' -o -name '*.cu' -o -name '*.h')
# shellcheck disable=SC2086 # names are words
unformatted=$("$format" --dry-run $files 2>&1 | sed -n 's/^\([^:]*\):.*clang-format-violations.*/\1/p' | sort -u)
if [ -n "$unformatted" ]; then
    echo "These files are not laid out by .clang-format:"
    echo "$unformatted"
    echo "Run $format -i on them."
    exit 1
fi
