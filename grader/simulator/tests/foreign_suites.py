#!/usr/bin/env python3
# Runs public suites of CUDA and PTX programs on the simulator and compares what comes of each with a list.
"""usage: foreign_suites.py FOLDER BUILD [SUITE...] [--record]

FOLDER holds checkouts: ZLUDA, ScoR, Indigo3Suite, cuda-samples; nothing of them stands in this repository. BUILD is a
folder of the build, build/grader/simulator, with libcudasim.a and run_ptx. Without SUITE all run whose checkouts are there.

One process runs at a time, with a limit in seconds of one core. Results are kept in BUILD/foreign for the simulator
that gave them, so that a run that was cut off goes on where it stopped. Exit status 1: something differs from
foreign_suites.csv, beside this file; --record writes it, and keeps the reason of each row whose result stays.
"""

import ast
import csv
import hashlib
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST = HERE / "foreign_suites.csv"
COLUMNS = ["suite", "revision", "path", "expected", "our result", "why"]
NVCC = os.environ.get("NVCC", "nvcc")
FLAGS = ["-lineinfo", "-no-compress", "-w", "-O2", "-gencode=arch=compute_80,code=compute_80"]
SECONDS = 60  # of one core, that a program may take
MOST_MEMORY = 4 << 30  # that it may hold
MOST_OUTPUT = 4 << 20  # that it may print; the simulator's own files are larger than any limit of the system's


def resident_bytes(pid):
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):  # it has ended
        return 0


def limited(command, seconds=SECONDS, **options):
    """Its exit status, or None when it ran past its time or its memory; and what it printed first.

    Programs with a planted bug may print without end: what they print goes to a file, and they end when it is large.
    """
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, preexec_fn=limit, **options)
        end = time.monotonic() + 20 * seconds
        while child.poll() is None:
            if (time.monotonic() > end or resident_bytes(child.pid) > MOST_MEMORY
                    or os.fstat(out.fileno()).st_size > MOST_OUTPUT):
                child.kill()
                child.wait()
            time.sleep(0.02)
        out.seek(0)
        text = out.read(MOST_OUTPUT).decode(errors="replace")
    ended_by_limit = child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return None if ended_by_limit else child.returncode, text


def shortened(text, most=160):
    """Its first words, with files by their names alone."""
    return re.sub(r"/[\w+./-]+/([\w+.-]+)", r"\1", " ".join(text.split()))[:most]


class Build:
    """Programs compiled by nvcc and linked to the simulator; objects are kept."""

    # A random schedule where SCHEDULE_SEED says so: programs of others do not ask for one.
    SCHEDULED = """#include <cstdint>
#include <cstdlib>
extern "C" void simulator_schedule(int, std::uint64_t);
static const bool scheduled = [] {
    if (const char *seed = std::getenv("SCHEDULE_SEED")) simulator_schedule(1, std::strtoull(seed, nullptr, 10));
    return true;
}();
"""

    def __init__(self, folder):
        self.simulator = folder / "libcudasim.a"
        self.run_ptx = folder / "run_ptx"
        self.at = folder / "foreign"
        self.at.mkdir(exist_ok=True)
        self.digest = hashlib.sha256(self.simulator.read_bytes() + self.run_ptx.read_bytes()).hexdigest()[:16]
        (self.at / "scheduled.cpp").write_text(self.SCHEDULED)
        subprocess.run(["g++", "-c", self.at / "scheduled.cpp", "-o", self.at / "scheduled.o"], check=True)

    def program(self, name, sources, flags=(), rdc=False):
        """The path of a program, or None and what the compiler said."""
        folder = self.at / name
        folder.mkdir(parents=True, exist_ok=True)
        objects = []
        for source in sources:
            key = hashlib.sha256(Path(source).read_bytes() + repr(flags).encode()).hexdigest()[:12]
            made = folder / f"{Path(source).stem}.{key}.o"
            if not made.exists():
                machine = ["-rdc=true", "-gencode=arch=compute_80,code=sm_80"] if rdc else []
                status, text = limited([NVCC, "-c", *FLAGS, *machine, *flags, source, "-o", made], 600)
                if status != 0:
                    return None, text
            objects.append(made)
        if rdc:
            linked = folder / "linked.o"
            status, text = limited([NVCC, "-dlink", *FLAGS, "-gencode=arch=compute_80,code=sm_80", *objects,
                                    "-o", linked, "-lcudadevrt"], 600)
            if status != 0:
                return None, text
            root = Path(shutil.which(NVCC)).resolve().parents[1]
            objects += [linked, next(root.rglob("libcudadevrt.a"))]
        status, text = limited(["g++", *objects, self.at / "scheduled.o", self.simulator, "-pthread", "-ldl", "-lrt",
                                "-fopenmp", "-o", folder / "program"], 600)
        return (None, text) if status != 0 else (folder / "program", "")


