#!/usr/bin/env python3
# Compares the simulator's results for every version of every lab on one core with those on three.
"""usage: cores_test.py BUILD"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def graded(build, lab, version, cores, folder):
    """Returns the verdicts and counters of a grade, without times and device addresses."""
    worker = build / f"{lab}.{version}.sim"
    result, counters = folder / "result.json", folder / "counters.json"
    request = {"backend": "sim", "worker": str(worker), "naive": str(build / f"{lab}.naive.sim"), "submission": version,
               "seed": "5", "result": str(result), "counters": str(counters)}
    subprocess.run([build / f"grade.{lab}"], input=json.dumps(request), text=True, stdout=subprocess.DEVNULL,
                   env=os.environ | {"SIMULATOR_CORES": str(cores)}, check=False)
    said = json.loads(result.read_text())
    for graded_lab in said["labs"]:
        for case in graded_lab["cases"]:
            del case["duration_ms"]
    return json.dumps(said, indent=1), re.sub(r'"first":\d+', '"first":0', counters.read_text())


def main():
    build = Path(sys.argv[1])
    workers = sorted(p for p in build.glob("*.*.sim") if p.is_file() and (build / f"grade.{p.name.split('.')[0]}").is_file())
    passed = failed = 0
    for worker in workers:
        lab, version, _ = worker.name.split(".")
        if not (Path(__file__).parents[3] / "labs" / lab).is_dir():
            continue
        with tempfile.TemporaryDirectory() as folder:
            one, three = (graded(build, lab, version, cores, Path(folder)) for cores in (1, 3))
        if one == three:
            passed += 1
        else:
            failed += 1
            print(f"FAILED {lab} {version}: three cores do not give what one gives")
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
