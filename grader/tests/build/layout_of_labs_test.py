#!/usr/bin/env python3
# Tests check_layout.py on a lab of two functions: the usual mistakes of a lab's author are named, and how to mend them.
import shutil

from shared import TOP, in_a_folder, main, run

KERNEL = "static __global__ void add_kernel(int *at) { at[0] += %d; }\n"
ADD = "void add(int *at)\n{\n    add_kernel<<<1, 1>>>(at);\n}\n"
CLEAR = "void clear(int *at)\n{\n    cudaMemset(at, 0, 4);\n}\n"
CASES = 'CORRECTNESS_CASE("add: one", 1) {}\nSPEED_CASE("add: speed", 1, 0) {}\nCORRECTNESS_CASE("clear: one", 1) {}\n'
FILES = {
    "labs/01_add/lab.hpp": "// The contract of this lab.\nvoid add(int *at);\nvoid clear(int *at);\n",
    "labs/01_add/stub.cu": "// The file to edit.\n// TODO 1 (add): A.\n// TODO 2 (add: speed): B.\n// TODO 3 (clear): C.\n",
    "labs/01_add/grade.cpp": "// The cases of this lab.\n" + CASES,
    "labs/01_add/hints.md": "# Hints\n\n## TODO 1: a\n\n```\n## no heading\n```\n\n## TODO 2: b\n\nB.\n\n## TODO 3: c\n\nC.\n",
    "reference/01_add/naive.cu": "// The version to beat.\n" + KERNEL % 1 + ADD + CLEAR,
    "reference/01_add/oracle.hpp": "// The right results, declared.\n",
    "reference/01_add/oracle.cpp": "// The right results, computed.\n",
    "handouts/01_add.md": "# Adding\n",
    "handouts/verdicts.md": "# Verdicts\n\n| `PASS` | right |\n| `WRONG_ANSWER` | wrong |\n| `RACE` | unordered |\n",
    "solutions/01_add/solution.cu": "// It is the solution.\n",
    "solutions/01_add/filled.cu": "// The stub with lines added.\n",
    "solutions/01_add/1_two.cu": "// Adds two each time. Unchanged: clear.\n" + KERNEL % 2 + ADD,
    "solutions/01_add/wrong/slow.cu": "// Fails: add: one | WRONG_ANSWER | two\n",
    "grader/text/verdict.hpp": "// The verdicts: X(PASS) X(WRONG_ANSWER) X(RACE)\n",
    "meson.build": "# The build of this lab, version: '1.0.0'\n",
    "CHANGELOG.md": "# Changes\n\n## 1.0.0\n",
}


