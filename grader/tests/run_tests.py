#!/usr/bin/env python3
# Runs the tests of a configured build and says how many single tests passed, from what each program reported.
"""usage: run_tests.py BUILD [TEST...]

A test program counts as many tests as it reports: doctest's test cases, Python's unittest, or a closing line
`N passed, N failed`; a program that reports none counts as one. A program that fails without a failed test
in its report, by a crash or a time limit, adds one failure. The last line is `N passed, N failed`.
"""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

DOCTEST = re.compile(r"^\[doctest\] test cases: +\d+ +\| +(\d+) passed \| +(\d+) failed", re.M)
UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n\n(?:OK|FAILED)(?: \((.*)\))?", re.M)
PLAIN = re.compile(r"^(\d+) passed, (\d+) failed", re.M)


def reported(text):
    """Returns (passed, failed, skipped) as the program reports them, or None."""
    if found := DOCTEST.findall(text):
        return *(sum(int(row[i]) for row in found) for i in (0, 1)), 0  # doctest's "skipped" counts filtered cases
    if found := UNITTEST.search(text):
        counts = dict(part.split("=") for part in (found[2] or "").split(", ") if part)
        failed = int(counts.get("failures", 0)) + int(counts.get("errors", 0))
        skipped = int(counts.get("skipped", 0))
        return int(found[1]) - failed - skipped, failed, skipped
    if found := PLAIN.findall(text):
        return int(found[-1][0]), int(found[-1][1]), 0
    return None


def counts(record):
    """Returns (passed, failed, skipped) of one line of testlog.json."""
    text = record.get("stdout", "") + "\n" + record.get("stderr", "")
    if record["result"] == "SKIP":
        return 0, 0, 1
    good = record["result"] in ("OK", "EXPECTEDFAIL")
    passed, failed, skipped = reported(text) or ((1, 0, 0) if good else (0, 1, 0))
    if not good and not failed:
        failed = 1
    if good and failed:
        raise SystemExit(f"{record['name']} reports {failed} failed tests and yet succeeds; its exit status is wrong")
    return passed, failed, skipped


def main():
    build, *names = sys.argv[1:]
    log = Path(build) / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    command = ["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", *names]
    meson = subprocess.Popen(command)
    stopped = []

    def stop(number, _):  # meson ends the tests and what they started
        stopped.append(number)
        meson.terminate()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    status = meson.wait()
    if stopped:
        print("stopped", file=sys.stderr)
        return 128 + stopped[0]
    if not log.exists():
        print("No test ran: meson test gave up before the first one.")
        print("0 passed, 1 failed")
        return 1
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    total = [sum(column) for column in zip(*map(counts, records))] or [0, 0, 0]
    for record in records:
        if record["result"] == "SKIP":
            reason = (record.get("stdout") or record.get("stderr") or "").strip().splitlines()
            print(f"skipped {record['name']}: {reason[-1] if reason else 'no reason given'}")
    passed, failed, skipped = total
    if skipped:
        print(f"{skipped} skipped")
    print(f"{passed} passed, {failed} failed")
    return 0 if status == 0 and not failed and passed else 1


if __name__ == "__main__":
    sys.exit(main())