def findings(text):
    """The simulator's lines that are faults: neither failed calls nor refused launches."""
    lines = re.findall(r"^simulator: (.*)$", text, re.M)
    return [x for x in lines if not x.startswith(("call failed", "launch refused", "older value", "races not looked"))]


# ---- ZLUDA: single instructions as bare PTX ----

RUST_TYPES = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q",
              "f16": "e", "f32": "f", "f64": "d"}


def rust_value(text):
    """The value of a Rust expression as the suite's macros have them, and its type, None where it has no suffix."""
    text = text.strip().replace("_", "") if "::" not in text else text.strip()
    if m := re.fullmatch(r"half::f16::NAN\.to_bits\(\)", text):
        return 0x7e00, "u16"
    if m := re.fullmatch(r"(?:half::)?(f16|f32)::from_bits\((\w+)\)", text):
        kind = m[1]
        bits = int(m[2], 0)
        return struct.unpack("<" + RUST_TYPES[kind], bits.to_bytes(struct.calcsize(RUST_TYPES[kind]), "little"))[0], kind
    if m := re.fullmatch(r"half::f16::from_f\d\d\((.*)\)", text):
        return float(m[1]), "f16"
    if m := re.fullmatch(r"(?:half::)?([iuf]\d+)::(MIN|MAX|max_value\(\)|NAN|INFINITY|NEG_INFINITY)", text):
        if m[1][0] == "f":
            return {"NAN": math.nan, "INFINITY": math.inf, "NEG_INFINITY": -math.inf}[m[2]], m[1]
        bits = int(m[1][1:])
        high = 2 ** bits - 1 if m[1][0] == "u" else 2 ** (bits - 1) - 1
        return (0 if m[1][0] == "u" else -high - 1) if m[2] == "MIN" else high, m[1]
    if m := re.fullmatch(r"std::f32::consts::PI(?: */ *2f32)?", text):
        return (math.pi / 2 if "/" in text else math.pi), "f32"
    m = re.fullmatch(r"(-?)(0x[0-9a-fA-F]+?|0b[01]+?|[\d.]+?)([iuf](?:8|16|32|64))?", text)
    if m is None:
        raise ValueError(f"not understood: {text}")
    value = float(m[2]) if "." in m[2] or (m[3] or "").startswith("f") else int(m[2], 0)
    return (-value if m[1] else value), m[3] or (None if "." not in m[2] else "float")


def rust_array(text):
    """Values and their type, of `[1u32, 2u32]`."""
    parts = [p for p in re.sub(r"\s+", " ", text).strip()[1:-1].split(",") if p.strip()]
    pairs = [rust_value(p) for p in parts]
    kinds = [k for _, k in pairs if k not in (None, "float")]
    kind = kinds[0] if kinds else "f64" if any(k for _, k in pairs) else "i32"
    return [v for v, _ in pairs], kind


def packed(values, kind):
    if kind[0] == "f":
        return struct.pack(f"<{len(values)}{RUST_TYPES[kind]}", *values)
    size = struct.calcsize(RUST_TYPES[kind])
    return b"".join((int(v) % 256 ** size).to_bytes(size, "little") for v in values)


def same_values(left, right, kind):
    if kind[0] != "f":
        return left == right
    shape = f"<{len(left) // struct.calcsize(RUST_TYPES[kind])}{RUST_TYPES[kind]}"
    return struct.unpack(shape, left) == struct.unpack(shape, right)


