#!/bin/sh
# Finds a CUDA toolkit that can compile, and prints its properties for the build, one `name=value` per line.
#
# usage: find_toolkit.sh [NVCC]
#
# Tries NVCC if given, else PATH, $CUDA_HOME, /usr/local/cuda, the newest /usr/local/cuda-*, /opt/cuda, and the
# wheels in .venv. The folders in $CUDA_WORKBOOK_TOOLKITS replace those under /usr/local and /opt. Prints nvcc,
# version, include, cudart_static and cudadevrt. If no toolkit is usable it says why and exits with 1.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)

candidates() {
    if [ -n "${1-}" ]; then
        command -v "$1" || echo "$1"
        return
    fi
    command -v nvcc || true
    [ -z "${CUDA_HOME-}" ] || echo "$CUDA_HOME/bin/nvcc"
    usual="/usr/local/cuda $(printf '%s\n' /usr/local/cuda-* | sort -rV) /opt/cuda"
    for folder in ${CUDA_WORKBOOK_TOOLKITS-$usual} "$top/.venv/cuda"; do echo "$folder/bin/nvcc"; done
}

# Prints a toolkit's description, or why it is unusable.
describe() {
    [ -x "$1" ] || { echo "it is not there"; return 1; }
    version=$("$1" --version 2>&1 | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    [ -n "$version" ] || { echo "its version cannot be read"; return 1; }
    [ "${version%%.*}" -ge 13 ] || { echo "it is CUDA $version; 13.0 or newer is needed"; return 1; }
    dry=$("$1" -dryrun -c x.cu 2>&1) || { echo "it does not run: $(echo "$dry" | grep -v '^#\$' | head -n 1)"; return 1; }
    include=$(echo "$dry" | sed -n 's/^#$ INCLUDES=//p' | tr '"' '\n' | sed -n 's/^-I//p' | first_with cuda_runtime_api.h)
    [ -n "$include" ] || { echo "it has no cuda_runtime_api.h (package cuda-cudart-dev)"; return 1; }
    folders=$(echo "$dry" | sed -n 's/^#$ LIBRARIES=//p' | tr '"' '\n' | sed -n 's/^-L//p')
    libraries=$(echo "$folders" | first_with libcudart_static.a)
    [ -n "$libraries" ] || { echo "it has no libcudart_static.a (package cuda-cudart-dev)"; return 1; }
    printf 'nvcc=%s\nversion=%s\ninclude=%s\n' "$1" "$version" "$include"
    printf 'cudart_static=%s\ncudadevrt=%s\n' "$libraries/libcudart_static.a" "$libraries/libcudadevrt.a"
}

# Prints the first folder on stdin that holds file $1.
first_with() {
    while read -r folder; do
        if [ -e "$folder/$1" ]; then
            (cd "$folder" && pwd)
            break
        fi
    done
}

reasons=
list=$(candidates "$@")
IFS='
' # folder names may contain blanks
for nvcc in $list; do
    unset IFS
    if found=$(describe "$nvcc"); then
        echo "$found"
        exit 0
    fi
    [ ! -e "$nvcc" ] && [ $# = 0 ] || reasons="$reasons
  $nvcc: $found"
done
if [ -n "$reasons" ]; then
    echo "No nvcc of CUDA 13 or newer will do:$reasons" >&2
else
    echo "There is no nvcc on PATH, in \$CUDA_HOME, /usr/local/cuda*, /opt/cuda or .venv." >&2
fi
exit 1
