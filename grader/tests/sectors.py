#!/usr/bin/env python3
# Compares the simulator's sectors per request with ncu's on a real GPU, access site by access site.
"""usage: sectors.py take FOLDER [TABLE.csv] > NEW_TABLE.csv
       sectors.py check TABLE.csv BUILD

take: FOLDER holds, as data/measured/README.md says, ncu's source page of replayed calls: IMPL.LAB.CASE.csv.
TABLE.csv's rows of other calls are kept, in front.
check: grades solutions on the simulator in BUILD, replays their calls with each implementation and compares. A site is
a source line of a kernel that loads, or one that stores; sites are numbered in the order of their lines, so
that a comment more or less changes nothing. Requests differ where ptxas hoists or duplicates an access, or predicates
it, so that a warp without active lanes executes it, too: so sectors, or sectors per request, must be equal. The
table's last column says why a row is not compared.
"""

import csv
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

SEED = "7"  # of the inputs, on which a kernel's accesses can depend
LAYOUTS = {"03_aos_soa"}  # labs whose implementations choose the layout of their data
COLUMNS = ["lab", "implementation", "case", "kernel", "site", "access", "requests", "sectors", "ideal_sectors", "note"]


def bare(kernel):
    return kernel.split("(")[0].split("<")[0].replace("void ", "").strip()


def numbered(by_line):
    """Maps {(kernel, line, access): counts} to {(kernel, site, access): counts}, with sites in the order of lines."""
    found = {}
    for access in ("load", "store"):
        for kernel in sorted({k for k, _, a in by_line if a == access}):
            lines = sorted(line for k, line, a in by_line if k == kernel and a == access)
            for site, line in enumerate(lines, 1):
                found[kernel, site, access] = by_line[kernel, line, access]
    return found


def lines_of(listed):
    """Maps {address: (file, line) pairs that list it} to {address: line of the .cu file}.

    An inlined instruction is listed in every line of its call stack. A function stands above its callers, so the
    first of these lines holds the access. A helper of CUDA's headers that ptxas copied may be listed only in the
    header: it belongs to the line of the helper's other copies."""
    lines = {a: min(line for file, line in places if file.endswith(".cu"))
             for a, places in listed.items() if any(file.endswith(".cu") for file, _ in places)}
    helpers = {place: lines[a] for a, places in listed.items() if a in lines for place in places}
    for a, places in listed.items():
        for place in sorted(places):
            if a not in lines and place in helpers:
                lines[a] = helpers[place]
    return lines


def launches_of(path):
    """Yields (kernel, {address: places}, {address: (access, counts)}) of each launch.

    A launch is listed once per source file of its code; a repeated file begins the kernel's next launch.
    Launches by kernels are profiled with the launch by the host, file by file."""
    source = header = function = None
    files, listed, values = defaultdict(set), {}, {}
    rows = [r for r in path.read_text().splitlines() if r.startswith('"')]
    for row in csv.reader(rows):
        if row[0] == "File Path":
            source = row[1]
        elif row[0] == "Function Name":
            function = row[1]
            if source in files[function]:
                yield bare(function), listed[function], values[function]
                files[function].clear()
            if not files[function]:
                listed[function], values[function] = defaultdict(set), {}
            files[function].add(source)
        elif row[0] == "Line No":
            header = {name: i for i, name in reversed(list(enumerate(row)))}
        elif header and len(row) > 3:
            line = int(row[0]) if row[0].strip() else line
            address = row[2].strip()
            if address in ("", "-"):
                continue
            listed[function][address].add((source, line))
            if "Global" not in row[header["Address Space"]]:
                continue
            names = ("Instructions Executed", "L2 Theoretical Sectors Global", "L2 Theoretical Sectors Global Ideal")
            access = row[header["Access Operation"]].lower().split(",")[0]  # cp.async: "Load,Store"
            values[function][address] = access, [int(float(row[header[name]])) for name in names]
    for function in files:
        yield bare(function), listed[function], values[function]


def of_ncu(path):
    counts = defaultdict(lambda: [0, 0, 0])
    for kernel, listed, values in launches_of(path):
        lines = lines_of(listed)
        for address, (access, more) in values.items():
            key = kernel, lines[address], access
            counts[key] = [x + y for x, y in zip(counts[key], more)]
    return numbered(counts)


def of_simulator(text):
    counts = defaultdict(lambda: [0, 0, 0])
    for kernel in json.loads(text)["kernels"]:
        for site in kernel["sites"]:
            for access in ("load", "store"):
                c = site["global_" + access]
                if c["requests"]:
                    values = (c["requests"], c["sectors"], c["ideal_sectors"])
                    key = bare(kernel["kernel"]), site["line"], access
                    counts[key] = [x + y for x, y in zip(counts[key], values)]
    return numbered(counts)


def take(folder, earlier):
    taken = {path: path.stem.split(".") for path in sorted(folder.glob("*.csv"))}
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in csv.reader(earlier.read_text().splitlines()[1:] if earlier else []):
        if [row[1], row[0], row[2]] not in taken.values():
            table.writerow(row)
    for path, (implementation, lab, case) in taken.items():
        for (kernel, site, access), counts in sorted(of_ncu(path).items()):
            table.writerow([lab, implementation, case, kernel, site, access, *counts, ""])


def check(table, build):
    rows = list(csv.DictReader(table.open()))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        seen = {}
        for row in rows:
            lab, implementation = row["lab"], row["implementation"]
            giver = implementation if lab in LAYOUTS else "solution"  # without layouts all get the same call
            folder = Path(scratch, lab, giver)
            if not folder.exists():
                request = {"backend": "sim", "submission": giver, "worker": str(build / f"{lab}.{giver}.sim"),
                           "naive": str(build / f"{lab}.naive.sim"), "seed": SEED, "kind": "speed",
                           "keep_replays": True, "replays": str(folder)}
                subprocess.run([build / f"grade.{lab}"], input=json.dumps(request), text=True,
                               stdout=subprocess.DEVNULL, check=False)
            worker = str(build / f"{lab}.{implementation}.sim")
            call = worker, str(folder / f"{lab}.{row['case']}.replay")
            if call not in seen:
                said = subprocess.run([worker, "--replay", call[1]], check=True, capture_output=True, text=True)
                seen[call] = of_simulator(said.stdout.split("\n", 1)[1])
            got = seen[call].get((row["kernel"], int(row["site"]), row["access"]))
            want = int(row["requests"]), int(row["sectors"])
            if row["note"].startswith(("not on the simulator", "not compared")):
                continue
            if got and (got[1] == want[1] or got[1] / got[0] == want[1] / want[0]):
                passed += 1
            else:
                failed += 1
                print(f"{implementation}, {row['case']}: {row['kernel']}, {row['access']} {row['site']}: ncu "
                      f"{want[1]} sectors in {want[0]} requests, the simulator "
                      f"{f'{got[1]} in {got[0]}' if got else 'none'}")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    if len(sys.argv) in (3, 4) and sys.argv[1] == "take":
        take(Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) == 4 else None)
    elif len(sys.argv) == 4 and sys.argv[1] == "check":
        sys.exit(check(Path(sys.argv[2]), Path(sys.argv[3])))
    else:
        sys.exit(__doc__)
