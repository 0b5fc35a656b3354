#!/usr/bin/env python3
# Tests .ci/gpu without a GPU: on the simulator, with one small lab, and with the table of an earlier run.
import os
import re
import shutil
import tarfile
import tempfile
import unittest
from pathlib import Path

from shared import BUILD_ROOT, TOP, main, run, workbook

SCRIPT = TOP / ".ci" / "gpu"


@unittest.skipUnless(SCRIPT.exists(), "this is a student edition")
class proving_a_gpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        cls.output = Path(cls.holder.name) / "output"
        cls.tables = Path(cls.holder.name) / "tables"
        cls.tables.mkdir()
        cls.table = cls.tables / "scratch.csv"
        cls.first = run(SCRIPT, "--backend", "sim", "--output", cls.output, "--minutes", "4", "scratch",
                        env={**os.environ, "WORKBOOK_PROGRAM": str(BUILD_ROOT / "cuda-workbook")})
        with tarfile.open(cls.output / "verdicts.tar.gz") as archive:
            cls.names = archive.getnames()
            packed = "gpu/scratch.csv" in cls.names
            cls.rows = archive.extractfile("gpu/scratch.csv").read().decode() if packed else ""

    def check(self, *words):
        return workbook("check", *words, "scratch", cwd=TOP)

    def check_again(self, rows):
        """Runs the check like .ci/gpu, which on the simulator starts from no rows."""
        self.table.write_text(rows)
        return self.check("--backend", "sim", "--seed", "1", "--budget", "200", "--tables", self.tables)

    def standing(self, result):
        """Returns the rows and how many are new; the gradings that are current, by an earlier grader, stale and
        missing; the changed rows."""
        found = re.search(r"^scratch" + 7 * r" +(\d+)" + "$", result.stdout, re.M)
        self.assertTrue(found, result.stdout + result.stderr)
        return [int(word) for word in found.groups()]

    def graded(self, result):
        """Returns the number of gradings in each part of the run."""
        return {what: int(count) for what, count in re.findall(r"^-- (.*): (\d+) of \d+ graded", result.stdout, re.M)}

    def gradings(self):
        """Returns the number of submissions: naive, the solution and the wrong ones."""
        return 2 + len(list((TOP / "grader/tests/labs/scratch/wrong").glob("*.cu")))

    def test_several_gpus_share_the_labs(self):
        folder = Path(self.holder.name)
        smi = folder / "bin" / "nvidia-smi"
        smi.parent.mkdir()
        smi.write_text("#!/bin/sh\ncase \"$*\" in *index*) printf '0\\n1\\n2\\n' ;; *) echo three ;; esac\n")
        smi.chmod(0o755)
        result = run(SCRIPT, "--backend", "sim", "--output", folder / "shared", "--minutes", "4", "scratch", "patterns",
                     env={**os.environ, "WORKBOOK_PROGRAM": str(BUILD_ROOT / "cuda-workbook"),
                          "PATH": f"{smi.parent}:{os.environ['PATH']}"})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        each = [int(n) for n in re.findall(r"^(\d+) passed, 0 failed$", result.stdout, re.M)]
        self.assertEqual(len(each), 3, result.stdout) # one per share of labs, and all together
        self.assertGreater(each[2], each[0] + each[1])
        with tarfile.open(folder / "shared" / "verdicts.tar.gz") as archive:
            self.assertLessEqual({"gpu/scratch.csv", "gpu/patterns.csv"}, set(archive.getnames()))

    def test_everything_is_graded_once_and_kept_in_an_archive(self):
        self.assertEqual(self.first.returncode, 0, self.first.stdout + self.first.stderr)
        rows = len(self.rows.splitlines()) - 1
        self.assertEqual(self.standing(self.first), [rows, rows, self.gradings(), 0, 0, 0, 0])
        self.assertEqual(sum(self.graded(self.first).values()), self.gradings())
        self.assertRegex(self.first.stdout.splitlines()[-1], r"^[1-9]\d* passed, 0 failed$")
        self.assertIn("gpu/scratch.csv", self.names)
        # No other file is left that a later run could use by mistake.
        self.assertEqual(sorted(os.listdir(self.output)), ["log.txt", "verdicts.tar.gz"])

    def test_the_sandbox_is_named_for_each_user(self):
        users = 1 if os.getuid() or not shutil.which("setpriv") else 2
        found = re.findall(r"^== sandbox, .*: well, \d+ s\n   found: (?:namespaces|landlock)$", self.first.stdout, re.M)
        self.assertEqual(len(found), users, self.first.stdout)

    def test_a_second_run_grades_nothing_whose_rows_are_current(self):
        again = self.check_again(self.rows)
        self.assertEqual(again.returncode, 0, again.stdout)
        self.assertIn("-- 0 wrong submissions linked", again.stdout)
        # Solutions' and naive's headline speeds are due in each run, except those of a lab that tests the grader.
        self.assertEqual(self.graded(again), {
            "solutions": 0, "naive and solution, timed": 0, "other right ones": 0, "filled stubs, timed": 0,
            "wrong submissions, side by side": 0, "wrong submissions, alone": 0})
        self.assertEqual(self.standing(again), [len(self.rows.splitlines()) - 1, 0, self.gradings(), 0, 0, 0, 0])
        self.assertEqual(self.table.read_text(), self.rows)

    def test_what_was_made_from_other_files_is_graded_again(self):
        line = next(row for row in self.rows.splitlines() if row.startswith("wrong/scratch_too_small.cu"))
        again = self.check_again(self.rows.replace(line, line[:-12] + "0" * 12))
        self.assertEqual(again.returncode, 0, again.stdout)
        self.assertIn("-- 1 wrong submissions linked", again.stdout)
        self.assertEqual(sum(self.graded(again).values()), 1)
        self.assertEqual(self.standing(again)[2:], [self.gradings(), 0, 0, 0, 0])
        self.assertEqual(self.table.read_text(), self.rows)

    def test_what_an_earlier_grader_graded_comes_last(self):
        line = next(row for row in self.rows.splitlines() if row.startswith("wrong/scratch_too_small.cu"))
        again = self.check_again(self.rows.replace(line, line[:-6] + "0" * 6))
        self.assertEqual(again.returncode, 0, again.stdout)
        graded = self.graded(again)
        self.assertEqual(sum(graded.values()), 1)
        self.assertEqual(sum(count for what, count in graded.items() if what.endswith(", again")), 1)
        self.assertEqual(self.standing(again)[2:], [self.gradings(), 0, 0, 0, 0])
        self.assertEqual(self.table.read_text(), self.rows)

    def test_a_verdict_that_changed_fails_and_stays_as_it_was(self):
        # Make the key stale, too, because rows with a current key are not graded again.
        case = "reverse: as much scratch as it asks for"
        line = next(row for row in self.rows.splitlines() if row.startswith(f"naive,{case},PASS"))
        changed = self.rows.replace(line, line.replace("PASS", "CRASH")[:-12] + "0" * 12)
        again = self.check_again(changed)
        self.assertEqual(again.returncode, 1, again.stdout)
        self.assertEqual(self.graded(again)["other right ones"], 1)
        self.assertIn("was CRASH", again.stdout)
        self.assertRegex(again.stdout, rf"\ngpu,scratch,naive,{case},CRASH \S+,PASS ")
        self.assertEqual(self.standing(again)[2:], [self.gradings() - 1, 0, 1, 0, 1])
        self.assertRegex(again.stdout.splitlines()[-1], r"^\d+ passed, 1 failed$")
        self.assertEqual(self.table.read_text(), changed)

    def test_the_projects_tables_of_a_gpu_are_kept_from_all_else(self):
        project = TOP / "grader/tests/verdicts/gpu/scratch.csv"
        rows = project.read_text()
        self.addCleanup(lambda: project.read_text() == rows or project.write_text(rows))  # if this test fails
        tables = ["--tables", self.tables]
        for words in (["--budget", "5", "--backend", "sim", "--seed", "1"], tables,
                      ["--budget", "5", *tables, "--whole"], ["--budget", "5", *tables, "--record"]):
            with self.subTest(words):
                result = self.check(*words)
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                self.assertIn("--budget", result.stderr)
        self.assertEqual(project.read_text(), rows)

    def test_words_it_does_not_know_are_named(self):
        for words in (["--minutes", "soon"], ["--quickly"], ["--output"]):
            result = run(SCRIPT, *words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(words[0], result.stderr)


if __name__ == "__main__":
    main()
