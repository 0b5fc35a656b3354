#!/usr/bin/env python3
# Tests the autograder.py for Classroom 50: it leaves what the runner reads, or fails and leaves nothing.
import json
import os
import shutil
import sys
import unittest

from shared import BUILD_ROOT, TOP, in_a_folder, main, run

AUTOGRADER = TOP / "handouts/instructor/classroom50/autograder.py"

# A workbook whose autograde only looks at what it was given, and whose convert is the real one.
WORKBOOK = """#!/bin/sh
if [ "$1" != autograde ]; then exec {program} "$@"; fi
echo "::error::a student's text"
echo "$2/student:$3" >{folder}/called
find "$2" -type f -o -type l | sort >>{folder}/called
while [ "$1" != --json ]; do shift; done
cp {folder}/class.json "$2"
exit {status}
"""


@unittest.skipUnless(AUTOGRADER.exists(), "this edition is a student's")
@unittest.skipUnless(shutil.which("git"), "there is no git")
class autograding(in_a_folder):
    def setUp(self):
        super().setUp()
        checkout = self.folder / "checkout"
        (checkout / "labs/02_scaling").mkdir(parents=True)
        (checkout / "labs/02_scaling/stub.cu").write_text("// mine\n")
        (checkout / "link").symlink_to("/etc/passwd")
        self.checkout = checkout
        day = "2026-12-01T15:32:01+01:00"
        self.environment = {**os.environ, "CLASSROOM": "cuda", "ASSIGNMENT": "02-scaling", "SUBMISSION_TAG": "submit/1",
                            "COMMIT_URL": "https://x/commit/1", "RELEASE_URL": "https://x/releases/1",
                            "REVIEW_URL": "https://x/compare/1", "CUDA_WORKBOOK": str(self.folder / "workbook"),
                            "GIT_COMMITTER_DATE": day, "GIT_AUTHOR_DATE": "2026-11-01T00:00:00Z"}
        for words in (["init", "-q"], ["add", "."], ["-c", "user.name=ada", "-c", "user.email=a@b", "commit", "-qm", "1"]):
            done = run("git", *words, cwd=checkout, env=self.environment)
            self.assertEqual(done.returncode, 0, done.stderr)

    def grade(self, verdict, status=0):
        case = {"name": "scale: one", "kind": "correctness", "verdict": verdict, "points": 1.5, "max_points": 2}
        case |= {"message": "<b>::error::no"}
        lab = {"lab": "02_scaling", "submission": "stub", "status": "fail", "points": 1.5, "max_points": 2, "cases": [case]}
        result = {"schema": "cuda-workbook/1", "labs": [lab]}
        row = {"student": "student", "lab": "02_scaling", "status": "fail", "result": result}
        (self.folder / "class.json").write_text(json.dumps({"schema": "cuda-workbook-class/1", "rows": [row]}))
        folder = self.folder / "workbook"
        folder.mkdir(exist_ok=True)
        (folder / "workbook").write_text(WORKBOOK.format(program=BUILD_ROOT / "cuda-workbook", folder=self.folder,
                                                         status=status))
        (folder / "workbook").chmod(0o755)
        return run(sys.executable, AUTOGRADER, cwd=self.checkout, env=self.environment)

    def test_a_submission_gets_a_result_dated_by_its_commit(self):
        done = self.grade("WRONG_ANSWER")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads((self.checkout / "result.json").read_text())
        self.assertEqual(result, {
            "schema": "classroom50/result/v1", "classroom": "cuda", "assignment": "02-scaling", "submission": "submit/1",
            "commit": "https://x/commit/1", "release": "https://x/releases/1", "review": "https://x/compare/1",
            "datetime": "2026-12-01T14:32:01Z", "score": 3, "max-score": 4,
            "tests": [{"test-name": "scale: one", "passed": False, "score": 3, "max-score": 4, "verdict": "WRONG_ANSWER",
                       "message": "<b>::error::no"}]})
        self.assertIn("&lt;b&gt;", (self.checkout / "release-body.md").read_text())
        # Neither git's files nor what autograde prints reach the class or the log.
        called = (self.folder / "called").read_text().splitlines()
        self.assertTrue(called[0].endswith("/class/student:02_scaling"), called)
        self.assertEqual([name.split("/student/")[1] for name in called[1:]], ["labs/02_scaling/stub.cu", "link"])
        self.assertNotIn("a student's text", done.stdout + done.stderr)

    def test_a_fault_of_ours_is_no_score(self):
        for verdict, status in (("WRONG_ANSWER", 99), ("INFRA_ERROR", 0)):
            done = self.grade(verdict, status)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("ended with status 99", done.stderr)
            self.assertFalse((self.checkout / "result.json").exists())


main()
