# Finds the tools that prerequisites.txt lists, and installs missing ones: a part of ./workbook, which sources it.
# shellcheck shell=bash disable=SC2154,SC2034 # variables are shared with ./workbook
#
# A missing tool is installed with the system's package manager, on a terminal only if its user agrees, else into .venv
# with pip. Each step is announced before it starts.
prerequisites=$top/grader/build/prerequisites.txt
headers=(doctest/doctest.h CLI/CLI.hpp nlohmann/json.hpp fmt/format.h)

# --- Finding tools -------------------------------------------------------------------------------

version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# Prints a column of the rows that the table of prerequisites has for a need: "doctest-dev libcli11-dev".
column() {
    local row cells words=()
    while IFS= read -r row; do
        IFS='|' read -ra cells <<<"$row"
        # shellcheck disable=SC2206 # one word per tool or package, without the blanks around
        words+=(${cells[$2]})
    done < <(grep "^$1 " "$prerequisites")
    echo "${words[*]}"
}
minimum() { column "$1" 2; }

# Sets the first usable compiler: $CXX, g++, clang++, then versioned names.
find_compiler() {
    for compiler in ${CXX:+"$CXX"} g++ clang++ g++-{15,14,13,12} clang++-{20,19,18,17,16,15,14}; do
        if compiles_our_code "$compiler"; then return; fi
    done
    compiler=
    return 1
}

# Older compilers accept -std=c++20, too, but lack parts of it.
compiles_our_code() {
    local standard gnu clang
    # shellcheck disable=SC2086 # CXX may hold several words
    read -r standard gnu clang < <(echo __cplusplus __GNUC__ __clang_major__ |
        $1 -std=c++20 -E -P -x c++ - 2>/dev/null) && [ "$standard" = 202002L ] || return 1
    if [ "$clang" = __clang_major__ ]; then
        [ "$gnu" -ge "$(minimum compiler)" ]
    else
        [ "$clang" -ge "$(minimum clang)" ]
    fi
}

# Checks the binutils that produce a submission's object.
find_binutils() { type -P ld nm objcopy ar >/dev/null; }
find_python() { command -v python3 >/dev/null; }
find_ninja() { command -v ninja >/dev/null || command -v ninja-build >/dev/null; }
find_meson() { command -v meson >/dev/null && version_at_least "$(meson --version)" "$(minimum meson)"; }
find_toolkit() { toolkit=$("$top/grader/build/find_toolkit.sh" 2>>"$log"); }
find_headers() { [ -z "$(missing_headers)" ]; }
# Some labs have cases on several processes, which are skipped without MPI.
find_mpi() {
    ! grep -qs '<mpi.h>' "$top"/labs/*/stub.cu || { command -v mpicc >/dev/null && command -v mpirun >/dev/null; }
}

missing_headers() {
    local header
    for header in "${headers[@]}"; do
        printf '#if !__has_include(<%s>)\n%s\n#endif\n' "$header" "${header%%/*}"
    done | ${compiler:-cat} ${compiler:+-E -P -x c++ -isystem "$venv/include" -} 2>>"$log"
}

# --- Installing missing tools --------------------------------------------------------------------

# Sets the package manager, its command, and its column in the table of prerequisites.
find_manager() {
    package_column=2
    for manager in apt-get dnf pacman zypper; do
        package_column=$((package_column + 1))
        if command -v "$manager" >/dev/null; then break; fi
        manager=
    done
    case $manager in
    apt-get) install=(env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends) ;;
    dnf) install=(dnf install --assumeyes) ;;
    pacman) install=(pacman -S --needed --noconfirm) ;;
    zypper) install=(zypper --non-interactive install) ;;
    *) return 1 ;;
    esac
}

is_root() { [ "$(id -u)" = 0 ]; }
as_root() { if is_root; then "$@"; else sudo -n "$@"; fi; }

# Packages change the whole machine, so on a terminal its user decides, once and before the first. Without a terminal
# only root installs them, as in a container.
may_install() {
    case ${consent-} in yes) return ;; no) return 1 ;; esac
    consent=no
    [ -z "${CUDA_WORKBOOK_OFFLINE-}" ] || return 1
    if [ -t 0 ] && [ -t 2 ]; then ask_to_install "$1"; else is_root; fi && consent=yes
}

# Asks about the packages of a need and of all others that are missing.
ask_to_install() {
    local need answer='' names=() sudo=
    is_root || { command -v sudo >/dev/null && sudo='sudo '; } || return 1
    for need in "$1" compiler binutils python ninja meson headers mpi; do
        # shellcheck disable=SC2207 # one word per package
        { [ "$need" != "$1" ] && "find_$need"; } || names+=($(column "$need" "$package_column"))
    done
    printf 'Install %s with %s? [y/N] ' "$(printf '%s\n' "${names[@]}" | sort -u | paste -sd' ')" "$sudo$manager" >&2
    read -r answer || say
    [[ $answer = [yY]* ]] && { [ -z "$sudo" ] || sudo -v; } # which may ask for the password
}

# Installs the packages of a need. apt-get may have no package list, or an old one; then it is updated once.
install_packages() {
    local names
    find_manager && names=$(column "$1" "$package_column") && [ -n "$names" ] && may_install "$1" || return 1
    # shellcheck disable=SC2086 # one word per package
    step "installing $names with $manager" install_named $names
}
install_named() {
    as_root "${install[@]}" "$@" ||
        { [ "$manager" = apt-get ] && as_root apt-get update && as_root "${install[@]}" "$@"; }
}

# Creates the virtual environment; clean_up removes an unfinished one.
make_venv() {
    [ -z "${CUDA_WORKBOOK_OFFLINE-}" ] || return 1
    [ -f "$venv/complete" ] && return
    rm -rf "$venv"
    unfinished=$venv
    if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
        install_packages venv || { unfinished= && return 1; }
    fi
    step "making .venv for tools from pip" python3 -m venv "$venv" || return 1
    touch "$venv/complete"
    unfinished=
}

# Installs pinned versions, each file checked by its hash in grader/build/wheels/.
pip_install() {
    make_venv && step "installing $1 with pip into .venv" \
        "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --no-deps --require-hashes \
        --requirement "$top/grader/build/wheels/$2.txt"
}

# Completes the toolkit of the wheels, which lacks the names of two folders.
pip_toolkit() {
    local wheels
    pip_install "nvcc 13.0" toolkit || return 1
    wheels=$(cd "$venv" && echo lib/python3*/site-packages/nvidia/cu13)
    ln -sfn lib "$venv/$wheels/lib64"
    ln -sfn "$wheels" "$venv/cuda"
}

