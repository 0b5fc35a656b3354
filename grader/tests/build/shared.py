# Tests of the build and the commands share this: the project, its build, the program, and a folder of their own.
"""Each test is called with the path of the build's toolchain.json."""

import json
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
BUILD = json.loads(Path(sys.argv[1]).read_text())
BUILD_ROOT = Path(BUILD["build_root"])


def run(*command, **how):
    """Runs a command to its end and returns it, with its output as text."""
    return subprocess.run(command, **{"capture_output": True, "text": True, **how})


def workbook(*words, **how):
    """Runs the program behind ./workbook."""
    return run(BUILD_ROOT / "cuda-workbook", *words, **how)


def wait_until(reached):
    end = time.monotonic() + 60
    while not reached():
        if time.monotonic() > end:
            raise AssertionError("not reached in 60 s")
        time.sleep(0.01)


class in_a_folder(unittest.TestCase):
    """Gives each test an empty folder."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
