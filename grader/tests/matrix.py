#!/usr/bin/env python3
# Grades all right submissions with several inputs and schedules and shows that they pass.
"""usage: matrix.py RESULTS.csv [--build BUILD] [--seeds N] [LAB...]

Grades each lab's solution and the files in its folder right/ on the simulator, with the seeds 1 to N (4) and each
schedule, and appends a row to RESULTS.csv after each grade. A file that has a row there is not graded again, unless it
or the lab's contract or grader changed since: stop it at any time and give the same command to go on. It takes hours on
two cores, so no test calls it; run it before a release. It ends with the rows that did not pass, and with status 1 if
there are any.
"""

import argparse
import csv
import hashlib
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SCHEDULES = ["index", "random", "late"]
KEY = ["lab", "submission", "sources", "seed", "schedule"]
COLUMNS = [*KEY, "status", "points", "failed"]


def sources_of(lab, path):
    """Returns a digest of this file and of the lab's contract and grader, not of its oracle or the grader's library."""
    digest = hashlib.sha256()
    for file in [path, *sorted((TOP / "labs" / lab).glob("*.?pp"))]:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def right_ones(lab):
    folder = TOP / "solutions" / lab
    # Leave out naive and the lower rungs, which miss gates; `check` tests that.
    return [folder / "solution.cu", *sorted((folder / "right").glob("*.cu"))]


def grade(build, lab, path, seed, schedule):
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [build / "cuda-workbook", "grade", lab, "--submission", path, "--backend", "sim", "--seed", str(seed),
                   "--schedule", schedule, "--json", result]
        done = subprocess.run(command, capture_output=True, text=True, cwd=TOP)
        if not result.exists():
            sys.exit(f"{' '.join(map(str, command))}\nwrote no result (status {done.returncode}):\n"
                     f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        graded = json.loads(result.read_text())["labs"][0]
    # Alternative right submissions may leave functions out, as `check` allows.
    fine = ["PASS", "SKIPPED"] + ["NOT_WRITTEN"] * (path.parent.name == "right")
    failed = [f"{c['name']}: {c['verdict']}" for c in graded["cases"] if c["verdict"] not in fine]
    return graded["status"] if failed else "pass", graded["points"], "; ".join(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--build", type=Path, default=TOP / "build")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("labs", nargs="*")
    given = parser.parse_intermixed_args()
    build = given.build.resolve()
    if not (build / "cuda-workbook").exists():
        sys.exit(f"There is no {build}/cuda-workbook. Build it: ./workbook doctor")
    names = sorted(p.name for p in (TOP / "solutions").iterdir() if (TOP / "labs" / p.name / "lab.hpp").exists())
    labs = [n for n in names if not given.labs or any(n.startswith(word) for word in given.labs)]
    if not labs:
        sys.exit(f"No lab begins with {' or '.join(given.labs)}. There are: {', '.join(names)}.")

    had = []
    if given.results.exists():
        with given.results.open(newline="") as file:
            had = list(csv.DictReader(file))
    rows = {tuple(r[k] for k in KEY): r for r in had}
    wanted = [(lab, path, seed, schedule) for seed in range(1, given.seeds + 1) for schedule in SCHEDULES
              for lab in labs for path in right_ones(lab)]
    keys = [(lab, path.stem, sources_of(lab, path), str(seed), schedule) for lab, path, seed, schedule in wanted]
    left = [(key, work) for key, work in zip(keys, wanted) if key not in rows]
    print(f"{len(keys)} grades, {len(left)} of them to do", flush=True)

    with given.results.open("a", newline="") as file, ThreadPoolExecutor(cpu_count()) as pool:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not had:
            table.writeheader()
        graded = pool.map(lambda item: grade(build, *item[1]), left)
        try:
            for i, ((key, _), got) in enumerate(zip(left, graded), 1):
                rows[key] = dict(zip(COLUMNS, [*key, *got]))
                table.writerow(rows[key])
                file.flush()
                if got[0] != "pass":
                    print(f"{i}/{len(left)} {' '.join(key)}: {got}", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            sys.exit(f"\nStopped; the same command goes on from {given.results}.")

    failed = [k for k in keys if rows[k]["status"] != "pass"]
    for key in failed:
        print("FAIL", *key, rows[key]["failed"])
    print(f"{len(keys) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
