#!/usr/bin/env python3
# Tests the table of threats: each threat has a row, the named files and tests exist, and verdicts match `check`.
import csv
import re
import sys
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
TABLE = TOP / "grader/tests/threats.csv"
VERDICTS = TOP / "grader/tests/verdicts/gpu"
KNOWN = {"A": 18, "B": 29, "C": 16, "D": 16, "E": 20}  # entries of the catalogue per chapter; reviews found those of F
FAILS = re.compile(r"// Fails: (.+?) \| ([A-Z_]+) \|")
NAMED = re.compile(r"// Threat ([A-F]\d\d): .*[A-Za-z]")
PLAYED = "grader/tests/labs/threats/wrong"
PAGE = TOP / "handouts/instructor/security.md"
COUNTED = re.compile(r"^\| ([A-F]) \| .+? \| (\d+) \| (\d+) \| (\d+) \|", re.M)


def rows():
    with TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def head(path):
    """Returns the lines of a submission that may hold its verdict."""
    return path.read_text(encoding="utf-8").splitlines()[:3]


def verdict_of(path):
    """Returns the verdict that `check` requires of a submission."""
    first = head(path)[0]
    return "PASS" if first.startswith("// Passes: ") else FAILS.match(first)[2]


def judged_on_gpu(path):
    """Returns False if a GPU may pass a submission, or only the simulator judges the case that it fails."""
    left_open = any(re.match(r"// On gpu: (?:passes|may pass)(?: |$)", line) for line in head(path))
    fails = FAILS.match(head(path)[0])
    with (VERDICTS / f"{path.parent.parent.name}.csv").open(newline="", encoding="utf-8") as file:
        cases = {row["case"] for row in csv.DictReader(file)}
    return not left_open and (not fails or fails[1] in cases or f"{fails[1]}, timed" in cases)


def names_of_tests(program):
    """Returns the names of a test program's cases; None if there is no such program."""
    for source in (TOP / "grader").glob(f"**/tests/**/{program}.*"):
        text = source.read_text(encoding="utf-8")
        if source.suffix == ".cpp":
            joined = re.sub(r'"\s*\n\s*"', "", text)
            return set(re.findall(r'TEST_CASE\(\s*"((?:[^"\\]|\\.)*)"', joined))
        if source.suffix == ".py":
            return set(re.findall(r"^    def (test_\w+)\(", text, re.M))
    return None


@unittest.skipUnless(TABLE.is_file(), "this is a student edition, which does not have the table")
class Threats(unittest.TestCase):
    def test_every_threat_has_a_row(self):
        listed = {row["id"] for row in rows()}
        wanted = {f"{kind}{number:02}" for kind, last in KNOWN.items() for number in range(1, last + 1)}
        self.assertEqual(wanted - listed, set())
        self.assertEqual({name for name in listed - wanted if not re.fullmatch(r"F\d\d", name)}, set())

    def test_rows_are_in_order_and_none_stands_twice(self):
        table = [(row["id"], row["shown_by"]) for row in rows()]
        self.assertEqual([name for name, _ in table], sorted(name for name, _ in table))
        self.assertEqual(len(set(table)), len(table))

    def test_what_a_row_names_is_there(self):
        for row in rows():
            shown = row["shown_by"]
            with self.subTest(shown):
                if shown.endswith(".cu"):
                    self.assertTrue((TOP / shown).is_file(), "there is no such file")
                    self.assertEqual(Path(shown).parent.name, "wrong", "`check` grades what lies in such folders")
                else:
                    program, name = shown.split(": ", 1)
                    tests = names_of_tests(program)
                    self.assertIsNotNone(tests, "there is no such test program")
                    self.assertIn(name, tests)

    def test_the_verdict_is_the_one_that_the_file_states(self):
        known = set(re.findall(r"\bX\(([A-Z_]+)\)", (TOP / "grader/text/verdict.hpp").read_text(encoding="utf-8")))
        for row in rows():
            with self.subTest(row["shown_by"]):
                if row["shown_by"].endswith(".cu"):
                    self.assertEqual(row["verdict"], verdict_of(TOP / row["shown_by"]))
                else:
                    self.assertIn(row["verdict"], known | {"no effect"})

    def test_the_backend_is_where_the_file_has_a_verdict(self):
        for row in rows():
            if not row["shown_by"].endswith(".cu"):
                continue
            with self.subTest(row["shown_by"]):
                self.assertIn(row["backend"], ["gpu", "both"] if judged_on_gpu(TOP / row["shown_by"]) else ["sim"])

    def test_a_threat_of_the_gpu_alone_says_why(self):
        of_gpu = [row for row in rows() if row["backend"] == "gpu"]
        self.assertEqual({row["id"] for row in of_gpu}, {"C15", "C16", "E07", "E10", "E20"})
        self.assertEqual([row["id"] for row in of_gpu if not row["note"]], [])

    def test_each_file_of_the_lab_plays_the_threat_that_it_names(self):
        listed = {(row["id"], row["shown_by"]) for row in rows()}
        for path in sorted((TOP / PLAYED).glob("*.cu")):
            with self.subTest(path.name):
                named = [match[1] for line in head(path) if (match := NAMED.match(line))]
                self.assertEqual(len(named), 1, "no line of its first three is `// Threat ID: <what it does>`")
                self.assertIn((named[0], f"{PLAYED}/{path.name}"), listed)

    def test_the_page_for_instructors_counts_right(self):
        counted = {match[1]: tuple(map(int, match.group(2, 3, 4))) for match in COUNTED.finditer(PAGE.read_text("utf-8"))}
        right = {}
        for kind in "ABCDEF":
            of_kind = [row for row in rows() if row["id"][0] == kind]
            files = {row["shown_by"] for row in of_kind if row["shown_by"].endswith(".cu")}
            tests = {row["shown_by"] for row in of_kind} - files
            right[kind] = (len({row["id"] for row in of_kind}), len(files), len(tests))
        self.assertEqual(counted, right)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
