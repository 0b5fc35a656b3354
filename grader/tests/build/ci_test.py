#!/usr/bin/env python3
# Tests ci/ without building anything: the Action, the templates and the image call one script, which quotes, refuses
# and converts as it says. `ci_root` in the slow suite runs all of it in a bare Debian.
import json
import os
import re
import shutil
import unittest
from pathlib import Path

from shared import BUILD_ROOT, TOP, in_a_folder, main, run

CI = TOP / "ci"
SCRIPT = CI / "grade_submission.sh"
STUDENTS = not CI.is_dir()
PARTS = {"grade", "set-up", "build", "check-base", "places"}
# One call of the script: its path, a part, then options and quoted variables.
CALL = re.compile(r"\"?(?:\$GITHUB_ACTION_PATH|/workbook/ci|ci)/grade_submission\.sh\"? ([a-z-]+)"
                  r"(?: (?:--[a-z-]+|auto|sim|\"\$[A-Z_]+\"|\$LABS))*(?: >>\"\$GITHUB_OUTPUT\")?")
# Stands in for the workbook's program: says what it was asked for, and answers with a class of two.
PROGRAM = """#!/bin/sh
echo "$*" >>"$CALLS"
case $1 in
autograde)
    while [ $# -gt 0 ]; do
        case $1 in --json) json=$2 ;; --csv) csv=$2 ;; esac
        shift
    done
    echo "::error::from a student"
    [ ! -f "$PROBLEM" ] || { cat "$PROBLEM" >&2; exit 99; }
    echo 'student,lab' >"$csv"
    cat "$CLASS" >"$json"
    [ ! -f "$FAULT" ] || exit 99 ;;
convert)
    case "$*" in *"--to github"*) [ ! -f "$FULL" ] || exit 2 ;; esac
    shift 2
    echo "::error title=$2::annotated" >"$CALLS.said"
    while [ $# -gt 0 ]; do
        case $1 in --output) output=$2 ;; esac
        shift
    done
    if [ -n "${output-}" ]; then echo converted >"$output"; else cat "$CALLS.said"; fi ;;
esac
"""


