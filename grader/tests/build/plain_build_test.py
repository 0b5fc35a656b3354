#!/usr/bin/env python3
# Tests that each C++ source compiles by itself, without a warning, with both compilers and both versions of the libraries.
"""usage: plain_build_test.py TOOLCHAIN [backwards | plainly crosswise]

The workbook is a unity build; a plain `meson setup build` compiles the sources one by one. Unity files hide an include
or a `using` that a source lacks. Here each compiler configures a plain build and runs its commands with -fsyntax-only
-Werror. That shows all warnings but the optimiser's (maybe-uninitialized, stringop-*): for these, build by hand.

Set-up takes the libraries from the distribution or from the wheels that grader/build/wheels/headers.txt pins. The slow suite
compiles each source by clang with the wheels' headers (`plainly`) and by g++ with this build's headers. It compiles
sources that include one of the libraries also by g++ with the wheels' headers, which a user without packages has
(`crosswise`).

In every run (`backwards`) clang compiles the unity files with their sources in reverse order. A source that needs an
include or declaration of an earlier one then does not compile. That takes a quarter of the time and finds most errors,
but not a missing header that a later source includes, too.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import unittest
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from shared import BUILD, BUILD_ROOT, TOP, main, run

sys.path.insert(0, str(TOP / "grader/build"))
import fetch_headers  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
# Headers of others take most of the time. Sources that include the same of these share a precompiled header, which
# holds no header that one of them does not include by itself.
SLOW = ("nlohmann/json.hpp", "fmt/format.h", "doctest/doctest.h", "functional")


def find_compiler(names, macro, minimum):
    """Returns the first of `names` whose version, in `macro`, is at least `minimum`; or None."""
    for name in filter(shutil.which, names):
        said = run(name, "-E", "-P", "-x", "c++", "-", input=macro).stdout
        if said.strip().isdigit() and int(said) >= minimum:
            return name
    return None


def gcc():
    # clang also defines __GNUC__, as 4.
    return find_compiler(["g++", *(f"g++-{version}" for version in range(12, 16))], "__GNUC__", 12)


def clang():
    return find_compiler(["clang++", *(f"clang++-{version}" for version in range(14, 21))], "__clang_major__", 14)


@cache
def wheel_headers():
    """Returns the folder of the wheels' headers, fetched once per build and set of pins."""
    pins = hashlib.sha256(fetch_headers.PINS.read_bytes()).hexdigest()[:12]
    folder = BUILD_ROOT / f"wheel_headers-{pins}"
    if not all((folder / library).is_dir() for library in fetch_headers.LIBRARIES):
        fetch_headers.fetch(folder)
    return folder


@cache
def configured(compiler, *options):
    """Returns the compile commands of a build folder: [(its folder, the arguments, [sources of ours])]."""
    build = BUILD_ROOT / "plain" / "-".join([Path(compiler).name, *options])
    shutil.rmtree(build, ignore_errors=True)
    made = run("meson", "setup", build, TOP, f"-Dnvcc={BUILD['nvcc']}", *options, env={**os.environ, "CXX": compiler})
    if made.returncode != 0:
        raise AssertionError(f"meson setup with {compiler} fails:\n{made.stdout[-3000:]}{made.stderr[-3000:]}")
    compiled = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = (build / entry["file"]).resolve()
        arguments = shlex.split(entry["command"])
        del arguments[arguments.index("-o"):]  # the output, -c and the source come last
        for option in ("-MQ", "-MF"):
            place = arguments.index(option)
            del arguments[place:place + 2]
        arguments = [a for a in arguments if a != "-MD" and not a.startswith(("-O", "-fcolor", "-fdiagnostics-color"))]
        # A unity file includes its sources; tests are always joined.
        joined = INCLUDE.findall(source.read_text()) if source.name.endswith("-unity0.cpp") else [('"', str(source))]
        paths = [(build / name).resolve() for _, name in joined]
        ours = [path for path in paths if TOP in path.parents and BUILD_ROOT not in path.parents]
        compiled.append((build, arguments, ours))
    return compiled


def one_by_one(compiler):
    """Returns {source: (folder, arguments)} of a plain build folder."""
    commands = {}
    for build, arguments, sources in configured(compiler):
        for source in sources:
            commands.setdefault(source, (build, arguments))
    return commands


