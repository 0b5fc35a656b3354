#!/usr/bin/env python3
# Holds the simulator's sectors a request against those that ncu took on a real GPU, access site by access site.
"""usage: sectors.py take FOLDER > TABLE.csv
       sectors.py check TABLE.csv BUILD

take: FOLDER holds, as data/measured/README.md says, ncu's source page of replayed calls: IMPL.CASE.csv.
check: grades the implementations on the simulator in BUILD, replays the same cases and compares. A site is
a source line of a kernel that loads, or one that stores; sites are numbered in the order of their lines, so
that a comment more or less changes nothing. Requests differ where ptxas hoists or repeats an access: the
table's last column says so, and only sectors a request are compared.
"""

import csv
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

COLUMNS = ["lab", "implementation", "case", "kernel", "site", "access", "requests", "sectors", "ideal_sectors", "note"]


def numbered(by_line):
    """{(kernel, line, access): counts} -> {(kernel, site, access): counts}, sites in the order of lines."""
    found = {}
    for access in ("load", "store"):
        for kernel in sorted({k for k, _, a in by_line if a == access}):
            lines = sorted(line for k, line, a in by_line if k == kernel and a == access)
            for site, line in enumerate(lines, 1):
                found[kernel, site, access] = by_line[kernel, line, access]
    return found


def of_ncu(path):
    counts = defaultdict(lambda: [0, 0, 0])
    kernel = header = line = None
    rows = [r for r in path.read_text().splitlines() if r.startswith('"')]
    for row in csv.reader(rows):
        if row[0] == "Function Name":
            kernel = row[1].split("(")[0].split("<")[0].replace("void ", "").strip()
        elif row[0] == "Line No":
            header = {name: i for i, name in reversed(list(enumerate(row)))}
        elif header and len(row) > 3:
            line = int(row[0]) if row[0].strip() else line
            if row[2].strip() in ("", "-") or "Global" not in row[header["Address Space"]]:
                continue
            names = ("Instructions Executed", "L2 Theoretical Sectors Global", "L2 Theoretical Sectors Global Ideal")
            for i, name in enumerate(names):
                counts[kernel, line, row[header["Access Operation"]].lower()][i] += int(float(row[header[name]]))
    return numbered(counts)


def of_simulator(text):
    counts = defaultdict(lambda: [0, 0, 0])
    for kernel in json.loads(text)["kernels"]:
        for site in kernel["sites"]:
            for access in ("load", "store"):
                c = site["global_" + access]
                if c["requests"]:
                    values = (c["requests"], c["sectors"], c["ideal_sectors"])
                    key = kernel["kernel"], site["line"], access
                    counts[key] = [x + y for x, y in zip(counts[key], values)]
    return numbered(counts)


def take(folder):
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(COLUMNS)
    for path in sorted(folder.glob("*.csv")):
        implementation, lab, case = path.stem.split(".")
        for (kernel, site, access), counts in sorted(of_ncu(path).items()):
            table.writerow([lab, implementation, case, kernel, site, access, *counts, ""])


def check(table, build):
    rows = list(csv.DictReader(table.open()))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        seen = {}
        for row in rows:
            lab, implementation = row["lab"], row["implementation"]
            folder = Path(scratch, lab, implementation)
            worker = str(build / f"{lab}.{implementation}.sim")
            if not folder.exists():
                grader = [str(build / f"grade.{lab}"), "--backend", "sim", "--worker", worker]
                grader += ["--naive", str(build / f"{lab}.naive.sim"), "--submission", implementation]
                subprocess.run(grader + ["--keep-replays", "--replay-dir", str(folder), "--quiet"], check=False)
            replay = folder / f"{lab}.{row['case']}.replay"
            if replay not in seen:
                said = subprocess.run([worker, "--replay", str(replay)], check=True, capture_output=True, text=True)
                seen[replay] = of_simulator(said.stdout.split("\n", 1)[1])
            got = seen[replay].get((row["kernel"], int(row["site"]), row["access"]))
            want = int(row["sectors"]) / int(row["requests"])
            if row["note"].startswith("not on the simulator"):
                continue
            if got and got[1] / got[0] == want:
                passed += 1
            else:
                failed += 1
                print(f"{implementation}, {row['case']}: {row['kernel']}, {row['access']} {row['site']}: ncu "
                      f"{want:.4f} sectors a request, the simulator {got[1] / got[0] if got else 'none'}")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "take":
        take(Path(sys.argv[2]))
    elif len(sys.argv) == 4 and sys.argv[1] == "check":
        sys.exit(check(Path(sys.argv[2]), Path(sys.argv[3])))
    else:
        sys.exit(__doc__)