@unittest.skipIf(STUDENTS, "this is a student edition")
class what_calls_the_script(unittest.TestCase):
    def test_the_script_is_sound_shell(self):
        self.assertEqual(run("bash", "-n", SCRIPT).stderr, "")
        if shutil.which("shellcheck"):
            done = run("shellcheck", "--severity=warning", SCRIPT)
            self.assertEqual(done.returncode, 0, done.stdout)

    def parsed(self, name):
        try:
            import yaml
        except ImportError:
            self.skipTest("Python has no yaml (package python3-yaml)")
        return yaml.safe_load((CI / name).read_text())

    def must_call(self, line):
        found = CALL.fullmatch(line.strip())
        self.assertTrue(found, f"it does more than call the script: {line}")
        self.assertIn(found[1], PARTS)

    def test_each_step_of_the_action_calls_the_script_with_quoted_variables(self):
        action = self.parsed("action.yml")
        steps = [step for step in action["runs"]["steps"] if "run" in step]
        self.assertGreaterEqual(len(steps), 2)
        for step in steps:
            self.assertEqual(step["shell"], "bash")
            self.must_call(step["run"])
            self.assertEqual(set(re.findall(r"\$([A-Z]+)\b", step["run"])), set(step.get("env", {})))
        used = re.findall(r"inputs\.([a-z]+)", json.dumps(action["runs"]))
        self.assertEqual(set(used), set(action["inputs"]))

    def test_the_workflow_takes_a_student_as_data(self):
        workflow = self.parsed("github_workflow.yml")
        self.assertEqual(workflow["permissions"], {"contents": "read"})
        steps = workflow["jobs"]["grade"]["steps"]
        self.assertEqual([step for step in steps if "run" in step], [])
        for step in steps:
            if "checkout" in step.get("uses", ""):
                self.assertIs(step["with"]["persist-credentials"], False)
        inputs = set(self.parsed("action.yml")["inputs"])
        graded = next(step for step in steps if step.get("uses") == "./ci")
        self.assertLessEqual(set(graded["with"]), inputs)

    def test_each_script_of_the_template_calls_the_script(self):
        template = self.parsed("gitlab-ci.yml")
        lines = [line for job in template.values() for line in job.get("script", [])]
        self.assertEqual(len(lines), 1)
        self.must_call(lines[0])
        known = {**template["variables"], "BACKEND": None}
        self.assertLessEqual(set(re.findall(r'"\$([A-Z_]+)"', lines[0])), set(known))
        for job in ("grade", "grade on a GPU"):
            self.assertEqual(template[job]["extends"], ".cuda_grade")
            self.assertIn(template[job]["variables"]["BACKEND"], ("sim", "auto"))

    def test_no_expression_of_a_ci_is_pasted_into_shell(self):
        for path in CI.glob("*.yml"):
            for line in path.read_text().splitlines():
                if re.match(r"\s*(- )?(run|script):", line):
                    self.assertNotIn("${{", line, path)

    def test_the_image_runs_the_parts_of_the_script_and_ends_as_no_root(self):
        text = (CI / "Containerfile").read_text()
        lines = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
        self.assertEqual(lines[0], ["ARG", "BASE"])  # without a default
        self.assertEqual([rest for name, rest in lines if name == "FROM"], ["${BASE}"])
        steps = [rest for name, rest in lines if name == "RUN"]
        for step in steps:
            self.must_call(step)
        self.assertEqual([CALL.fullmatch(step)[1] for step in steps], ["check-base", "set-up", "build"])
        users = [rest for name, rest in lines if name == "USER"]
        self.assertEqual(len(users), 1)
        self.assertRegex(users[0], r"^[1-9]\d*:0$")
        self.assertGreater(lines.index(["USER", users[0]]), max(lines.index(["RUN", step]) for step in steps))
        entry = json.loads(next(rest for name, rest in lines if name == "ENTRYPOINT"))
        self.assertEqual(entry, ["/workbook/ci/grade_submission.sh", "grade", "--no-set-up"])

    def test_no_file_names_a_digest(self):
        for path in CI.iterdir():
            self.assertNotRegex(path.read_text(), r"sha256:[0-9a-f]{8}", path.name)


