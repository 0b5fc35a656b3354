#!/usr/bin/env bash
# Grades submissions in a course's CI: the one script that the GitHub Action, the GitLab template and the image call.
usage='usage: grade_submission.sh grade [OPTION...] FOLDER LAB RESULTS
       grade_submission.sh set-up
       grade_submission.sh build [--backend sim|auto] [LAB...]
       grade_submission.sh check-base IMAGE
       grade_submission.sh places

grade grades FOLDER: a class, as ./workbook autograde takes it, or one submission (a folder with labs/, LAB/ or stub.cu),
whose student then has the name of the folder. The folder RESULTS receives
    class.json, grades.csv    every case; a row per student and lab
    autograde.txt             what autograde printed: it holds text of students, so it is not printed here
    students/NNN-NAME.*       the result of each student in each form
    kept/                     each grade, from which autograde goes on after a kill
Options:
    --backend sim|auto   sim (default): no GPU; auto: with the GPU if there is one
    --to "FORM..."       json, junit, text, gradescope, prairielearn; default: json junit text
    --clock              the course counts the points of the clock, too
    --no-set-up          take what was built before, as in the image, and install and configure nothing
In a step of GitHub Actions it also writes the summary, and the annotations of a single student.

set-up installs what ./workbook needs. build compiles the graders of the labs (none: all), so that a grade compiles only
the submission. check-base refuses the name of an image without a digest. places prints, for the cache of a CI, what
set-up and build write, and a key for it.

Exit status: 0 everything was graded, whatever the points; 2 wrong usage; 99 a fault of the machine or the workbook.'
set -euo pipefail

top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
build=$top/build
forms='json junit text' backend=sim set_up=yes clock=()

refuse() {
    echo "grade_submission.sh: $*" >&2
    echo "For its usage: ci/grade_submission.sh --help" >&2
    exit 2
}
give_up() {
    echo "grade_submission.sh: $*" >&2
    exit 99
}
# An unforeseen failure of a step is a fault of ours, never a grade.
scratch=
trap 'status=$?; [ -z "$scratch" ] || rm -rf "$scratch"; case $status in 0 | 2 | 99) ;; *) exit 99 ;; esac' EXIT

check_backend() {
    case $1 in sim | auto) backend=$1 ;; *) refuse "--backend is sim or auto, not \"$1\"." ;; esac
}
check_lab() {
    [[ $1 =~ ^[A-Za-z0-9_]+$ ]] || refuse "\"$1\" names no lab; give its number or a part of its name, such as 02."
}

# A fresh checkout gives each source the time of now, for which ninja would build everything again. If the build folder,
# restored from a cache, is of this very commit, its sources get a time from before that build.
trust_build_of_this_commit() {
    local commit
    [ -n "${CI-}" ] && commit=$(git -C "$top" rev-parse HEAD 2>/dev/null) || return 0
    [ -z "$(git -C "$top" status --porcelain --untracked-files=no)" ] || return 0
    if [ "$(cat "$build/of_commit" 2>/dev/null)" = "$commit" ]; then
        (cd "$top" && git ls-files -z | xargs -0 touch -c -h -r "$build/of_commit")
    else
        mkdir -p "$build" && echo "$commit" >"$build/of_commit"
    fi
}

# --- The parts -----------------------------------------------------------------------------------