class layout_of_labs(in_a_folder):
    def setUp(self):
        super().setUp()
        for name in ("grader/tests/check_layout.py", "grader/build/make_glue.py"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, self.folder / name)
        for name, text in FILES.items():
            self.put(name, text)
        run("git", "init", "-q", self.folder, check=True)
        run("git", "add", "grader", "meson.build", "CHANGELOG.md", cwd=self.folder, check=True)

    def put(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def change(self, name, before, after):
        self.assertIn(before, FILES[name])
        self.put(name, FILES[name].replace(before, after))

    def problems(self, row="01_add:1_two"):
        checked = run("python3", "-B", self.folder / "grader/tests/check_layout.py", "--files", row)
        self.assertEqual(checked.stderr, "")
        *lines, last = checked.stdout.splitlines()
        self.assertEqual(last, f"{0 if lines else 1} passed, {len(lines)} failed")
        return lines

    def test_each_verdict_is_explained_and_no_other(self):
        self.change("handouts/verdicts.md", "| `RACE` | unordered |\n", "| `RACED` | unordered |\n")
        self.assertEqual(self.problems(),
                         ["handouts/verdicts.md: explains ['RACE', 'RACED'], unlike grader/text/verdict.hpp"])
        self.put("handouts/verdicts.md", FILES["handouts/verdicts.md"] * 2)
        self.assertEqual(self.problems(), ["handouts/verdicts.md: explains one twice, unlike grader/text/verdict.hpp"])

    def test_a_lab_that_git_does_not_know_yet_is_checked(self):
        self.assertEqual(self.problems(), [])
        self.put("solutions/01_add/wrong/slow.cu", "void add(int *at) {}\n")
        self.assertEqual(len(self.problems()), 2)  # no first line, and none that states the verdict
        self.put("labs/01_add/stub.cu", "// The file to edit.\n")
        self.assertIn("labs/01_add/stub.cu: has no numbered TODO", self.problems())

    def test_a_students_file_beside_a_tracked_stub_is_not(self):
        self.put("labs/01_add/mine.cu", "int x;\n")
        self.assertEqual(len(self.problems()), 1)
        run("git", "add", "labs/01_add/stub.cu", cwd=self.folder, check=True)
        self.assertEqual(self.problems(), [])
        self.put("labs/01_add/stub.cu", "void add(int *at) {}\n")
        self.assertEqual(self.problems(), [])

    def test_a_todo_names_a_function_and_perhaps_a_case(self):
        stub = "labs/01_add/stub.cu"
        self.change(stub, "TODO 1 (add): A", "TODO 1: A")
        self.assertEqual(
            self.problems(), [stub + ": no line has `TODO 1 (FUNCTION): ...` or `TODO 1 (FUNCTION: CASE): ...`"]
        )
        self.change(stub, "(clear)", "(clean)")
        self.assertEqual(self.problems(), [stub + ": TODO 3 is of `clean`, which begins with no function of lab.hpp"])
        self.change(stub, "(add: speed)", "(add: haste)")
        self.assertEqual(self.problems(), [stub + ": TODO 2 is of `add: haste`, a case that grade.cpp does not have"])

    def test_a_todo_is_short_and_there_are_few(self):
        stub = "labs/01_add/stub.cu"
        self.change(stub, "A.\n", "A,\n// and B,\n// and C.\n//\n// More is in lab.hpp.\n")
        self.assertEqual(self.problems(), [])
        self.change(stub, "A.\n", "A,\n// and B,\n// and C,\n// and D.\n")
        self.assertEqual(
            self.problems(), [stub + ": TODO 1 has 4 lines; it says in 3 what must hold, hints.md says how"]
        )
        self.put(stub, FILES[stub] + "".join(f"// TODO {n} (add): More.\n" for n in range(4, 14)))
        self.put("labs/01_add/hints.md", FILES["labs/01_add/hints.md"] + "".join(f"\n## TODO {n}: m\n\nM.\n" for n in range(4, 14)))
        self.assertEqual(self.problems(), [stub + ": has 13 TODOs; at most 12 make a lab"])
        self.change(stub, "// TODO 1", "[[maybe_unused]] static int x;\n// TODO 1")
        self.put("labs/01_add/hints.md", FILES["labs/01_add/hints.md"])
        self.assertEqual(self.problems(), [stub + ": has [[maybe_unused]]; nothing warns of unused names"])

    def test_each_todo_has_a_hint_and_each_hint_a_todo(self):
        hints = "labs/01_add/hints.md"
        self.change(hints, "## TODO 2: b", "## TODO 7: b")
        self.assertEqual(
            self.problems(),
            [
                hints + ": has a hint for TODO 7, which the stub does not have",
                hints + ": has no hint for TODO 2; add `## TODO 2: title`",
            ],
        )
        self.put(hints, FILES[hints] + "\n## The answer\n")
        self.assertEqual(
            self.problems(), [hints + ": `## The answer` is never shown: a hint's heading is `## TODO n: title`"]
        )

    def test_a_case_belongs_to_a_function(self):
        self.change("labs/01_add/grade.cpp", '"clear: one"', '"cleared"')
        self.assertEqual(
            self.problems(),
            [
                "labs/01_add/grade.cpp: the case `cleared` does not begin with a function of lab.hpp, "
                "as `add: one row`"
            ],
        )

    def test_an_unknown_verdict_comes_with_the_nearest(self):
        wrong = "solutions/01_add/wrong/slow.cu"
        self.change(wrong, "WRONG_ANSWER", "WRONG_RESULT")
        self.assertEqual(
            self.problems(),
            [wrong + ": names the verdict WRONG_RESULT; is it WRONG_ANSWER? grader/text/verdict.hpp lists all"],
        )

    def test_the_row_and_the_files_have_the_same_rungs(self):
        self.assertEqual(
            self.problems("01_add:1_two,2_more"),
            ["solutions/01_add/2_more.cu: is missing; the row of 01_add in meson.build lists it in `rungs`"],
        )
        self.assertEqual(
            self.problems("01_add:"),
            ["solutions/01_add/1_two.cu: is no rung of its row in meson.build; add '1_two' to `rungs`"],
        )
        self.assertEqual(self.problems("01_add"), [])

    def test_a_rung_defines_only_what_it_changes(self):
        rung = "solutions/01_add/1_two.cu"
        same = [rung + ": defines clear just as naive.cu does; leave it out, and say `// Unchanged: clear.`"]
        self.put(rung, "// Adds two each time.\n" + KERNEL % 2 + ADD + "// It clears.\n" + CLEAR)
        self.assertEqual(self.problems(), same)
        self.put(rung, "// Adds two each time.\nnamespace {\n" + KERNEL % 2 + "} // namespace\n" + ADD + CLEAR)
        self.assertEqual(self.problems(), same)
        self.put(rung, "// Adds two each time.\n#define X\n" + KERNEL % 2 + ADD + CLEAR)
        self.assertEqual(self.problems(), [])


if __name__ == "__main__":
    main()
