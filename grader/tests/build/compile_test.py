#!/usr/bin/env python3
# Tests compile.sh: the names that leave an object, its messages about missing functions, and that objects link.
import os

from shared import BUILD, TOP, in_a_folder, main, run

SCRIPT = TOP / "grader/build/compile.sh"

SCALE = """#include "lab.hpp"
__device__ int calls;
static __global__ void scale_all(float *data, int n) { if (threadIdx.x < n) data[threadIdx.x] *= 2; }
void helper() {}
int counter;
void scale(float *data, int n) { scale_all<<<1, 32>>>(data, n); }
"""
MACHINE_CODE = ["-gencode=arch=compute_80,code=sm_80"]
NESTED = """#include "lab.hpp"
static __global__ void child(float *data) { data[threadIdx.x] *= 2; }
static __global__ void parent(float *data, int n) { child<<<1, n>>>(data); }
void scale(float *data, int n) { parent<<<1, 1>>>(data, n); }
"""


class compiling(in_a_folder):
    def setUp(self):
        super().setUp()
        self.put("lab.hpp", "void scale(float *data, int n);\n")
        self.put("kept", "_Z5scalePfi\n")

    def put(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def compile(self, text, *flags, name="scale.cu", options=()):
        self.put(name, text)
        # PTX only, and C++14, halve the compile time.
        fast = [flag for flag in BUILD["nvcc_flags"] if "code=sm_" not in flag] + ["-std=c++14"]
        environment = {**os.environ, "NVCC_APPEND_FLAGS": "--no-such-flag", "CPATH": "/nowhere"}
        return run(SCRIPT, *options, BUILD["nvcc"], name, "scale.o", "scale.d", "kept", *fast, *flags, cwd=self.folder,
                   env=environment)

    def names(self, *options):
        text = run("nm", *options, "scale.o", cwd=self.folder).stdout
        return {line.split()[-1] for line in text.splitlines()}

    def link(self, *libraries):
        self.put("main.cpp", '#include "lab.hpp"\nint main(int n, char **) { if (n > 1) scale(nullptr, 0); }\n')
        result = run(*BUILD["cxx"], "main.cpp", "scale.o", *libraries, *BUILD["link_flags"], "-o", "program",
                     cwd=self.folder)
        self.assertEqual(result.stderr, "")
        self.assertEqual(run(self.folder / "program").returncode, 0)

    def test_only_the_contract_is_global(self):
        self.assertEqual(self.compile(SCALE).stderr, "")
        self.assertEqual(self.names("-g", "--defined-only"), {"_Z5scalePfi"})

    def test_nothing_is_left_for_a_later_compiler(self):
        sections = ".gnu.lto_main.1", ".gnu.debuglto_.debug_info", ".llvmbc"
        hidden = "".join(f'asm(".section {name},\\"e\\"\\n.byte 1\\n.previous");\n' for name in sections)
        self.assertEqual(self.compile(SCALE + hidden).stderr, "")
        listed = run("readelf", "-SW", "scale.o", cwd=self.folder).stdout
        self.assertIn(".text", listed)
        for name in sections:
            self.assertNotIn(name, listed)

    def test_the_object_links_with_either_runtime(self):
        self.compile(SCALE)
        self.link(BUILD["cudart_static"])
        self.link(BUILD["simulator_library"])

    def test_a_kernel_that_launches_a_kernel_links_with_either_runtime(self):
        for flags in ((), MACHINE_CODE):
            self.assertEqual(self.compile(NESTED, "-rdc=true", *flags).stderr, "")
            self.assertEqual(self.names("-g", "--defined-only"), {"_Z5scalePfi"})
            self.link(BUILD["cudart_static"])
            self.link(BUILD["simulator_library"])

    def test_device_code_that_uses_what_nothing_defines_is_refused(self):
        uses = ('__device__ int helper(int);\nextern "C" __device__ int plain();\nextern __device__ int table[4];\n'
                "__global__ void child(int *p);\n"
                "__global__ void fill(int *p) { *p = helper(table[plain()]); child<<<1, 1>>>(p); }\n")
        for flags in ((), MACHINE_CODE):
            result = self.compile(SCALE + uses, "-rdc=true", *flags)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr.splitlines(), [
                f"scale.cu: error: device code uses {name}, which is declared and not defined"
                for name in ("child(int*)", "helper(int)", "plain", "table")])

    def test_device_code_may_use_what_cuda_defines(self):
        uses = ("#include <cassert>\n#include <cstdio>\nstruct alignas(64) wide { int i[16]; };\n"
                "extern __shared__ int words[];\n__device__ int later(int);\n"
                "__global__ void fill(int *p)\n{\n    int *q = new int[4];\n    wide *w = new wide;\n"
                '    assert(p);\n    printf("%d", later(q[0] + w->i[words[0]]));\n    delete[] q;\n    delete w;\n'
                "    cudaMalloc(&p, 4);\n    free(malloc(4));\n}\n"
                "__device__ int later(int i) { return i < 2 ? i : later(i - 1) + later(i - 2); }\n")
        for flags in ((), MACHINE_CODE):
            self.assertEqual(self.compile(SCALE + uses, "-rdc=true", *flags).stderr, "")

    def test_joined_implementations_keep_their_names(self):
        text = NESTED.replace('#include "lab.hpp"\n', "")
        text = "".join(f"namespace {name} {{\n{text}}}\n" for name in ("one", "two"))
        for flags in ((), MACHINE_CODE):
            self.assertEqual(self.compile(text, "-rdc=true", *flags, options=["--joined"]).stderr, "")
            self.assertLessEqual({"_ZN3one5scaleEPfi", "_ZN3two5scaleEPfi"}, self.names("-g", "--defined-only"))

    def test_uncompressed_ptx_for_the_simulated_device_is_inside(self):
        for flags in ((), ("-rdc=true",)):
            self.compile(SCALE, *flags)
            self.assertIn(b".target sm_80", (self.folder / "scale.o").read_bytes())

    def test_a_missing_function_is_named(self):
        result = self.compile('#include "lab.hpp"\n')
        self.assertEqual(result.returncode, 3)
        self.assertIn("lab.hpp declares scale(float*, int); scale.cu does not define it", result.stderr)
        self.assertFalse((self.folder / "scale.o").exists())

    def test_where_all_are_missing_one_sentence_says_so(self):
        self.put("lab.hpp", "void scale(float *data, int n);\nvoid shift(float *data, int n);\n")
        self.put("kept", "_Z5scalePfi\n_Z5shiftPfi\n")
        result = self.compile('#include "lab.hpp"\nvoid my_scale(float *) {}\n')
        self.assertEqual((result.returncode, result.stderr), (3, "scale.cu defines none of lab.hpp's functions\n"))
        result = self.compile('#include "lab.hpp"\nvoid shift(int *) {}\n')
        self.assertEqual(result.stderr.count("scale.cu does not define it"), 2)
        self.assertIn("it defines another function of that name: shift(int*)\n", result.stderr)

    def test_an_added_function_may_be_missing_but_not_another_in_its_place(self):
        self.put("lab.hpp", "void scale(float *data, int n);\nint quiz(int n);\n")
        self.put("kept", "_Z5scalePfi\n_Z4quizi\n# added _Z4quizi\n")
        self.assertEqual(self.compile(SCALE).stderr, "")
        self.assertEqual(self.names("-g", "--defined-only"), {"_Z5scalePfi"})
        self.assertEqual(self.compile(SCALE + "int quiz(int n) { return n; }\n").stderr, "")
        self.assertEqual(self.names("-g", "--defined-only"), {"_Z5scalePfi", "_Z4quizi"})
        result = self.compile(SCALE + "long quiz(long n) { return n; }\n")
        self.assertEqual(result.returncode, 3)
        self.assertIn("\nit defines another function of that name: quiz(long)\n", result.stderr)
        result = self.compile('#include "lab.hpp"\nint quiz(int n) { return n; }\n')
        self.assertEqual(result.returncode, 3)
        self.assertNotIn("declares quiz", result.stderr)

    def test_an_overload_in_its_place_is_named(self):
        result = self.compile('#include "lab.hpp"\nvoid scale(double *data, int n) { *data = n; }\n')
        self.assertEqual(result.returncode, 3)
        self.assertIn("\nit defines another function of that name: scale(double*, int)\n", result.stderr)

    def test_a_compiler_s_clones_are_not_told_of(self):
        # The cold part of the function is a clone: scale(double*, int) [clone .cold].
        result = self.compile('#include "lab.hpp"\n#include <cstdlib>\n__attribute__((cold)) void fail(double *);\n'
                              "void scale(double *data, int n)\n{\n"
                              "    if (n < 0) { fail(data); fail(data + 1); std::abort(); }\n    *data = n;\n}\n", "-O2")
        self.assertEqual(result.returncode, 3)
        self.assertNotIn("[clone", result.stderr)
        self.assertEqual(result.stderr.count("it defines another function of that name: scale(double*, int)\n"), 1)

    def test_a_static_function_is_told_from_a_missing_one(self):
        result = self.compile("static void scale(float *, int) {}\nvoid use(float *p) { scale(p, 1); }\n"
                              "void (*kept)(float *, int) = scale;\n")
        self.assertEqual(result.returncode, 3)
        self.assertIn("leave the word static out", result.stderr)

    def test_an_error_names_file_and_line_and_leaves_nothing(self):
        result = self.compile("\nint f() { return nothing; }\n")
        self.assertNotIn(result.returncode, (0, 3))
        self.assertIn("scale.cu(2)", result.stderr.replace("scale.cu:2:", "scale.cu(2)"))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["kept", "lab.hpp", "scale.cu"])

    def test_an_old_object_survives_a_failed_compilation(self):
        self.compile(SCALE)
        before = (self.folder / "scale.o").read_bytes()
        self.compile("error\n")
        self.assertEqual((self.folder / "scale.o").read_bytes(), before)

    def test_dependencies_name_the_object_and_every_header(self):
        self.compile(SCALE)
        text = (self.folder / "scale.d").read_text()
        self.assertTrue(text.startswith("scale.o"))
        for name in ("scale.cu", "lab.hpp", "cuda_runtime.h"):
            self.assertIn(name, text)
        self.assertEqual({p.name for p in self.folder.iterdir()}, {"kept", "lab.hpp", "scale.cu", "scale.o", "scale.d"})

    def test_too_few_arguments_are_answered_with_the_usage(self):
        result = run(SCRIPT, "nvcc")
        self.assertEqual(result.returncode, 2)
        self.assertIn("usage: compile.sh [--rung | --joined] NVCC IN OUT DEPFILE KEEP", result.stderr)


if __name__ == "__main__":
    main()
