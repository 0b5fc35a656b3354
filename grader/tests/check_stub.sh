#!/bin/sh
# Checks that a stub compiles for real GPUs. If a student edited it, git's version is checked.
#
# usage: check_stub.sh STUB COMPILE NVCC OUT DEPFILE KEEP [nvcc flags]; STUB is relative to the project
set -eu
stub=$1 compile=$2 nvcc=$3 out=$4
shift 4
top=$(cd "$(dirname "$0")/../.." && pwd)

original=$out.original.cu
if git -C "$top" cat-file blob ":./$stub" >"$original" 2>/dev/null; then
    cmp -s "$original" "$top/$stub" || echo "$stub was edited: the one that git has is compiled"
    exec "$compile" "$nvcc" "$original" "$out" "$@"
fi
"$compile" "$nvcc" "$top/$stub" "$out" "$@" && exit
echo "$stub does not compile; without git nobody can tell whether it was edited"
exit 77
