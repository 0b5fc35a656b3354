#!/usr/bin/env python3
# Classroom 50 runs this on each submission: it grades one with the workbook, and leaves result.json.
"""Copy this file to CLASSROOM/autograders/ASSIGNMENT/autograder.py of the course's classroom50 repository.

The runner needs the workbook, built: on a runner of your own, in the folder that CUDA_WORKBOOK names or in
~/cuda-workbook. Of a student's repository it grades one file, as autograde finds it. Any exit status but 0 is
an error of the infrastructure to Classroom 50, and no score.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LAB = ""  # a lab's number; empty: the assignment is called after the lab, as in 02-coalescing
BACKEND = "auto"  # the simulator, and the GPU if the runner has one
WORKBOOK = Path(os.environ.get("CUDA_WORKBOOK") or Path.home() / "cuda-workbook")


def run(words, **places):
    """Ends this program if a command fails. Output of autograde quotes students, so it must not reach the log."""
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, text=True, **places)
    if done.returncode != 0:
        print(f"{words[0]} {words[1]} ended with status {done.returncode}", file=sys.stderr)
        sys.exit(1)
    return done


def committed_at():
    """Returns the graded commit's own time, so that grading again never makes a submission late."""
    words = ["git", "-c", "safe.directory=*", "show", "-s", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"]
    return run(words, env={**os.environ, "TZ": "UTC"}, stdout=subprocess.PIPE).stdout.strip()


def main():
    program = WORKBOOK / "workbook"
    lab = LAB or os.environ["ASSIGNMENT"].replace("-", "_")
    with tempfile.TemporaryDirectory() as folder:
        handed_in, result = Path(folder) / "class", Path(folder) / "class.json"
        ignored = shutil.ignore_patterns(".git", ".github")
        shutil.copytree(Path.cwd(), handed_in / "student", symlinks=True, ignore=ignored)
        with open(Path(folder) / "log", "w", encoding="utf-8") as log:
            run([program, "autograde", handed_in, lab, "--backend", BACKEND, "--json", result], stdout=log)
        convert = [program, "convert", result, "--student", "student", "--to"]
        run([*convert, "classroom50", "--committed", committed_at(), "--output", Path.cwd() / "result.json"])
        run([*convert, "github", "--output", Path.cwd() / "release-body.md"])


main()
