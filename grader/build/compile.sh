#!/bin/sh
# Compiles one implementation of a contract to one object in which only the contract's functions are global.
#
# usage: compile.sh [--rung | --joined] NVCC IN OUT DEPFILE KEEP [nvcc flags]
#
# IN is a .cu file and OUT the object. DEPFILE receives make rules that name every file read. KEEP lists the linker
# names of the contract's functions, one per line, as `nm` of the contract's glue prints them; IN may lack those that a
# line "# added NAME" names. With --rung IN is a rung of a ladder: it may lack functions, which link_rung.sh takes from the
# rung below, so it may define no other function that is not static, because that could be one of them, misspelt. With
# --joined IN holds several implementations, each in a namespace, and all their names stay as they are. With -rdc=true
# nvcc links the device code if machine code is asked for, and OUT contains the device runtime; else the PTX is
# registered, for the simulator alone.
#
# Exit status: 0; 2 usage; 3 IN compiles but lacks a function of the contract, or a rung defines another; 4 it has other
# names that cannot be made local; 1 or above 128 if a tool failed or was killed, or if device code uses what nothing
# defines. OUT and DEPFILE are written whole or not at all.
set -eu

rung=no joined=no
case ${1-} in
--rung) rung=yes && shift ;;
--joined) joined=yes && shift ;;
esac
if [ $# -lt 5 ]; then
    echo "usage: compile.sh [--rung | --joined] NVCC IN OUT DEPFILE KEEP [nvcc flags]" >&2
    exit 2
fi
nvcc=$1 in=$2 out=$3 dep=$4 keep=$5
shift 5

# A stray variable must not change a grade.
unset NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH
LC_ALL=C
export LC_ALL

work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
export TMPDIR="$work" # for nvcc's temporary files

case " $* " in
*" -rdc=true "* | *" -dc "* | *" --relocatable-device-code=true "*) relocatable=yes ;;
*) relocatable=no ;;
esac
case " $* " in
*sm_[0-9]* | *-arch=native*) machine_code=yes ;;
*) machine_code=no ;;
esac

# Without a target nm first runs binutils' plugins, such as LLVM's, on the object. That takes tens of
# milliseconds and exposes them to an untrusted file.
case $(uname -m) in
aarch64) target=elf64-littleaarch64 ;;
*) target=elf64-x86-64 ;;
esac
defined() { nm --target=$target --defined-only "$@"; }

raw=$work/raw.o
# nvcc has its own statuses (4: more errors than it lists, 255: ptxas refused), but 3 and 4 are ours. A
# shell reports a signal, 1 to 64, as 128 plus its number.
build() {
    "$nvcc" "$@" && return
    status=$?
    { [ $status -gt 128 ] && [ $status -le 192 ]; } || status=1
    exit $status
}
build -c -MD -MF "$work/d" -MT "$out" "$@" "$in" -o "$raw"

# List each contract function that the object does not define, with its definitions of that name.
sed '/^#/d' "$keep" >"$work/names"
missing=
if [ $joined = no ]; then
    missing=$(defined -g "$raw" | awk '{ print $NF }' | grep -vxFf - "$work/names" || true)
fi
if [ -n "$missing" ]; then
    found=$(defined -C "$raw" | cut -c20- | sed 's/ \[clone .*//' | sort -u) # clones are not functions
    c++filt <"$work/names" | sed 's/(.*//' >"$work/functions"
    if [ "$(wc -l <"$work/functions")" -gt 1 ] && ! echo "$found" | sed 's/(.*//' | grep -qxFf "$work/functions"; then
        echo "$in defines none of lab.hpp's functions" >&2
        exit 3
    fi
    for symbol in $missing; do
        declared=$(c++filt "$symbol")
        if { [ $rung = yes ] || grep -qx "# added $symbol" "$keep"; } &&
            ! echo "$found" | grep -q "^${declared%%(*}("; then
            continue
        fi
        echo "$in: lab.hpp declares $declared; $(basename "$in") does not define it"
        # Do not indent: reports take indented lines for source code and do not wrap them.
        echo "$found" | while read -r other; do
            case $other in
            "$declared") echo "it is static there; leave the word static out" ;;
            "${declared%%(*}("*) echo "it defines another function of that name: $other" ;;
            esac
        done
    done >"$work/faults"
    cat "$work/faults" >&2
    [ ! -s "$work/faults" ] || exit 3
