#!/bin/sh
# Compiles, links and runs the programs beside this file on the simulator; all of them, or those named.
# A first line `// nvcc: FLAGS` adds flags; NAME.part.cu, where it exists, is linked to NAME.cu.
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
    for source in "$here"/*.cu; do
        case $source in *.part.cu) ;; *) set -- "$@" "$(basename "$source" .cu)" ;; esac
    done
fi

# shellcheck disable=SC2086 # flags and objects are words
build() {
    name=$1 objects=
    extra=$(sed -n '1s/^\/\/ nvcc: //p' "$here/$name.cu")
    flags="-std=c++20 -lineinfo -no-compress -gencode=arch=compute_80,code=compute_80 $extra"
    # A device link wants machine code beside the PTX.
    [ -z "$extra" ] || flags="$flags -gencode=arch=compute_80,code=sm_80"
    for source in "$here/$name.cu" "$here/$name.part.cu"; do
        [ -f "$source" ] || continue
        object=$folder/$(basename "$source" .cu).o
        "$nvcc" -c $flags "$source" -o "$object" || return 1
        objects="$objects $object"
    done
    if [ -n "$extra" ]; then
        "$nvcc" -dlink $flags $objects -o "$folder/$name.linked.o" -lcudadevrt || return 1
        objects="$objects $folder/$name.linked.o"
    fi
    g++ $objects "$library" -pthread -o "$folder/$name"
}

passed=0 failed=0
for program in "$@"; do
    if build "$program" && "$folder/$program"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $program"
    fi
done
echo "$passed passed, $failed failed"
test "$failed" -eq 0