@cache
def text_includes(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace"))


def reached(source, folders):
    """Returns the headers in angle brackets that a source includes, directly or through our own headers."""
    found, seen, left = set(), set(), [source]
    while left:
        path = left.pop()
        if path in seen:
            continue
        seen.add(path)
        for bracket, name in text_includes(path):
            here = next((p for p in (folder / name for folder in (path.parent, *folders)) if p.is_file()), None)
            if here and bracket == '"':
                left.append(here.resolve())
            else:
                found.add(name)
    return found


class compiling(unittest.TestCase):

    def precompiled(self, compiler, build, flags, headers):
        """Returns the options that include `headers`, precompiled with `flags`."""
        text = "".join(f"#include <{name}>\n" for name in sorted(headers))
        folder = build / f"precompiled-{hashlib.sha256(repr((flags, text)).encode()).hexdigest()[:12]}"
        folder.mkdir()
        self.addCleanup(shutil.rmtree, folder)  # a precompiled header of g++ takes up to 100 MB
        header = folder / "common.hpp"
        header.write_text(text)
        made = run(compiler, *flags, "-x", "c++-header", header, "-o", f"{header}.gch", cwd=build)
        self.assertEqual(made.returncode, 0, made.stderr[:4000])
        return ["-include", str(header)]

    def check(self, compiler, wheels, reaching=()):
        """Compiles our sources, or those that include one of `reaching`."""
        more = ["-isystem", str(wheel_headers()), "-DFMT_HEADER_ONLY"] if wheels else []
        jobs, groups = [], defaultdict(list)
        for source, (build, arguments) in sorted(one_by_one(compiler).items()):
            includes = reached(source, [build / a[2:] for a in arguments if a.startswith("-I")])
            if reaching and not any(name.startswith(reaching) for name in includes):
                continue
            # Precompiled headers are only for the flags that they were compiled with.
            flags = tuple(dict.fromkeys(a for a in arguments[1:] if not a.startswith("-I")))
            group = flags, tuple(name for name in SLOW if name in includes)
            # A precompiled header would come before macros that a source defines first.
            first = re.search(r"^\s*#\s*(include|define)", source.read_text(encoding="utf-8"), re.M)
            if first and first[1] == "define":
                group = None
            else:
                groups[group].append(includes)
            jobs.append((source, build, arguments, group))
        self.assertGreater(len(jobs), 50, "the build's commands name next to none of our sources")

        def compile_one(job):
            source, build, arguments, group = job
            made = run(*arguments[:1], *more, *arguments[1:], *headers.get(group, []), "-Werror", "-fsyntax-only", source,
                       cwd=build)
            return source, made.stderr if made.returncode or made.stderr else ""

        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            worth_it = [group for group, members in groups.items() if len(members) > 4]
            headers = dict(zip(worth_it, pool.map(
                lambda group: self.precompiled(compiler, jobs[0][1], [*more, *group[0]], set.intersection(*groups[group])),
                worth_it)))
            failed = [(source, words) for source, words in pool.map(compile_one, jobs) if words]
        whose = "the wheels'" if wheels else "this build's"
        report = "\n".join(f"{source.relative_to(TOP)}:\n{words[:2000]}" for source, words in failed[:8])
        self.assertFalse(failed, f"{len(failed)} of {len(jobs)} sources do not compile by themselves, without a warning, "
                                 f"with {compiler} and {whose} headers:\n{report}")

    def need(self, found, name):
        return found or self.skipTest(f"{name} is not installed")

    def has_wheels(self):
        try:
            return wheel_headers()
        except subprocess.CalledProcessError as error:
            self.assertNotIn("DO NOT MATCH THE HASHES", error.output)  # unlike a missing network, this is our fault
            return None


class backwards(compiling):
    def test_joined_with_the_last_source_first(self):
        compiler = clang() or self.need(gcc(), "g++ 12 or newer")
        jobs, joined_before = [], set()
        for build, arguments, sources in configured(compiler, "-Dunity=on", "-Dunity_size=100"):
            # Few sources hide little. Lanes are joined for each set of instructions, and the slow suite compiles
            # each source of a test by itself.
            if len(sources) > 4 and tuple(sources) not in joined_before and "grader/tests" not in str(sources[0]):
                joined_before.add(tuple(sources))
                joined = build / f"backwards-{len(jobs)}.cpp"
                joined.write_text("".join(f'#include "{source}"\n' for source in reversed(sources)))
                jobs.append((build, [*arguments, "-Werror", "-fsyntax-only", str(joined)]))
        self.assertGreater(len(jobs), 7, "the build joins next to none of our sources")
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            made = list(pool.map(lambda job: run(*job[1], cwd=job[0]), jobs))
        failed = [done.stderr[:2000] for done in made if done.returncode or done.stderr]
        self.assertFalse(failed, f"{len(failed)} of {len(jobs)} joins do not compile with the last source first, by {compiler}; "
                                 "the first source that is named lacks an include or a declaration:\n" + "\n".join(failed[:4]))


class plainly(compiling):
    def test_with_clang_and_the_headers_of_the_wheels_where_there_are_such(self):
        compiler = clang() or self.need(gcc(), "g++ 12 or newer")
        self.check(compiler, wheels=bool(self.has_wheels()))


class crosswise(compiling):
    def test_with_gcc_and_the_headers_of_this_build(self):
        self.check(self.need(gcc(), "g++ 12 or newer"), wheels=False)

    def test_with_gcc_and_the_headers_of_the_wheels(self):
        compiler = self.need(gcc(), "g++ 12 or newer")
        self.need(self.has_wheels(), "what grader/build/wheels/headers.txt names: pip could not download it, so it")
        self.check(compiler, wheels=True, reaching=("fmt/", "nlohmann/", "doctest/", "CLI/"))


if __name__ == "__main__":
    main()