fi
# Functions made of templates and inline ones are weak, so these are all others. nvcc's own begin with two underscores, and
# it makes functions of an unnamed namespace global.
if [ $rung = yes ]; then
    foreign=$(defined -g "$raw" | awk '$2 == "T" && $3 !~ /^__|_GLOBAL__N_/ { print $3 }' | grep -vxFf "$work/names" || true)
    for symbol in $foreign; do
        echo "$in: defines $(c++filt "$symbol"), which lab.hpp does not declare; correct its name or make it static" >&2
    done
    [ -z "$foreign" ] || exit 3
fi

# nvcc leaves it to the device link to find what device code of one file only declares. The names of CUDA's own
# functions begin with two underscores, but for these three.
if [ $relocatable = yes ]; then
    sed -n -e 's/^\.extern \.\(func\|entry\) \(.* \)\{0,1\}\([0-9A-Za-z_$]*\)$/\3/p' \
        -e 's/^\.extern \.\(global\|const\) .* \([0-9A-Za-z_$]*\)\(\[.*\)*;$/\2/p' "$raw" >"$work/declared"
    sort -u "$work/declared" | grep -vxE '__.*|vprintf|malloc|free' >"$work/unresolved" || true
    if [ -s "$work/unresolved" ]; then
        c++filt <"$work/unresolved" | while read -r name; do
            echo "$in: error: device code uses $name, which is declared and not defined" >&2
        done
        exit 1
    fi
fi

# Prints C++ that registers the PTX of $raw with the simulator. A device link would do so only together with machine
# code, for which ptxas takes a third as long as all other steps of nvcc together.
register_ptx() {
    echo '#include <fatbinary_section.h>'
    echo 'extern "C" void **__cudaRegisterFatBinary(void *);'
    echo 'extern "C" void __cudaRegisterFatBinaryEnd(void **);'
    nm --target=$target --undefined-only "$raw" | sed -n 's/^ *U __cudaRegisterLinkedBinary\([0-9A-Za-z_]*\)$/\1/p' |
        while read -r id; do
            cat <<EOF
extern "C" void __cudaRegisterLinkedBinary$id(void (*registered)(void **), void *wrapper, void *, void (*)(void *))
{
    static const void *parts[] = {static_cast<const __fatBinC_Wrapper_t *>(wrapper)->data, nullptr};
    static __fatBinC_Wrapper_t linked = {FATBINC_MAGIC, FATBINC_LINK_VERSION, nullptr, parts};
    void **handle = __cudaRegisterFatBinary(&linked);
    registered(handle);
    __cudaRegisterFatBinaryEnd(handle);
}
EOF
        done
}

if [ $relocatable = yes ] && [ $machine_code = no ]; then
    register_ptx >"$work/linked.cc"
    build -c "$@" "$work/linked.cc" -o "$work/linked.o"
    ld -r --force-group-allocation -o "$work/o" "$raw" "$work/linked.o"
elif [ $relocatable = yes ]; then
    # Running objcopy before the device link, or without one, breaks the registration of the modules.
    build -dlink "$@" "$raw" -o "$work/linked.o" -lcudadevrt
    folders=$("$nvcc" -dryrun -c x.cu 2>&1 | sed -n 's/^#$ LIBRARIES=//p' | tr '"' '\n' | sed -n 's/^-L//p')
    device_runtime=$(echo "$folders" | while read -r folder; do
        if [ -f "$folder/libcudadevrt.a" ]; then
            echo "$folder/libcudadevrt.a"
            break
        fi
    done)
    if [ -z "$device_runtime" ]; then
        echo "compile.sh: libcudadevrt.a, which -rdc=true needs, is in none of:" >&2
        echo "$folders" >&2
        exit 1
    fi
    ld -r --force-group-allocation -o "$work/o" "$raw" "$work/linked.o" "$device_runtime"
else
    ld -r --force-group-allocation -o "$work/o" "$raw"
fi
if [ $joined = no ]; then
    # Waits of the C++ library (atomics, semaphores, jthread) call syscall in headers; the worker's replacement allows
    # these. Remove intermediate code for link-time optimisation: it would replace the inspected code at the link.
    objcopy --remove-section='.gnu.lto_*' --remove-section='.gnu.debuglto_*' --remove-section='.llvm*' \
        --keep-global-symbols="$keep" --redefine-sym syscall=futex_only_syscall "$work/o"
    # Assembly can declare names that objcopy leaves global; they would replace names of ours.
    global=$(defined -g "$work/o" | awk '{ print $NF }' | grep -vxFf "$keep" || true)
    if [ -n "$global" ]; then
        echo "$in: defines global names that no contract has:" $global >&2
        exit 4
    fi
fi
mv "$work/d" "$dep"
mv "$work/o" "$out"