# Fetches wheels that carry the libraries' headers and keeps only these headers.
pip_headers() {
    make_venv && step "fetching doctest, CLI11, nlohmann/json and fmt with pip into .venv" \
        "$venv/bin/python" "$top/grader/build/fetch_headers.py" "$venv/include"
}

# Finds a tool, else installs the packages of its row, else runs a command of ours that gets it.
provide() { # NEED [COMMAND...]
    local need=$1
    shift
    "find_$need" || { install_packages "$need" && "find_$need"; } ||
        { [ $# -gt 0 ] && "$@" && hash -r && "find_$need"; }
}

# Prints how the user can install it: the distribution's command if there is one.
advice() {
    if find_manager; then
        echo "run: sudo $manager $([ "$manager" = pacman ] && echo -S || echo install) $(column "$1" "$package_column")"
    else
        echo "install $(column "$1" 1)"
    fi
}

prepare() {
    provide compiler || { install_packages newer_compiler && find_compiler; } ||
        give_up "There is no C++20 compiler (g++ $(minimum compiler) or clang $(minimum clang), or newer);" \
            "$(advice compiler)."
    provide binutils || give_up "ld, nm, objcopy or ar is missing; $(advice binutils)."
    provide python || give_up "There is no python3, which the build needs; $(advice python)."
    provide ninja pip_install Ninja ninja || give_up "Ninja is missing and could not be installed; $(advice ninja)."
    provide meson pip_install Meson meson ||
        give_up "Meson $(minimum meson) or newer is missing and could not be installed; $(advice meson)."
    provide toolkit pip_toolkit ||
        give_up "There is no nvcc of CUDA 13; install NVIDIA's CUDA Toolkit 13 and put its bin folder on PATH, or" \
            "let pip reach its index."
    provide headers pip_headers ||
        say "Without packages for $(missing_headers | tr '\n' ' ')Meson will fetch their sources."
    provide mpi ||
        say "Without mpicc and mpirun cases on several processes will be skipped; $(advice mpi)."
}