def zluda(checkout, build):
    folder = checkout / "ptx/src/test/spirv_run"
    text = re.sub(r"//[^\n]*", "", (folder / "mod.rs").read_text())
    for macro, body in re.findall(r"^(test_ptx(?:_with_32|_warp)?)!\((.*?)\);", text, re.M | re.S):
        name, _, values = body.partition(",")
        arrays = re.findall(r"\[[^\]]*\]", values)
        if not arrays:
            continue  # the suite only compiles it
        name = name.strip()

        def run(name=name, arrays=arrays, warp=macro == "test_ptx_warp"):
            expected, kind = rust_array(arrays[-1])
            wanted = packed(expected, kind)
            given = "-" if warp else packed(*rust_array(arrays[0])).hex()
            status, said = limited([build.run_ptx, folder / f"{name}.ptx", name, "64" if warp else "1", given,
                                    str(len(wanted))])
            if status is None:
                return "timeout", ""
            if status != 0:
                return "crashed", shortened(said)
            got, *rest = said.split("\n")
            rest = [line for line in rest if line]
            why = shortened(" ".join(rest))
            if any(line.startswith("ended: ") for line in rest):
                # An error of CUDA's other than cudaErrorNotSupported is one that a right program has not.
                return "refused" if why.startswith("ended: 801") or not why[7].isdigit() else "failed", why
            if not same_values(bytes.fromhex(got), wanted, kind):
                return "wrong", shortened(f"{got} instead of {wanted.hex()}")
            return ("finding", why) if rest else ("right", "")
        yield f"ptx/src/test/spirv_run/{name}.ptx", "right", run


# ---- ScoR: races between scopes ----

def scor(checkout, build):
    for form in ("as published", "without volatile"):
        for source in sorted((checkout / "microbenchmarks/src").glob("*.cu")):
            racy = source.name.startswith("race_")

            def run(source=source, form=form):
                text = source.read_text()
                if form == "without volatile":
                    text = re.sub(r"\bvolatile\b", "", text)
                copy = build.at / "scor" / form.replace(" ", "_") / source.name
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(text)
                program, said = build.program(f"scor/{form.replace(' ', '_')}/{source.stem}", [copy])
                if program is None:
                    return "not built", shortened(said)
                for seed in [None, *range(1, 21)]:
                    env = dict(os.environ) | ({} if seed is None else {"SCHEDULE_SEED": str(seed)})
                    status, said = limited([program], env=env)
                    if found := findings(said):
                        races = [line for line in found if line.startswith("race")]
                        return "race" if races else "finding", shortened((races or found)[0])
                    if status != 0:
                        return "failed", shortened(said)
                return "none", ""
            yield f"microbenchmarks/src/{source.name} {form}", "race" if racy else "none", run


# ---- Indigo3: graph algorithms with planted bugs ----

def indigo(checkout, build):
    """60 of the codes that the suite's generator makes, with one bug or none, drawn by a fixed seed."""
    made = build.at / "indigo"
    if not (made / "generatedCodes").exists():
        shutil.copytree(checkout, made, ignore=shutil.ignore_patterns(".git"), dirs_exist_ok=True)
        settings = made / "codeGen/configure.txt"
        settings.write_text(re.sub(r"\{nobug\}\s*$", "{all}", settings.read_text(), flags=re.M))
        for header in (made / "lib").glob("*_cuda.h"):  # CUDA 13 no longer has the clocks that they print
            header.write_text(re.sub(r"\.(memoryClockRate|clockRate)\b", ".multiProcessorCount", header.read_text()))
        subprocess.run([sys.executable, "generate_all_codes.py", "cuda"], cwd=made, check=True, capture_output=True)

    def bugs(name):
        return [part for part in name.split("_") if re.fullmatch(r"(?!No)\w*Bug\d*", part)]
    sources = sorted((made / "generatedCodes").rglob("*.cu"), key=lambda source: source.name)
    drawn = random.Random(1).sample([source for source in sources if len(bugs(source.stem)) < 2], 60)
    for source in sorted(drawn, key=lambda source: source.name):

        def run(source=source):
            program, said = build.program(f"indigo-programs/{source.stem}", [source], ["-I" + str(made / "lib")])
            if program is None:
                return "not built", shortened(said)
            status, said = limited([program, made / "inputs/undirect_power_law_250n_2200e.egr", "1", "0"])
            if found := findings(said):
                return "found", shortened(found[0])
            if status is None:
                return "timeout", ""
            return ("none", "") if status == 0 else ("failed", shortened(said))
        planted = bugs(source.stem)
        yield source.name, "none" if not planted else "timeout" if planted == ["LivelockBug"] else "found", run


# ---- cuda-samples: NVIDIA's, those that need nothing but the runtime ----

