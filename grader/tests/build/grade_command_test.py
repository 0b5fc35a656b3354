#!/usr/bin/env python3
# Tests ./workbook grade, explain and convert from a file to their output, where no wrong submission can.
import csv
import json
import os
import random
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

from shared import BUILD_ROOT, TOP, in_a_folder, main, run, workbook

SOLUTION = TOP / "grader/tests/labs/verdicts/solution.cu"

# Touches one byte of each 128-byte line: so many lines exceed the race detector's memory limit.
TOUCH_MUCH = """
static __global__ void touch(unsigned char *kept) { kept[128 * (blockIdx.x * blockDim.x + threadIdx.x)] = 1; }
static void touch_much()
{
    unsigned char *kept = nullptr;
    cudaMalloc(&kept, 128 * 256 * 800);
    touch<<<800, 256>>>(kept);
    cudaFree(kept);
}
"""


@unittest.skipUnless(SOLUTION.exists(), "this edition has no labs that test the grader")
class grading(in_a_folder):
    def result_of(self, text, *words):
        """Grades a submission; returns the program that ended and the lab's part of the result."""
        source, result = self.folder / "answer.cu", self.folder / "result.json"
        source.write_text(text)
        result.unlink(missing_ok=True)
        done = workbook("grade", "verdicts", "--submission", source, "--backend", "sim", "--json", result, *words, cwd=TOP)
        self.assertTrue(result.exists(), done.stdout + done.stderr)
        return done, json.loads(result.read_text())["labs"][0]

    def grade(self, text, *words):
        done, lab = self.result_of(text, *words)
        return done.stdout, lab["cases"]

    def test_a_case_in_which_races_went_unwatched_passes_and_says_so(self):
        text = SOLUTION.read_text().replace("void twice(", TOUCH_MUCH + "\nvoid twice(", 1)
        text = text.replace("    if (n > 0) double_each", "    touch_much();\n    if (n > 0) double_each", 1)
        printed, cases = self.grade(text, "--case", "twice: 1000 elements")
        self.assertEqual([c["verdict"] for c in cases], ["PASS"], printed)
        self.assertEqual(cases[0]["races_partly_unwatched"], "touch")
        self.assertIn("races were looked for in a part of kernel touch only", " ".join(printed.split()))

    def test_what_the_simulator_lacks_is_open_and_no_failure(self):
        text = (SOLUTION.parent / "wrong/unsupported.cu").read_text()
        done, lab = self.result_of(text, "--case", "twice:")
        said = " ".join(done.stdout.split())
        self.assertEqual((done.returncode, lab["status"]), (77, "skipped"), said)
        open_points = sum(c["max_points"] for c in lab["cases"] if c["verdict"] == "SKIPPED")
        self.assertEqual(lab["open_points"], open_points)
        self.assertEqual(lab["points"] + open_points, lab["max_points"])
        self.assertIn(f"{lab['points']:g} of {lab['max_points']:g} points, {open_points:g} open", said)
        self.assertIn("3 points are open: twice: 1000 elements; ", said)
        self.assertIn("4 points are open: twice: coalesced. ", said)
        self.assertIn("A machine with a GPU judges this case there", said)
        self.assertTrue(all(c["unsupported"] for c in lab["cases"] if c["verdict"] == "SKIPPED"))

    def test_what_nvcc_warned_of_stands_below_the_failure(self):
        text = SOLUTION.read_text().replace("void twice(", "__device__ int spare = 2;\nvoid twice(", 1)
        text = text.replace("256>>>(x, y, n);", "256>>>(x, y, n + spare - 2);", 1)
        printed, cases = self.grade(text, "--case", "twice: 1000 elements")
        self.assertEqual([c["verdict"] for c in cases], ["PARTIALLY_WRITTEN"], printed)
        self.assertIn('nvcc warned: line 19: a __device__ variable "spare" cannot be directly read in a host '
                      'function', " ".join(printed.split()))
        self.assertNotIn("nvcc warned", self.grade(SOLUTION.read_text(), "--case", "twice: 1000 elements")[0])

    def test_that_more_was_printed_is_said_of_the_case_that_did(self):
        prints = "    std::printf(n == 67 ? \"short\\n\" : \"%20000d\\n\", n);\n"
        text = SOLUTION.read_text().replace("    if (n > 0) double_each", prints + "    if (n > 0) double_each", 1)
        text = "#include <cstdio>\n" + text.replace("256>>>(x, y, n);", "256>>>(x, y, n - (n == 67));", 1)
        printed, cases = self.grade(text, "--case", "twice")
        self.assertEqual([c["verdict"] for c in cases if c["verdict"] != "PASS"], ["PARTIALLY_WRITTEN"], printed)
        self.assertIn("It printed:\n    | short\n", printed)
        self.assertNotIn("more was cut", printed)

    def test_host_and_kernel_print_in_the_order_of_the_program(self):
        launch = "    std::printf(\"before\\n\");\n    if (n > 0) double_each"
        text = SOLUTION.read_text().replace("    if (n > 0) double_each", launch, 1)
        wait = "    cudaDeviceSynchronize();\n    std::printf(\"after\\n\");"
        text = text.replace("256>>>(x, y, n);", "256>>>(x, y, n);\n" + wait, 1)
        text = text.replace("    if (i < n)", "    if (i == 0) printf(\"in the kernel\\n\");\n    if (i < n)", 1)
        printed, cases = self.grade("#include <cstdio>\n" + text, "--case", "twice: 1000 elements")
        self.assertEqual([c["verdict"] for c in cases], ["PASS"], printed)
        self.assertIn("    | before\n    | in the kernel\n    | after\n", printed)

    def test_a_missing_event_is_found_in_any_case(self):
        text = SOLUTION.read_text().replace("    cudaStreamWaitEvent(second, copied);\n", "", 1)
        for schedule in "index", "late":
            with self.subTest(schedule):
                _, cases = self.grade(text, "--case", "copy_but_first: what nobody asked for", "--schedule", schedule)
                self.assertEqual(cases[0]["verdict"], "UNINITIALISED")
                self.assertIn("is an event or a synchronisation missing?", cases[0]["hint"])

    def test_two_streams_are_shown_side_by_side(self):
        page = self.folder / "page.html"
        done = workbook("explain", "verdicts", "--submission", SOLUTION, "--case", "copy_but_first: what", "--html", page,
                        cwd=TOP)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\n  stream 1  #+\n  stream 2  \.+#+\n  host      \.+\n")
        self.assertIn("<h3>Streams</h3>", page.read_text())
        self.assertIn('class="event"', page.read_text())


