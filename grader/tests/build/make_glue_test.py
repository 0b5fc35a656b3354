#!/usr/bin/env python3
# Tests make_glue.py: the declarations that a contract may contain, and the errors for others.
import sys

from shared import TOP, in_a_folder, main, run


class glue_of(in_a_folder):
    def setUp(self):
        super().setUp()
        self.header, self.out, self.object = (self.folder / name for name in ("lab.hpp", "glue.cpp", "glue.o"))

    def make(self, text, *options):
        self.header.write_text(text)
        result = run(sys.executable, TOP / "grader/build/make_glue.py", *options, self.header, self.out)
        return self.out.read_text() if result.returncode == 0 else None, result.stderr

    def refused(self, text, *words):
        made, message = self.make(text)
        self.assertIsNone(made, "was accepted")
        for word in words:
            self.assertIn(word, message)

    def compile(self):
        return run("c++", "-std=c++20", "-c", "-I", TOP / "grader", "-I", self.folder, self.out, "-o", self.object)

    def test_every_declaration_is_a_row_with_its_parameters(self):
        made, _ = self.make(
            "// One; (two)\n#include <cstddef>\nstruct answers { int a[3]; };\n"
            "void scale(const float *in, float *out, // the result\n    int n);\n"
            "std::size_t scale_scratch(int n);\nvoid nothing();\nvoid all(answers a, float *const *per_device);\n"
        )
        self.assertIn('{"scale", "in,out,n", &grading::local<&::scale>::run', made)
        self.assertIn('{"scale_scratch", "n"', made)
        self.assertIn('{"nothing", ""', made)
        self.assertIn('{"all", "a,per_device"', made)
        self.assertIn("contract_size = 4, ", made)
        self.assertEqual(self.compile().stderr, "")

    def test_empty_functions_compile_as_a_submission_of_their_own(self):
        header = "#include <cstddef>\nvoid scale(const float *const *in_per_device, float *out_host, int count, int devices);\n"
        header += "std::size_t scale_scratch(int n);\nconst char *name();\n"
        made, _ = self.make(header, "--open")
        self.assertLessEqual(max(map(len, made.splitlines())), 80)
        self.assertIn("int count,\n    int devices)\n{\n}", made)
        alone = made.replace('#include "../check.hpp"', "").replace("#include <cuda_runtime.h>", "")
        self.out.write_text(alone)
        self.assertEqual(self.compile().stderr, "")
        defined = run("nm", "-C", "--defined-only", self.object).stdout
        for function in ("scale(float const* const*, float*, int, int)", "scale_scratch(int)", "name()"):
            self.assertIn(function, defined)

    def test_the_parents_table_has_no_addresses(self):
        made, _ = self.make("void scale(float *data, int n);\n", "--parent")
        self.assertIn('{"scale", "data,n", nullptr', made)
        self.assertEqual(self.compile().returncode, 0)
        self.assertNotIn("scale", run("nm", "-u", self.object).stdout)

    def test_the_table_says_how_many_devices_there_are_for_the_functions(self):
        header = "void f(int n);\n"
        self.assertIn("contract_devices = 1;", self.make(header)[0])
        self.assertIn("contract_devices = 4;", self.make(header, "--devices=4")[0])

    def test_kept_names_are_those_the_linker_uses(self):
        self.make("void scale(float *data, int n);\nint count(const int *in);\n")
        self.assertEqual(self.compile().returncode, 0)
        made, _ = self.make(self.header.read_text(), "--kept", self.object)
        self.assertEqual(made, "_Z5scalePfi\n_Z5countPKi\n")

    def test_glue_of_another_header_is_noticed(self):
        self.make("void scale(float *data, int n);\n")
        self.assertEqual(self.compile().returncode, 0)
        made, message = self.make("void other(float *data, int n);\n", "--kept", self.object)
        self.assertIsNone(made)
        self.assertIn("does not refer to other", message)

    def test_an_unchanged_table_keeps_its_time(self):
        self.make("void scale(float *data, int n);\n")
        before = self.out.stat().st_mtime_ns
        self.make("void scale(float *data, int n); // once more\n")
        self.assertEqual(self.out.stat().st_mtime_ns, before)

    def test_overloads_are_refused_with_both_lines(self):
        self.refused("void f(int *a);\n\nvoid f(float *a);\n", "lab.hpp:3", "`f` is declared again", "line 1")

    def test_parameters_need_names(self):
        for text in ("void f(int);", "void f(const float *);", "void f(float2);", "void f(const float2);",
                     "void f(int n, unsigned);"):
            self.refused(text + "\n", "lab.hpp:1", "has no name")

    def test_references_arrays_defaults_and_callbacks_are_refused(self):
        self.refused("void f(const int &n);\n", "is a reference")
        self.refused("void f(int a[3]);\n", "write a plain pointer")
        self.refused("void f(void (*then)(int));\n", "write a plain pointer")
        self.refused("void f(int n = 3);\n", "has a default")

    def test_templates_namespaces_and_definitions_are_refused(self):
        self.refused("template <class T> void f(T *a);\n", "template")
        self.refused("namespace a {\nvoid f(int *a);\n}\n", "namespace")
        self.refused("void f(int *a) { *a = 1; }\n", "cannot read")

    def test_what_the_worker_offers_is_no_part_of_the_contract(self):
        made, _ = self.make("void f(int *a);\nextern bool buffers_work();\n")
        self.assertIn("contract_size = 1,", made)
        self.refused('extern "C" void f(int *a);\n', "`extern` in a contract")

    def test_a_header_without_functions_is_refused(self):
        self.refused("#pragma once\nstruct empty {};\n", "declares no function")

    def test_names_too_long_for_the_wire_are_refused(self):
        self.refused(f"void f(int {'n' * 24});\n", "longer than 23")
        self.refused(f"void {'f' * 64}(int n);\n", "longer than 63")
        self.refused("void f(" + ", ".join(f"int a{i}" for i in range(17)) + ");\n", "17 parameters")

    def test_a_type_that_cannot_be_copied_as_bytes_is_named_by_the_compiler(self):
        self.make("#include <vector>\nvoid f(std::vector<int> values);\n")
        result = self.compile()
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("f: values is not trivially copyable", result.stderr)


if __name__ == "__main__":
    main()
