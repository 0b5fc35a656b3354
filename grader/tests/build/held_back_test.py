#!/usr/bin/env python3
# Tests held-back cases from a file to what staff and students get, on the lab that has some.
import csv
import io
import json
import unittest
from pathlib import Path

from shared import BUILD_ROOT, TOP, in_a_folder, main, run, workbook

LAB = TOP / "grader/tests/labs/held_back"
FORMS = "junit", "prairielearn", "github", "text", "json"
# Words of held_back.cpp and of what it says. "part of a block" is in a case's name.
SECRETS = "part of a block", "one element", "very last element", "Secret advice"


def naming_none(text, test, what):
    for secret in SECRETS:
        test.assertNotIn(secret, text, what)


@unittest.skipUnless(LAB.exists(), "this edition has no labs that test the grader")
class held_back(in_a_folder):
    def grade_class(self, *words):
        """Grades a class of two, of whom one is right only where students see it."""
        for student, source in {"ada": LAB / "solution.cu", "bob": LAB / "wrong/whole_blocks_only.cu"}.items():
            (self.folder / "class" / student).mkdir(parents=True, exist_ok=True)
            (self.folder / "class" / student / "stub.cu").write_text(source.read_text())
        (self.folder / "class" / "eve").mkdir(exist_ok=True)
        self.table, self.result = self.folder / "grades.csv", self.folder / "class.json"
        done = workbook("autograde", self.folder / "class", "held_back", "--backend", "sim", "--seed", "1f",
                        "--without-sandbox", "--csv", self.table, "--json", self.result, *words, cwd=TOP)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr, json.loads(self.result.read_text())

    def converted(self, student, form, *words):
        done = workbook("convert", self.result, "--student", student, "--to", form, *words,
                        "--output", self.folder / "out", cwd=TOP)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.folder / "out").read_text() + done.stdout

    def test_a_class_is_graded_by_them_and_students_see_how_many_points_they_are(self):
        said, whole = self.grade_class()
        naming_none(said + self.table.read_text(), self, "the table")
        rows = {row["student"]: row for row in csv.DictReader(io.StringIO(self.table.read_text()))}
        sums = {student: [row[f"{of}points"] for of in ("", "held_back_", "held_back_max_")] for student, row in rows.items()}
        self.assertEqual(sums, {"ada": ["3", "2", "2"], "bob": ["3", "0", "2"], "eve": ["0", "0", "2"]})
        self.assertEqual({student: row["status"] for student, row in rows.items()},
                         {"ada": "pass", "bob": "pass", "eve": "missing"})
        bob = next(row for row in whole["rows"] if row["student"] == "bob")["result"]["labs"][0]
        self.assertEqual([c["verdict"] for c in bob["cases"] if c.get("held_back")], ["WRONG_ANSWER"] * 2)
        for form in FORMS:
            for student in rows:
                text = self.converted(student, form)
                naming_none(text, self, form)
                self.assertNotIn(whole["held_back_seed"], text)
                if form != "json":
                    self.assertIn("2 points are held back until publication", text)
            text = self.converted("bob", form, "--published")
            self.assertIn("very last element", text)
        self.assertIn("bob", rows)
        form = json.loads(self.converted("bob", "gradescope"))
        self.assertEqual([t.get("visibility") for t in form["tests"]], [None, None] + ["after_published"] * 2)
        naming_none(form["output"], self, "gradescope's output")

    def test_their_seed_decides_their_inputs_and_no_other(self):
        def printed(*words):
            _, whole = self.grade_class(*words)
            bob = next(row for row in whole["rows"] if row["student"] == "bob")["result"]["labs"][0]
            return whole, [c["message"] for c in bob["cases"]]
        first, said = printed("--held-back-seed", "abc")
        self.assertEqual((first["seed"], first["held_back_seed"]), ("1f", "abc"))
        self.assertEqual(printed("--held-back-seed", "abc")[1], said)
        other, differs = printed()
        self.assertNotEqual(other["held_back_seed"], "abc")
        self.assertNotEqual(differs, said)

    def test_a_students_grade_and_appeal_are_without_them(self):
        source, result = LAB / "wrong/whole_blocks_only.cu", self.folder / "own.json"
        done = workbook("grade", "held_back", "--submission", source, "--backend", "sim", "--json", result, cwd=TOP)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        naming_none(done.stdout + done.stderr + result.read_text(), self, "grade")
        self.assertIn("\n3 of 3 points\n2 points are held back until publication.\n", done.stdout)
        for pattern in "one element", "no such case":
            done = workbook("grade", "held_back", "--submission", source, "--backend", "sim", "--case", pattern, cwd=TOP)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertNotIn("part of a block", done.stdout + done.stderr)
        self.grade_class()
        for words, cases in ((), "2"), (("--published",), "4"):
            (self.folder / "bob.json").write_text(self.converted("bob", "json", *words))
            done = workbook("appeal", self.folder / "bob.json", source, cwd=TOP)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(f"the same verdict in all {cases} cases", done.stdout)

    def test_a_submission_cannot_include_them(self):
        result = self.folder / "class.json"
        (self.folder / "class/ada").mkdir(parents=True)
        for name in "held_back.cpp", LAB / "held_back.cpp":
            source = self.folder / "class/ada/stub.cu"
            source.write_text((LAB / "solution.cu").read_text() + f'#include "{name}"\n')
            done = workbook("autograde", self.folder / "class", "held_back", "--backend", "sim", "--json", result, cwd=TOP)
            if done.returncode == 99 and "cannot shut a submission off" in " ".join(done.stderr.split()):
                self.skipTest("there is no sandbox here")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            row = json.loads(result.read_text())["rows"][0]
            self.assertEqual((row["points"], row["held_back"]), (0, {"points": 0, "max_points": 2, "open_points": 0}))
            naming_none(done.stdout + done.stderr + result.read_text(), self, name)

    def test_a_seed_without_such_cases_or_of_other_characters_is_refused(self):
        (self.folder / "class").mkdir()
        (self.folder / "class/ada").mkdir()
        for lab, seed, said in ("scratch", "abc", "no lab that is graded has held-back cases"), \
                ("held_back", "xyz", "--held-back-seed xyz: give 1 to 16 hexadecimal digits"):
            done = workbook("autograde", self.folder / "class", lab, "--backend", "sim", "--held-back-seed", seed,
                            "--without-sandbox", cwd=TOP)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(said, " ".join(done.stderr.split()))

    def test_the_grader_lists_them_apart(self):
        listed = run(BUILD_ROOT / "grade.held_back", "--list").stdout.splitlines()
        self.assertEqual(listed[-1], "3 points, and 0 of the clock, in 4 cases; 2 points are held back")
        self.assertEqual([line.split()[0] for line in listed[2:4]], ["held_back"] * 2)


main()