@unittest.skipIf(STUDENTS, "this is a student edition")
class the_script(in_a_folder):
    def setUp(self):
        super().setUp()
        self.top = self.folder / "course"
        (self.top / "ci").mkdir(parents=True)
        (self.top / "build").mkdir()
        (self.top / "labs/02_coalescing").mkdir(parents=True)
        shutil.copy(SCRIPT, self.top / "ci")
        for name in ("workbook", "build/cuda-workbook"):
            (self.top / name).write_text(PROGRAM)
            (self.top / name).chmod(0o755)
        self.calls, self.problem, self.fault = (self.folder / name for name in ("calls", "problem", "fault"))
        self.calls.touch()
        self.handed_in = self.folder / "handed in"
        self.results = self.folder / "the results"
        self.give(["ada", "Lovelace Ada/../$(touch x)"])

    def give(self, students):
        rows = [{"student": name, "lab": "02_coalescing"} for name in students]
        (self.folder / "class").write_text(json.dumps({"rows": rows}))
        for number in range(len(students)):
            (self.handed_in / str(number)).mkdir(parents=True, exist_ok=True)

    def run_script(self, *words, **variables):
        names = {"CALLS": self.calls, "CLASS": self.folder / "class", "PROBLEM": self.problem, "FAULT": self.fault}
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI"))}
        return run(self.top / "ci/grade_submission.sh", *words, cwd=self.folder,
                   env={**plain, **{name: str(path) for name, path in names.items()}, **variables})

    def graded(self, *options, status=0, **variables):
        done = self.run_script("grade", *options, self.handed_in, "02", self.results, **variables)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_a_class_is_graded_and_each_result_converted(self):
        done = self.graded()
        self.assertRegex(done.stdout, r"^students: 2, in \d+ s; the results are in .*/the results\n$")
        self.assertNotIn("from a student", done.stdout + done.stderr)
        self.assertIn("from a student", (self.results / "autograde.txt").read_text())
        names = sorted(path.name for path in (self.results / "students").iterdir())
        self.assertEqual(names, [f"{stem}.{end}" for stem in ("001-ada", "002-Lovelace_Ada_touch_x_")
                                 for end in ("json", "txt", "xml")])
        self.assertFalse((self.folder / "x").exists())
        first = self.calls.read_text().splitlines()[0]
        self.assertTrue(first.startswith(f"autograde {self.handed_in} 02 --backend sim --results {self.results}/kept --csv "), first)

    def test_forms_clock_and_backend_are_passed_on(self):
        self.graded("--to", "gradescope", "--clock", "--backend", "auto")
        calls = self.calls.read_text()
        self.assertIn("--backend auto", calls)
        self.assertIn("--to gradescope --clock --output", calls)
        self.assertEqual(sorted(path.name for path in (self.results / "students").iterdir()),
                         ["001-ada.gradescope.json", "002-Lovelace_Ada_touch_x_.gradescope.json"])

    def test_one_submission_is_a_class_of_one_without_other_files(self):
        one = self.handed_in / "ada"
        (one / "labs/02_coalescing").mkdir(parents=True)
        (one / "labs/02_coalescing/stub.cu").write_text("// mine\n")
        (one / "large.bin").write_bytes(b"0" * 100)
        (one / ".git").mkdir()
        (one / ".git/hidden.cu").write_text("")
        (one / "elsewhere.cu").symlink_to("/etc/passwd")
        kept = self.folder / "kept"
        (self.top / "workbook").write_text(f'#!/bin/sh\ncp -a "$2" "{kept}"\n' + PROGRAM.partition("\n")[2])
        self.handed_in = one
        self.graded()
        found = sorted(str(path.relative_to(kept)) for path in kept.rglob("*") if not path.is_dir())
        self.assertEqual(found, ["ada/elsewhere.cu", "ada/labs/02_coalescing/stub.cu"])
        self.assertTrue((kept / "ada/elsewhere.cu").is_symlink())  # which autograde does not follow

    def test_a_fault_of_the_machine_is_99_and_what_it_said_is_no_command(self):
        self.problem.write_text("::set-output name=a::b\n##[error]c\n\033[31mno sandbox\n")
        done = self.graded(status=99)
        self.assertIn("no sandbox", done.stderr)
        for pattern in ("::", "##[", "\033"):
            self.assertNotIn(pattern, done.stderr)
        self.assertIn("nothing was graded", done.stderr)

    def test_rows_that_a_fault_left_ungraded_are_converted_and_end_in_99(self):
        self.fault.touch()
        done = self.graded(status=99)
        self.assertIn("Start it again", done.stderr)
        self.assertEqual(len(list((self.results / "students").iterdir())), 6)

    def test_without_set_up_the_launcher_is_not_called(self):
        (self.top / "workbook").write_text("#!/bin/sh\nexit 7\n")
        self.graded("--no-set-up")
        (self.top / "build/cuda-workbook").unlink()
        self.results = self.folder / "other results"
        self.assertIn("nothing is built", self.graded("--no-set-up", status=99).stderr)

    def test_annotations_are_shown_for_a_single_student_only(self):
        summary = str(self.folder / "summary")
        self.assertNotIn("annotated", self.graded(GITHUB_STEP_SUMMARY=summary).stdout)
        self.results = self.folder / "results of one"
        self.give(["ada"])
        self.assertIn("::annotated", self.graded(GITHUB_STEP_SUMMARY=summary).stdout)
        self.assertIn("--to github", self.calls.read_text())

    def test_a_summary_without_room_ends_no_class(self):
        full = self.folder / "full"
        full.touch()
        done = self.graded(GITHUB_STEP_SUMMARY=str(self.folder / "summary"), FULL=str(full))
        self.assertIn("The step's summary ends before row 1.", done.stdout)
        self.assertEqual(self.calls.read_text().count("--to github"), 1)
        self.assertEqual(len(list((self.results / "students").iterdir())), 6)

    def test_of_very_many_files_some_are_graded_at_their_own_times(self):
        one = self.handed_in / "ada"
        (one / "labs").mkdir(parents=True)
        for number in range(1500):
            (one / f"{number:0200}.cu").touch()
            os.utime(one / f"{number:0200}.cu", (1e9, 1e9))
        kept = self.folder / "kept"
        (self.top / "workbook").write_text(f'#!/bin/sh\ncp -a "$2" "{kept}"\n' + PROGRAM.partition("\n")[2])
        self.handed_in = one
        self.graded()
        found = list(kept.rglob("*.cu"))
        self.assertEqual(len(found), 1000)
        self.assertEqual({path.stat().st_mtime for path in found}, {1e9})

    def test_wrong_words_are_named(self):
        for words, named in ((["grade", "a", "02"], "2 words"), (["grade", "--quick", "a", "02", "r"], "--quick"),
                             (["grade", self.handed_in, "$(id)", "r"], "$(id)"), (["grade", "none", "02", "r"], '"none"'),
                             (["grade", "--backend", "gpu", self.handed_in, "02", "r"], '"gpu"'),
                             (["grade", "--to", "pdf", self.handed_in, "02", "r"], '"pdf"'),
                             (["grade", "--to"], "--to needs a value"), (["build", "--fast"], "--fast"), (["play"], "play"),
                             ([], "there is no part")):
            with self.subTest(words):
                done = self.run_script(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(named, done.stderr)
        self.assertEqual(self.calls.read_text(), "")

    def test_results_of_an_earlier_run_are_not_mixed_with_new_ones(self):
        self.graded()
        self.assertIn("holds results of an earlier run", self.graded(status=2).stderr)

    def test_an_image_without_a_digest_is_refused(self):
        good = "registry.example.org/debian:12@sha256:" + "0123456789abcdef" * 4
        self.assertEqual(self.run_script("check-base", good).returncode, 0)
        for bad in ("debian:12", "", good[:-1], good.replace("sha256", "md5"), good + " x", good.upper()):
            with self.subTest(bad):
                done = self.run_script("check-base", bad)
                self.assertEqual(done.returncode, 99)
                self.assertIn("has no digest", done.stderr)

    def test_a_cached_build_of_the_same_commit_is_taken_as_it_is(self):
        git = ["git", "-C", self.top, "-c", "user.name=a", "-c", "user.email=a@example.org"]
        (self.top / ".gitignore").write_text("/build/\n")
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
            run(*git, *words, check=True)
        source, built = self.top / "ci/grade_submission.sh", self.top / "build/made"
        self.run_script("set-up", CI="true")
        built.touch()
        os.utime(source)  # as a fresh checkout of the same commit
        os.utime(source, (built.stat().st_mtime + 100,) * 2)
        self.run_script("set-up")
        self.assertGreater(source.stat().st_mtime, built.stat().st_mtime)  # no CI: times are the user's
        self.run_script("set-up", CI="true")
        self.assertLessEqual(source.stat().st_mtime, built.stat().st_mtime)
        (self.top / "labs/new.txt").write_text("new\n")
        run(*git, "add", "-A", check=True)
        run(*git, "commit", "-q", "-m", "more", check=True)
        os.utime(source, (built.stat().st_mtime + 100,) * 2)
        self.run_script("set-up", CI="true")
        self.assertGreater(source.stat().st_mtime, built.stat().st_mtime)  # another commit

    def test_the_cache_has_a_key_of_its_own_for_each_commit(self):
        lines = dict(line.split("=", 1) for line in self.run_script("places").stdout.splitlines())
        self.assertEqual(lines["root"], str(self.top.resolve()))
        self.assertRegex(lines["key"], r"^cuda-workbook-[a-z0-9_]+-[A-Za-z0-9.]+-[0-9a-f]+$")


if __name__ == "__main__":
    main()
