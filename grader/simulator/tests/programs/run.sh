#!/bin/sh
# Compiles, links and runs the programs beside this file on the simulator; all of them, or those named.
# They are compiled as one, each in a namespace, since headers cost more than they do, and run one by one. A first
# line `// nvcc: FLAGS` sets one apart with flags of its own (-std= replaces ours); NAME.part.cu, where it exists, is linked to NAME.cu.
# Those in slow/ take long to compile, so each stands alone and runs only when named: slow/NAME.
# Those that follow `--` are linked once more, with another library, and run again. They are an object of their own,
# because the others may use what that library lacks.
# usage: run.sh NVCC SIMULATOR_LIBRARY FOLDER [program...] [-- OTHER_LIBRARY program...]
set -eu
if [ $# -lt 3 ]; then
    echo "usage: run.sh NVCC SIMULATOR_LIBRARY FOLDER [program...] [-- OTHER_LIBRARY program...]" >&2
    exit 2
fi
nvcc=$1 library=$2 folder=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
programs= again=
while [ $# -gt 0 ] && [ "$1" != -- ]; do programs="$programs $1" && shift; done
if [ -z "$programs" ]; then
    for source in "$here"/*.cu; do
        case $source in *.part.cu) ;; *) programs="$programs $(basename "$source" .cu)" ;; esac
    done
fi
if [ $# -gt 1 ]; then
    other_library=$2
    shift 2
    again="$*"
fi
flags="-std=c++20 -I$here/../../.. -lineinfo -no-compress -gencode=arch=compute_80,code=compute_80"

alone() {
    case $1 in slow/*) return 0 ;; esac
    head -n 1 "$here/$1.cu" | grep -q '^// nvcc: '
}

# Prints the object that a program is compiled into.
object_of() {
    case " $again " in
    *" $1 "*) echo twice ;;
    *) echo once ;;
    esac
}

# Compiles a program and leaves the words for its link in NAME.words.
# shellcheck disable=SC2086 # flags and objects are words
compile_alone() {
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
    echo "$objects $linked $device_runtime" >"$folder/$(basename "$name").words"
}

# Compiles programs into one object of a name.
# shellcheck disable=SC2086
compile_together() {
    together=$1
    shift
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
    } >"$folder/$together.cu"
    "$nvcc" -c $flags -I"$here" "$folder/$together.cu" -o "$folder/$together.o" &&
        echo "$folder/$together.o" >"$folder/$together.words"
}

# Links what was compiled, with a library.
# shellcheck disable=SC2046
link_program() {
    rm -f "$folder/$1"
    [ -f "$folder/$1.words" ] && g++ $(cat "$folder/$1.words") "$2" -pthread -o "$folder/$1"
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

passed=0 failed=0
# Links programs with a library and runs them.
link_and_run() {
    with=$1
    shift
    for name in once twice; do link_program $name "$with" || true; done
    for program in "$@"; do
        if alone "$program"; then
            name=$(basename "$program")
            link_program "$name" "$with" && run_both_ways "$folder/$name" && good=yes || good=no
        else
            name=$(object_of "$program")
            run_both_ways "$folder/$name" "$program" && good=yes || good=no
        fi
        if [ $good = yes ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAILED $program with $with"
        fi
    done
}

rm -f "$folder"/*.words
once= twice=
for program in $programs; do
    if alone "$program"; then
        compile_alone "$program" || true
    elif [ "$(object_of "$program")" = twice ]; then
        twice="$twice $program"
    else
        once="$once $program"
    fi
done
# shellcheck disable=SC2086
{
    [ -z "$once" ] || compile_together once $once || true
    [ -z "$twice" ] || compile_together twice $twice || true
    link_and_run "$library" $programs
    [ -z "$again" ] || link_and_run "$other_library" $again
}
echo "$passed passed, $failed failed"
test "$failed" -eq 0
