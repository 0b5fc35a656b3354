#!/bin/sh
# Compiles, links and runs the programs beside this file on the simulator; all of them, or those named.
# usage: run.sh NVCC SIMULATOR_LIBRARY FOLDER [program...]
set -eu
if [ $# -lt 3 ]; then
    echo "usage: run.sh NVCC SIMULATOR_LIBRARY FOLDER [program...]" >&2
    exit 2
fi
nvcc=$1 library=$2 folder=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
if [ $# -eq 0 ]; then
    for source in "$here"/*.cu; do set -- "$@" "$(basename "$source" .cu)"; done
fi

passed=0 failed=0
for name in "$@"; do
    extra=$(sed -n '1s/^\/\/ nvcc: //p' "$here/$name.cu")
    flags="-std=c++20 -lineinfo -no-compress -gencode=arch=compute_80,code=compute_80 $extra"
    # A device link keeps PTX only beside machine code, which the simulator does not use.
    if [ -n "$extra" ]; then flags="$flags -gencode=arch=compute_80,code=sm_80"; fi
    objects=$folder/$name.o
    # shellcheck disable=SC2086 # flags are words
    if "$nvcc" -c $flags "$here/$name.cu" -o "$folder/$name.o" &&
        if [ -n "$extra" ]; then
            "$nvcc" -dlink $flags "$folder/$name.o" -o "$folder/$name.linked.o" -lcudadevrt
            objects="$objects $folder/$name.linked.o"
        fi &&
        g++ $objects "$library" -pthread -o "$folder/$name" && "$folder/$name"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $name"
    fi
done
echo "$passed passed, $failed failed"
test "$failed" -eq 0