# Runs a command with a file system of $2 bytes mounted on folder $1, as root or in a user namespace. Status 3: the
# machine allows neither.
SMALL_DISK = """mount -t tmpfs -o "size=$2" none "$1" || exit 3; shift 2; exec "$@" """


def on_small_disk(folder, size, *command, **environment):
    space = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    return run(*space, "sh", "-c", SMALL_DISK, "sh", folder, str(size), *command, cwd=TOP,
               env={**os.environ, **environment})


def has_small_disks():
    with tempfile.TemporaryDirectory() as folder:
        try:
            return on_small_disk(folder, 4096, "true").returncode == 0
        except FileNotFoundError:
            return False


@unittest.skipUnless(SOLUTION.exists(), "this edition has no labs that test the grader")
@unittest.skipUnless(has_small_disks(), "no file system of a few bytes can be made here")
class full_disks(in_a_folder):
    """A full disk is the machine's fault: the status is 99, the message names the folder, and no points are lost."""

    def setUp(self):
        super().setUp()
        self.small = self.folder / "small"
        self.small.mkdir()
        self.program = BUILD_ROOT / "cuda-workbook"

    def fresh(self, name="answer.cu"):
        """Returns the solution with a change that no cached object has."""
        source = self.folder / name
        source.parent.mkdir(exist_ok=True)
        source.write_text(f"// {random.random()}\n" + SOLUTION.read_text())
        return source

    def grade(self, folder, size, **environment):
        done = on_small_disk(folder, size, self.program, "grade", "verdicts", "--submission", self.fresh(), "--backend",
                             "sim", "--case", "sum", **environment)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def full(self, told, folder):
        status, text = told
        self.assertEqual(status, 99, text)
        self.assertIn("No space left on device. what to do: free some space on the disk that holds", text)
        self.assertIn(str(folder), text)
        self.assertNotIn("BUILD_FAILED", text)

    def test_of_temporary_files(self):
        for size in ("64k", "2m"):
            self.full(self.grade(self.small, size, TMPDIR=str(self.small)), self.small)

    def test_of_what_is_kept_of_submissions(self):
        kept = BUILD_ROOT / "submissions"
        for size in ("16k", "300k"): # too small for the object, and for the linked worker
            self.full(self.grade(kept, size), kept)

    def test_of_the_result(self):
        done = on_small_disk(self.small, "4k", "sh", "-c", 'head -c 4096 /dev/zero >"$0"; exec "$@"', self.small / "fill",
                             self.program, "grade", "verdicts", "--submission", SOLUTION, "--backend", "sim", "--case",
                             "sum", "--json", self.small / "result.json")
        self.full((done.returncode, " ".join((done.stdout + done.stderr).split())), self.small)

    def test_that_replays_and_points_go_to_ends_no_grade(self):
        points = TOP / ".workbook"
        points.mkdir(exist_ok=True)
        status, text = self.grade(points, "4k")
        self.assertEqual(status, 0, text)

    def test_of_the_tables_of_a_class(self):
        lab = sorted(folder.name for folder in (TOP / "labs").iterdir() if folder.is_dir())[0]
        names = [f"student{i}" for i in range(4)]
        for name in names:
            self.fresh(f"class/{name}.cu").write_text("this is no C++, so that nothing is linked\n")
        table, result = self.small / "grades.csv", self.small / "class.json"
        shown = self.folder / "copy.csv"
        done = on_small_disk(self.small, "8k", "sh", "-c", '"$@"; s=$?; cp "$0" "$COPY"; exit $s', table, self.program,
                             "autograde", self.folder / "class", lab, "--backend", "sim", "--csv", table, "--json",
                             result, COPY=str(shown))
        if "cannot shut a submission off" in done.stderr:
            self.skipTest("submissions cannot be shut off here")
        self.assertEqual(done.returncode, 99, done.stdout + done.stderr)
        for name in names: # each is graded and printed, even if the tables fail; not every lab has a clock
            self.assertRegex(done.stdout, rf"(?m)^{name} +{lab} +0 / \d+ +(0 / \d+ +)?BUILD_FAILED in build$")
        self.assertIn("rows: cannot write", " ".join(done.stderr.split()))
        rows = list(csv.reader(shown.read_text().splitlines()))
        self.assertIn("open_points", rows[0])
        self.assertGreater(len(rows), 1)
        self.assertEqual({len(row) for row in rows}, {len(rows[0])}) # no row is truncated

    def test_of_a_converted_result(self):
        result = self.folder / "result.json"
        case = {"name": "sum: one", "kind": "correctness", "verdict": "PASS", "points": 1, "max_points": 1}
        case["message"] = 5000 * "x"
        lab = {"lab": "02_scaling", "submission": "stub", "status": "pass", "points": 1, "max_points": 1, "cases": [case]}
        result.write_text(json.dumps({"schema": "cuda-workbook/1", "labs": [lab]}))
        done = on_small_disk(self.small, "4k", self.program, "convert", result, "--to", "junit", "--output",
                             self.small / "out.xml")
        self.full((done.returncode, " ".join(done.stderr.split())), self.small)


