#!/bin/sh
# Compiles, links and runs the programs beside this file on the simulator; all of them, or those named.
# They are compiled as one, each in a namespace, since headers cost more than they do, and run one by one. A first
# line `// nvcc: FLAGS` sets one apart with flags of its own (-std= replaces ours); NAME.part.cu, where it exists, is linked to NAME.cu.
# Those in slow/ take long to compile, so each stands alone and runs only when named: slow/NAME.
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
flags="-std=c++20 -I$here/../../.. -lineinfo -no-compress -gencode=arch=compute_80,code=compute_80"

alone() {
    case $1 in slow/*) return 0 ;; esac
    head -n 1 "$here/$1.cu" | grep -q '^// nvcc: '
}

# shellcheck disable=SC2086 # flags and objects are words
build_alone() {
    name=$1 objects=
    own="$(sed -n '1s/^\/\/ nvcc: //p' "$here/$name.cu") -I$here"
    case $own in *-std=*) own="${flags#* } $own" ;; *) own="$flags $own" ;; esac
    linked= device_runtime=
    case $own in *-rdc=true*)
        linked=$folder/$(basename "$name").linked.o
        device_runtime=$("$here/../../../build/find_toolkit.sh" "$nvcc" | sed -n 's/^cudadevrt=//p')
        ;;
    esac
    # A device link wants machine code beside the PTX.
    [ -z "$linked" ] || own="$own -gencode=arch=compute_80,code=sm_80"
    for source in "$here/$name.cu" "$here/$name.part.cu"; do
        [ -f "$source" ] || continue
        object=$folder/$(basename "$source" .cu).o
        "$nvcc" -c $own "$source" -o "$object" || return 1
        objects="$objects $object"
    done
    if [ -n "$linked" ]; then
        "$nvcc" -dlink $own $objects -o "$linked" -lcudadevrt || return 1
    fi
    g++ $objects $linked $device_runtime "$library" -pthread -o "$folder/$(basename "$name")"
}

# shellcheck disable=SC2086
build_together() {
    {
        echo '#include "check.hpp"'
        for name in "$@"; do grep -h '^#include <' "$here/$name.cu" || true; done | sort -u
        for name in "$@"; do printf 'namespace %s {\n#include "%s.cu"\n}\n' "$name" "$name"; done
        echo 'int main(int, char **arguments)'
        echo '{'
        for name in "$@"; do
            echo "    if (!std::strcmp(arguments[1], \"$name\")) return $name::main();"
        done
        echo '    return 2;'
        echo '}'
    } >"$folder/together.cu"
    "$nvcc" -c $flags -I"$here" "$folder/together.cu" -o "$folder/together.o" &&
        g++ "$folder/together.o" "$library" -pthread -o "$folder/together"
}

# As the program queues its work, and with work in streams as late as it can be.
run_both_ways() {
    for order in '' late; do
        SIMULATOR_COUNTERS=1 SIMULATOR_STREAMS=$order "$@" >"$folder/output.txt" 2>&1 || {
            echo "with SIMULATOR_STREAMS=$order:" && cat "$folder/output.txt"
            return 1
        }
    done
}

together=
for program in "$@"; do alone "$program" || together="$together $program"; done
# shellcheck disable=SC2086
[ -z "$together" ] || build_together $together || rm -f "$folder/together"

passed=0 failed=0
for program in "$@"; do
    if alone "$program"; then
        build_alone "$program" && run_both_ways "$folder/$(basename "$program")" && good=yes || good=no
    else
        run_both_ways "$folder/together" "$program" && good=yes || good=no
    fi
    if [ $good = yes ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $program"
    fi
done
echo "$passed passed, $failed failed"
test "$failed" -eq 0
