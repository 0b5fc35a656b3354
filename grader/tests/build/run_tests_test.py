#!/usr/bin/env python3
# Tests how run_tests.py counts programs that report their tests, report nothing, or crash.
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import run_tests  # noqa: E402


def record(result, stdout="", stderr=""):
    return {"name": "t", "result": result, "stdout": stdout, "stderr": stderr}


DOCTEST = "[doctest] test cases: {} | {} passed | {} failed | 3 skipped\n"


class counting(unittest.TestCase):
    def test_doctest_cases_are_counted(self):
        self.assertEqual(run_tests.counts(record("OK", DOCTEST.format(" 7", " 7", 0))), (7, 0, 0))
        self.assertEqual(run_tests.counts(record("FAIL", DOCTEST.format("  7", "  5", 2))), (5, 2, 0))

    def test_unittests_are_counted_with_their_skips(self):
        text = "....\nRan 9 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=3)\n"
        self.assertEqual(run_tests.counts(record("FAIL", stderr=text)), (3, 3, 3))
        self.assertEqual(run_tests.counts(record("OK", stderr="Ran 1 test in 0.1s\n\nOK\n")), (1, 0, 0))

    def test_a_closing_line_is_counted(self):
        self.assertEqual(run_tests.counts(record("FAIL", "ok x\n12 passed, 1 failed\n")), (12, 1, 0))

    def test_a_program_that_reports_nothing_is_one_test(self):
        self.assertEqual(run_tests.counts(record("OK", "fine\n")), (1, 0, 0))
        self.assertEqual(run_tests.counts(record("FAIL")), (0, 1, 0))
        self.assertEqual(run_tests.counts(record("SKIP", "no clang-format\n")), (0, 0, 1))

    def test_a_crash_after_a_good_report_is_a_failure(self):
        self.assertEqual(run_tests.counts(record("TIMEOUT", DOCTEST.format(7, 7, 0))), (7, 1, 0))

    def test_a_good_exit_with_failed_tests_is_refused(self):
        with self.assertRaises(SystemExit):
            run_tests.counts(record("OK", "1 passed, 2 failed\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