class converting(unittest.TestCase):
    def convert(self, document, form, *words, status=0, **places):
        text = document if isinstance(document, bytes) else json.dumps(document).encode()
        done = workbook("convert", "-", "--to", form, *words, input=text, text=False, env={**os.environ, **places})
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def result(self, text):
        case = {"name": "scale: one", "kind": "correctness", "verdict": "CRASH", "points": 1, "max_points": 4}
        case |= {"message": text, "hint": text, "printed": text, "output": text}
        lab = {"lab": "02_scaling", "submission": text, "status": "fail", "points": 1, "max_points": 4}
        return {"schema": "cuda-workbook/1", "labs": [lab | {"cases": [case], "warnings": [text]}]}

    def test_real_parsers_read_what_any_submission_can_have_printed(self):
        dice = random.Random(7)
        signs = "]]><&\"'%|`@#:,\\é€😀\x7f\x85\u2028\u202e\ufffe\uffff\ufeff" + "".join(map(chr, range(32)))
        for _ in range(40):
            document = self.result("".join(dice.choice(signs) for _ in range(400)))
            suites = xml.etree.ElementTree.fromstring(self.convert(document, "junit")[0])
            self.assertEqual([suites.get("tests"), suites.get("failures"), suites.get("errors")], ["1", "1", "0"])
            self.assertEqual(suites.find("testsuite/testcase/failure").get("type"), "CRASH")
            self.assertEqual(json.loads(self.convert(document, "gradescope")[0])["score"], 1)
            self.assertEqual(json.loads(self.convert(document, "prairielearn")[0])["score"], 0.25)
            with tempfile.TemporaryDirectory() as folder:
                summary = Path(folder) / "summary"
                commands, said = self.convert(document, "github", GITHUB_STEP_SUMMARY=str(summary))
                self.assertRegex(commands, r"\A::error file=[^:,\n]*,title=CRASH in scale%3A one::[^\n]*\n\Z")
                self.assertEqual(said, "")
                page = xml.etree.ElementTree.fromstring(f"<p>{summary.read_text()}</p>")
                self.assertEqual(len(page.findall("table/tr")), 2)

    def test_what_cannot_be_read_or_written_is_one_sentence(self):
        result = self.result("none")
        for document, words in ((b"", "is not a JSON object"), (b'{"x": "\xff"}', "is not a JSON object"),
                                ({"schema": "other"}, "is not of schema cuda-workbook/1")):
            told = self.convert(document, "junit", status=2)
            self.assertEqual(told[0], "")
            self.assertEqual(" ".join(told[1].split()),
                             f"standard input {words}. Give the file that grade --json wrote.")
        self.assertIn("cannot write /no/such", self.convert(result, "junit", "--output", "/no/such/file", status=2)[1])
        self.assertIn("/dev/null is no file", self.convert(result, "junit", "--output", "/dev/null", status=2)[1])
        self.assertIn("No summary was written", self.convert(result, "github", GITHUB_STEP_SUMMARY="")[1])
        with open("/dev/full", "w", encoding="ascii") as full:
            done = workbook("convert", "-", "--to", "text", input=json.dumps(result), capture_output=False, stdout=full,
                            stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, "standard output: No space left" in done.stderr), (99, True), done.stderr)


