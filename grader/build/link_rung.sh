#!/bin/sh
# Links a rung of a ladder over the objects below it, so that its functions replace theirs.
#
# usage: link_rung.sh RUNG BELOW OUT
#
# RUNG is an object that compile.sh --rung made; BELOW is naive's, or the OUT of the rung below. Both contain their own
# static variables and kernels. In OUT each function of the contract is RUNG's, or BELOW's where RUNG has none, and all
# calls between them lead to these, if BELOW was compiled with functions that may be replaced.
set -eu

if [ $# -ne 3 ]; then
    echo "usage: link_rung.sh RUNG BELOW OUT" >&2
    exit 2
fi
rung=$1 below=$2 out=$3
work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Of two definitions the linker takes the one that is not weak. The others stay strong, because the worker has weak
# functions in place of those that an edition added.
nm -g --defined-only "$rung" | awk '{ print $NF }' >"$work/replaced"
objcopy --weaken-symbols="$work/replaced" "$below" "$work/below.o"
ld -r -o "$work/out.o" "$rung" "$work/below.o"
mv "$work/out.o" "$out"
