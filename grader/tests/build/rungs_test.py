#!/usr/bin/env python3
# Tests compile.sh --rung and link_rung.sh: a rung's functions replace those below it, and no misspelt one slips through.
import os
import shlex

from shared import BUILD, BUILD_ROOT, TOP, in_a_folder, main, run

COMPILE = TOP / "grader/build/compile.sh"
LINK = TOP / "grader/build/link_rung.sh"

CONTRACT = """int step(int x);
int steps(int x);
int steps_scratch(int x);
void mark(int *at);
void mark_twice(int *at);
"""
KEPT = "_Z4stepi\n_Z5stepsi\n_Z13steps_scratchi\n_Z4markPi\n_Z10mark_twicePi\n"
# A compiler would inline step, fold it with steps_scratch, or give steps a clone of it.
NAIVE = """#include "lab.hpp"
static int used;
static __global__ void set(int *at) { at[0] = 1; }
static __global__ void add(int *at) { at[1] += 1; }
int step(int x) { return x + 1; }
int steps_scratch(int x) { return x + 1; }
int steps(int x) { used = 10; return step(step(x)) + used; }
void mark(int *at) { set<<<1, 1>>>(at); add<<<1, 1>>>(at); }
void mark_twice(int *at) { mark(at); add<<<1, 1>>>(at); }
"""
# It has kernels and a variable with the names of naive's.
FIRST = """#include "lab.hpp"
static int used = 2;
static __global__ void set(int *at) { at[0] = 3; }
static __global__ void add(int *at) { at[1] += 100; }
int step(int x) { return x * used; }
void mark(int *at) { set<<<1, 1>>>(at); add<<<1, 1>>>(at); }
"""
SECOND = """#include "lab.hpp"
int steps_scratch(int x) { return step(x) - 1; }
"""
PROGRAM = """#include "lab.hpp"
#include <cuda_runtime.h>
#include <cstdio>
int main()
{
    int *at, marks[2] = {};
    if (cudaMalloc(&at, sizeof marks) || cudaMemset(at, 0, sizeof marks)) return 1;
    mark_twice(at);
    if (cudaMemcpy(marks, at, sizeof marks, cudaMemcpyDefault)) return 1;
    std::printf("%d %d %d, %d %d\\n", step(5), steps(5), steps_scratch(5), marks[0], marks[1]);
}
"""


def ladder_flags():
    """Returns the flags with which the build compiles the objects of a ladder, without machine code, and as C++14,
    whose headers of CUDA's are half as long, and -O3, with which g++ inlines most."""
    lab = next(lab["lab"] for lab in BUILD["labs"] if lab["rungs"])
    command = run(BUILD["ninja"], "-C", BUILD_ROOT, "-t", "commands", f"{lab}.naive.o").stdout.splitlines()[-1]
    flags = shlex.split(command)
    flags = flags[flags.index(BUILD["nvcc"]) + 5:]
    assert "-O1" in flags, flags
    instead = {"-std=c++20": "-std=c++14", "-O1": "-O3"}
    return [instead.get(flag, flag) for flag in flags
            if "code=sm_" not in flag and not flag.startswith(("-I", "-rdc"))]


class rungs(in_a_folder):
    def setUp(self):
        super().setUp()
        if not any(lab["rungs"] for lab in BUILD["labs"]):
            self.skipTest("no lab of this edition has a ladder")
        self.put("lab.hpp", CONTRACT)
        self.put("kept", KEPT)

    def put(self, name, text):
        (self.folder / name).write_text(text)

    def compile(self, name, text, *flags):
        self.put(f"{name}.cu", text)
        rung = [] if name == "naive" else ["--rung"]
        return run(COMPILE, *rung, BUILD["nvcc"], f"{name}.cu", f"{name}.o", f"{name}.d", "kept", *ladder_flags(), *flags,
                   cwd=self.folder)

    def ladder(self, *flags):
        """Compiles three rungs and links each over the last; the upper one is second.linked.o."""
        for name, text in (("naive", NAIVE), ("first", FIRST), ("second", SECOND)):
            self.assertEqual(self.compile(name, text, *flags).stderr, "")
        for rung, below in (("first", "naive"), ("second", "first.linked")):
            result = run(LINK, f"{rung}.o", f"{below}.o", f"{rung}.linked.o", cwd=self.folder)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def program(self, object_, runtime):
        self.put("main.cpp", PROGRAM)
        result = run(*BUILD["cxx"], "main.cpp", object_, "-isystem" + BUILD["cuda_include"], runtime, *BUILD["link_flags"],
                     "-o", "program", cwd=self.folder)
        self.assertEqual(result.stderr, "")

    def said(self, object_):
        self.program(object_, BUILD["simulator_library"])
        result = run(self.folder / "program", env={**os.environ, "CUDASIM_DEVICE": str(BUILD_ROOT / "cudasim-device")})
        self.assertEqual(result.stderr, "")
        return result.stdout

    def test_a_rung_replaces_functions_that_the_one_below_calls(self):
        for flags in ((), ("-rdc=true",)):
            with self.subTest(flags=flags):
                self.ladder(*flags)
                # mark_twice is naive's, and so is the kernel that it launches; mark is the rung's, and so are its kernels.
                self.assertEqual(self.said("naive.o"), "6 17 6, 1 2\n")
                self.assertEqual(self.said("first.linked.o"), "10 30 6, 3 101\n")
                self.assertEqual(self.said("second.linked.o"), "10 30 9, 3 101\n")
                self.program("second.linked.o", BUILD["cudart_static"])

    def test_a_linked_rung_has_the_whole_contract_and_no_other_name(self):
        self.ladder()
        for name in ("first", "second"):
            listed = run("nm", "-g", "--defined-only", f"{name}.linked.o", cwd=self.folder).stdout.splitlines()
            # A weak function would give way to the worker's own for functions that an edition added.
            self.assertEqual({tuple(line.split()[1:]) for line in listed}, {("T", symbol) for symbol in KEPT.split()})

    def test_another_signature_is_refused(self):
        result = self.compile("first", FIRST + "int steps(long x) { return x; }\n")
        self.assertEqual(result.returncode, 3)
        self.assertIn("lab.hpp declares steps(int); first.cu does not define it\n", result.stderr)
        self.assertIn("it defines another function of that name: steps(long)\n", result.stderr)
        self.assertFalse((self.folder / "first.o").exists())

    def test_another_name_is_refused(self):
        for text in ("int stepps(int x) { return x; }\n", "__global__ void stepps(int) {}\n",
                     "namespace n { int stepps(int x) { return x; } }\n"):
            with self.subTest(text=text):
                result = self.compile("first", FIRST + text)
                self.assertEqual(result.returncode, 3)
                self.assertIn("stepps(int), which lab.hpp does not declare; correct its name or make it static\n", result.stderr)

    def test_a_rung_may_have_helpers(self):
        helpers = ("#include <vector>\nstatic int one() { return 1; }\ninline int two() { return one() + 1; }\n"
                   "template <class T> T three() { return T(two() + std::vector<T>(1).size()); }\n"
                   "namespace { int four() { return three<int>() + 1; } }\nint steps(int x) { return x + four(); }\n")
        for flags in ((), ("-rdc=true",)):
            self.assertEqual(self.compile("first", FIRST + helpers, *flags).stderr, "")

    def test_a_rung_without_any_function_is_refused(self):
        result = self.compile("first", '#include "lab.hpp"\n')
        self.assertEqual((result.returncode, result.stderr), (3, "first.cu defines none of lab.hpp's functions\n"))


if __name__ == "__main__":
    main()
