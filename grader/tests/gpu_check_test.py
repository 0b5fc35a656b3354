#!/usr/bin/env python3
# Tests .ci/gpu where there is no GPU: on the simulator, with one small lab, and a table that it finds again.
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SCRIPT = TOP / ".ci" / "gpu"
PROGRAM = None


@unittest.skipUnless(SCRIPT.exists(), "this is a student edition")
class proving_a_gpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.output = Path(cls.holder.name)
        cls.table = cls.output / "verdicts" / "scratch.csv"
        cls.first = cls.prove()
        cls.rows = cls.table.read_text()

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    @classmethod
    def prove(cls, *words):
        command = [SCRIPT, "--backend", "sim", "--output", cls.output, "--minutes", "4", *words, "scratch"]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "WORKBOOK_PROGRAM": PROGRAM})

    def setUp(self):
        self.table.write_text(self.rows)

    def standing(self, result):
        """Rows, and of them new; gradings that are current, stale and missing; rows that changed."""
        found = re.search(r"^scratch +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", result.stdout, re.M)
        self.assertTrue(found, result.stdout + result.stderr)
        return [int(word) for word in found.groups()]

    def test_everything_is_graded_once_and_kept_in_an_archive(self):
        self.assertEqual(self.first.returncode, 0, self.first.stdout + self.first.stderr)
        rows = len(self.rows.splitlines()) - 1
        wrong = len(list((TOP / "grader/tests/labs/scratch/wrong").glob("*.cu")))
        self.assertEqual(self.standing(self.first), [rows, rows, wrong + 2, 0, 0, 0])
        self.assertRegex(self.first.stdout.splitlines()[-1], r"^[1-9]\d* passed, 0 failed$")
        with tarfile.open(self.output / "verdicts.tar.gz") as archive:
            self.assertIn("gpu/scratch.csv", archive.getnames())

    def test_a_second_run_grades_only_what_must_be_right_each_time(self):
        again = self.prove()
        self.assertEqual(again.returncode, 0, again.stdout)
        self.assertIn("0 wrong submissions linked", again.stdout)
        self.assertIn("correctness of what is right: 2 of 2 graded", again.stdout)
        self.assertEqual(self.standing(again)[1], 0)
        self.assertEqual(self.table.read_text(), self.rows)

    def test_what_was_made_from_other_files_is_graded_again(self):
        line = next(row for row in self.rows.splitlines() if row.startswith("wrong/scratch_too_small.cu"))
        self.table.write_text(self.rows.replace(line, line[:-12] + "0" * 12))
        again = self.prove()
        self.assertIn("1 wrong submissions linked", again.stdout)
        self.assertEqual(self.table.read_text(), self.rows)

    def test_a_verdict_that_changed_fails_and_stays_as_it_was(self):
        changed = self.rows.replace("naive,reverse: as much scratch as it asks for,PASS", "naive,reverse: as much "
                                    "scratch as it asks for,CRASH")
        self.assertNotEqual(changed, self.rows)
        self.table.write_text(changed)
        again = self.prove()
        self.assertEqual(again.returncode, 1, again.stdout)
        self.assertIn("was CRASH", again.stdout)
        self.assertRegex(again.stdout, r"\ngpu,scratch,naive,reverse: as much scratch as it asks for,CRASH \S+,PASS ")
        self.assertEqual(self.standing(again)[5], 1)
        self.assertRegex(again.stdout.splitlines()[-1], r"^\d+ passed, 1 failed$")
        self.assertEqual(self.table.read_text(), changed)

    def test_words_it_does_not_know_are_named(self):
        for words in (["--minutes", "soon"], ["--quickly"], ["--output"]):
            result = subprocess.run([SCRIPT, *words], capture_output=True, text=True)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(words[0], result.stderr)


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv[1]).parent / "cuda-workbook")
    unittest.main(argv=sys.argv[:1])