class command_line(unittest.TestCase):
    def refused(self, *words):
        done = workbook(*words, cwd=TOP)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        return done.stderr

    def test_a_word_too_many_is_no_command(self):
        for command in ("watch", "reset", "explain"):
            self.assertEqual(self.refused(command, "01", "02"), f'{command} takes one lab; "02" is one too many.\n'
                             f"See: ./workbook {command} --help\n")
        self.assertIn('doctor takes no further word; "foo" is one too many.\n', self.refused("doctor", "foo"))

    def test_a_todo_s_number_is_an_option_of_hint(self):
        self.assertIn('hint takes one lab; "07" is one too many. Did you mean --todo 7?\n',
                      self.refused("hint", "01", "07"))
        self.assertIn('"0" is one too many.\n', self.refused("hint", "01", "0"))
        self.assertIn('"scan" is one too many.\n', self.refused("hint", "01", "scan"))

    def test_calls_are_kept_for_the_tools_of_a_gpu_alone(self):
        self.assertIn("--keep-calls is for the tools of a GPU, and this grade runs on the simulator",
                      " ".join(self.refused("grade", "02", "--keep-calls", "--backend", "sim").split()))

    def test_help_fits_80_columns_and_keeps_its_tables(self):
        about = workbook("--help").stdout
        commands = re.search(r"SUBCOMMANDS:\n(.*?)\n\n", about, re.DOTALL | re.IGNORECASE)[1]
        names = [line.split()[0] for line in commands.splitlines()]
        self.assertIn("grade", names)
        for words in ([], *([name] for name in names)):
            done = workbook(*words, "--help", cwd=TOP)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([line for line in done.stdout.splitlines() if len(line) > 80 or line != line.rstrip()],
                             [], words)
        self.assertRegex(about, r"\n  \./workbook watch \d\d {10,}grade after every save")
        self.assertIn("\n  --schedule {index, random, late}\n", workbook("grade", "--help").stdout)

    def test_the_version_is_the_changelog_s(self):
        newest = next(line for line in (TOP / "CHANGELOG.md").read_text().splitlines() if line.startswith("## "))
        done = workbook("--version")
        self.assertEqual(done.returncode, 0)
        edition = ", the student edition of commit [0-9a-f]{12}" if (TOP / "edition.txt").exists() else ""
        self.assertRegex(done.stdout, f"^CUDA workbook {re.escape(newest[3:])}{edition}\n$")

    def test_no_command_and_no_option_are_named(self):
        self.assertIn('there is no command "grdae". Did you mean grade?\n', self.refused("grdae", "01"))
        self.assertIn('there is no option "--agian". Did you mean --again?\n', self.refused("hint", "01", "--agian"))


if __name__ == "__main__":
    main()