check_base() {
    [ $# = 1 ] || refuse "check-base takes the name of one image."
    [[ $1 =~ ^[^@[:space:]]+@sha256:[0-9a-f]{64}$ ]] || give_up "the base image \"$1\" has no digest, so it could be" \
        "another one tomorrow. Pull it, read its digest (docker image inspect), and build with" \
        "--build-arg BASE=NAME@sha256:DIGEST."
}

set_up() {
    [ $# = 0 ] || refuse "set-up takes no argument."
    trust_build_of_this_commit
    "$top/workbook" --version
}

# Builds what a GPU needs besides, which autograde would build when it first sees one. A vendor's library that is not
# installed has no target.
build_for_gpu() {
    local lab wanted=()
    export PATH="$top/.venv/bin:$PATH"
    while read -r lab; do wanted+=("$lab.naive.gpu" "$lab.library.gpu"); done < <(sed -n '2,$s/^[^,]*,\([^,]*\),.*/\1/p' "$1")
    ninja -C "$build" -t targets all | sed -n 's/^\([^ :]*\.gpu\):.*/\1/p' |
        grep -Fx "$(printf '%s\n' "${wanted[@]}")" | xargs ninja -C "$build" >/dev/null
}

build_labs() {
    local labs=()
    while [ $# -gt 0 ]; do
        case $1 in
        --backend) [ $# -ge 2 ] || refuse "--backend needs a value." && check_backend "$2" && shift ;;
        -*) refuse "build has no option $1." ;;
        *) check_lab "$1" && labs+=("$1") ;;
        esac
        shift
    done
    trust_build_of_this_commit
    # An empty class has autograde build all that it needs, and runs nobody's code.
    scratch=$(mktemp -d)
    mkdir -p "$scratch/class/nobody"
    "$top/workbook" autograde "$scratch/class" "${labs[@]}" --backend sim --without-sandbox \
        --csv "$scratch/labs.csv" >/dev/null || give_up "the graders could not be built."
    if [ "$backend" = auto ]; then build_for_gpu "$scratch/labs.csv"; fi
    # The image is used by whoever is in its group 0, and only the build folder is written then.
    chmod -R g=u "$build"
    "$top/workbook" doctor
}

places() {
    [ $# = 0 ] || refuse "places takes no argument."
    echo "root=$top"
    echo "key=cuda-workbook-$(uname -m)-$(. /etc/os-release && echo "$ID$VERSION_ID")-$(
        git -C "$top" rev-parse HEAD 2>/dev/null || cat "$top/edition.txt" "$top/meson.build" | sha256sum | head -c 16)"
}

# Copies the .cu files of one submission into a class of one; links stay links, which autograde does not follow.
class_of_one() {
    local name
    name=$(basename "$1")
    mkdir -p "$2/$name"
    # find is ended by SIGPIPE where there are more.
    (cd "$1" && { find . -name '.?*' -prune -o -name '*.cu' \( -type l -o -type f -size -1025k \) -print0 || :; } |
        head -z -n 1000 | xargs -0 -r cp -P --parents --preserve=timestamps -t "$2/$name")
}
is_one_submission() {
    [ -e "$1/labs" ] || [ -e "$1/stub.cu" ] || [ -n "$(cd "$top/labs" && for lab in *"$2"*/; do [ ! -e "$1/$lab" ] || echo "$lab"; done)" ]
}

# Prints text that may be a student's so that no runner takes a command from it.
harmless() { tail -n 20 | tr -d '\000-\010\013-\037\177' | sed 's/::/: :/g; s/##\[/## [/g; s/^/    /'; }

grade() {
    local words=() program=("$top/workbook") status=0 form student name end count
    while [ $# -gt 0 ]; do
        case $1 in
        --backend | --to)
            [ $# -ge 2 ] || refuse "$1 needs a value."
            if [ "$1" = --to ]; then forms=$2; else check_backend "$2"; fi
            shift ;;
        --clock) clock=(--clock) ;;
        --no-set-up) set_up= ;;
        -*) refuse "grade has no option $1." ;;
        *) words+=("$1") ;;
        esac
        shift
    done
    [ ${#words[@]} = 3 ] || refuse "grade takes FOLDER LAB RESULTS; it was given ${#words[@]} words."
    local folder=${words[0]} lab=${words[1]} results=${words[2]}
    check_lab "$lab"
    for form in $forms; do
        case $form in json | junit | text | gradescope | prairielearn) ;; *) refuse "there is no form \"$form\"." ;; esac
    done
    [ -d "$folder" ] || refuse "there is no folder \"$folder\" with submissions here ($PWD)."
    mkdir -p -- "$results/students" || give_up "\"$results\" cannot be written; name another folder for the results."
    folder=$(realpath -- "$folder") results=$(realpath -- "$results")
    [ -z "$(ls -A "$results/students")" ] ||
        refuse "$results/students holds results of an earlier run; name another folder, or empty it."

    scratch=$(mktemp -d)
    if is_one_submission "$folder" "$lab"; then
        class_of_one "$folder" "$scratch/class"
        folder=$scratch/class
    fi
    if [ -n "$set_up" ]; then
        trust_build_of_this_commit
    else
        program=("$build/cuda-workbook")
        [ -x "${program[0]}" ] || give_up "nothing is built in $build; without --no-set-up it is."
        export PATH="$top/.venv/bin:$PATH"
    fi
    "${program[@]}" autograde "$folder" "$lab" --backend "$backend" --results "$results/kept" \
        --csv "$results/grades.csv" --json "$results/class.json" \
        >"$results/autograde.txt" 2>"$scratch/problems" </dev/null || status=$?
    [ $status = 0 ] || harmless <"$scratch/problems" >&2
    [ $status != 2 ] || exit 2
    [ -f "$results/class.json" ] || give_up "nothing was graded; above is why."

    students "$results/class.json" >"$scratch/names" || give_up "$results/class.json cannot be read."
    count=0
    local summary=${GITHUB_STEP_SUMMARY-}
    while IFS= read -r -d '' student && IFS= read -r -d '' name; do
        count=$((count + 1))
        for form in $forms; do
            case $form in junit) end=xml ;; text) end=txt ;; json) end=json ;; *) end=$form.json ;; esac
            "$build/cuda-workbook" convert "$results/class.json" --student "$student" --to "$form" "${clock[@]}" \
                --output "$results/students/$name.$end" || give_up "the result of row $count was not converted."
        done
        [ -n "$summary" ] || continue
        "$build/cuda-workbook" convert "$results/class.json" --student "$student" --to github "${clock[@]}" \
            >"$scratch/annotations" || { summary= && echo "The step's summary ends before row $count."; }
    done <"$scratch/names"
    # A step shows ten annotations, which are of use to a single student only.
    [ $count != 1 ] || [ ! -f "$scratch/annotations" ] || cat "$scratch/annotations"
    echo "students: $count, in $SECONDS s; the results are in $results"
    [ $status = 0 ] || give_up "some rows have no grade, by a fault of the machine or the workbook; autograde.txt" \
        "says which, and why. Start it again once $results/students is empty: it grades those alone."
}

# Prints each student's name and a name for files, each followed by a null byte.
students() {
    python3 -c '
import json, re, sys
names = dict.fromkeys(row["student"] for row in json.load(open(sys.argv[1], encoding="utf-8"))["rows"])
for number, name in enumerate(names, 1):
    plain = re.sub("[^A-Za-z0-9_-]+", "_", name)[:60]
    sys.stdout.buffer.write(f"{name}\0{number:03}-{plain}\0".encode())
' "$1"
}

part=${1-}
[ $# = 0 ] || shift
case $part in
grade) grade "$@" ;;
set-up) set_up "$@" ;;
build) build_labs "$@" ;;
check-base) check_base "$@" ;;
places) places "$@" ;;
-h | --help) echo "$usage" ;;
*) refuse "there is no part \"$part\"; there are grade, set-up, build, check-base and places." ;;
esac