BEYOND_THE_RUNTIME = re.compile(r"CUDA::|OpenGL|GLUT|Vulkan|D3D|EGL|find_package\(MPI")


def samples(checkout, build):
    arguments = json.loads((checkout / "test_args.json").read_text())
    for folder in sorted((checkout / "Samples").glob("[02356]_*/*")):
        lists = folder / "CMakeLists.txt"
        text = lists.read_text() if lists.exists() else ""
        named = re.search(r"add_executable\(\S+\s+([^)]*)\)", text)
        if named is None or BEYOND_THE_RUNTIME.search(text):
            continue

        def run(folder=folder, names=named[1].split()):
            work = build.at / "samples" / folder.name
            if not work.exists():
                shutil.copytree(folder, work)
            sources = [next(p for p in (work / n, folder / n, checkout / "Common" / Path(n).name) if p.exists())
                       for n in names if n.endswith((".cu", ".cpp", ".c"))]
            flags = ["-std=c++17", "--extended-lambda", "-I" + str(checkout / "Common"), "-I" + str(work)]
            flags += [f"-I{work / 'inc'}"] if (work / "inc").is_dir() else []
            program, said = build.program(f"samples-programs/{folder.name}", sources, flags, "cdp" in folder.name)
            if program is None:
                return "not built", shortened(said[max(said.find("error"), 0):])
            status, said = limited([program, *arguments.get(folder.name, {}).get("args", [])], cwd=work)
            found = findings(said)
            if refusals := [line for line in found if line.startswith("unsupported")]:
                return "refused", shortened(refusals[0])
            if found:
                return "finding", shortened(found[0])
            if status is None:
                return "timeout", ""
            return {0: "ran", 2: "waived"}.get(status, "failed"), shortened(said[-160:])
        yield folder.relative_to(checkout).as_posix(), "ran", run


SUITES = {"ZLUDA": zluda, "ScoR": scor, "Indigo3Suite": indigo, "cuda-samples": samples}


# ---- the list ----

class Kept:
    """Results of this simulator so far."""

    def __init__(self, build):
        self.path = build.at / f"results.{build.digest}.jsonl"
        self.rows = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                suite, revision, path, result, why = json.loads(line)
                self.rows[suite, revision, path] = result, why

    def add(self, suite, revision, path, result, why):
        self.rows[suite, revision, path] = result, why
        with self.path.open("a") as out:
            out.write(json.dumps([suite, revision, path, result, why]) + "\n")


def revision_of(checkout):
    return subprocess.run(["git", "-C", checkout, "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True,
                          check=True).stdout.strip()


def read_list():
    if not LIST.exists():
        return []
    with LIST.open(newline="") as file:
        return list(csv.DictReader(file))


def run_suite(suite, checkout, build, kept):
    revision = revision_of(checkout)
    rows = []
    for path, expected, run in SUITES[suite](checkout, build):
        if (suite, revision, path) not in kept.rows:
            kept.add(suite, revision, path, *run())
        result, why = kept.rows[suite, revision, path]
        why = "" if result == expected else why
        rows.append(dict(zip(COLUMNS, (suite, revision, path, expected, result, why))))
    return rows


def main():
    words = [w for w in sys.argv[1:] if w != "--record"]
    if len(words) < 2:
        sys.exit(__doc__)
    folder, build = Path(words[0]).resolve(), Build(Path(words[1]).resolve())
    kept, listed, differing = Kept(build), read_list(), 0
    for suite in words[2:] or [s for s in SUITES if (folder / s).is_dir()]:
        rows = run_suite(suite, folder / suite, build, kept)
        old = {row["path"]: row for row in listed if row["suite"] == suite}
        for row in rows:
            was = old.pop(row["path"], None)
            if was is not None and was["our result"] == row["our result"]:
                row["why"] = was["why"] if row["why"] else ""
            else:
                differing += 1
                print(f"{suite} {row['path']}: {row['our result']}, listed: {was and was['our result']}; {row['why']}")
        for path in old:
            differing += 1
            print(f"{suite} {path}: listed, and no longer there")
        good = sum(row["expected"] == row["our result"] for row in rows)
        print(f"{suite}: {good} of {len(rows)} as expected")
        listed = [row for row in listed if row["suite"] != suite] + rows
    if "--record" in sys.argv:
        listed.sort(key=lambda row: list(SUITES).index(row["suite"]))
        with LIST.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(listed)
        return 0
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
