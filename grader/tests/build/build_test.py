#!/usr/bin/env python3
# Tests meson.build: an edited header makes stale what reads it, bad rows are named, and student editions configure.
import json
import os
import re
import shutil
import unittest
from pathlib import Path

from shared import BUILD, TOP, in_a_folder, main, run, workbook

STUDENTS = (TOP / "edition.txt").exists()


class configuring(in_a_folder):
    """Configures copies of the tree with one change each."""

    def setUp(self):
        super().setUp()
        self.tree = self.folder / "tree"
        unwanted = re.compile(r"build.*|\.(?!clang|editor|git(ignore|attributes)).*")
        shutil.copytree(TOP, self.tree, ignore=lambda folder, names: [
            n for n in names if n == "__pycache__" or Path(folder) == TOP and unwanted.fullmatch(n)])
        self.lab = next(lab for lab in BUILD["labs"] if not lab["test"])["lab"]

    def configure(self):
        headers = {"CPLUS_INCLUDE_PATH": str(TOP / ".venv/include")}  # where the launcher puts them if it cannot install
        result = run("meson", "setup", self.tree / "build", self.tree, f"-Dnvcc={BUILD['nvcc']}",
                     env={**os.environ, **headers})
        return result.returncode, result.stdout + result.stderr

    def ninja(self, *words):
        return run(BUILD["ninja"], "-C", self.tree / "build", *words)

    def stale(self, target):
        """Returns the steps that ninja would run for a target now."""
        return self.ninja("-n", "-v", target).stdout

    def test_an_edited_header_makes_stale_what_reads_it_and_nothing_else(self):
        status, text = self.configure()
        self.assertEqual(status, 0, text[-2000:])
        target = f"{self.lab}.naive.o"
        made = self.ninja(target)
        self.assertEqual(made.returncode, 0, made.stdout)
        self.assertIn("no work to do", self.stale(target))
        os.utime(self.tree / "grader/process/worker_process.hpp")
        self.assertIn("no work to do", self.stale(target))
        for name in (f"labs/{self.lab}/lab.hpp", f"reference/{self.lab}/naive.cu", "grader/build/compile.sh"):
            old = (self.tree / name).stat()
            os.utime(self.tree / name)
            self.assertIn(f"compile.sh {BUILD['nvcc']}", self.stale(target), name)
            os.utime(self.tree / name, ns=(old.st_atime_ns, old.st_mtime_ns))
            self.assertIn("no work to do", self.stale(target))
        os.utime(self.tree / "grader/build/compile.sh")
        self.ninja(target)
        self.assertIn("no work to do", self.stale(target))

    def test_a_row_without_files_stops_the_configuration_in_words(self):
        (self.tree / "labs" / self.lab / "stub.cu").unlink()
        status, text = self.configure()
        self.assertNotEqual(status, 0)
        self.assertIn(f"labs/{self.lab}/stub.cu: is missing; meson.build lists {self.lab}", text)

    def test_files_without_a_row_stop_the_configuration_in_words(self):
        (self.tree / "labs" / "99_unlisted").mkdir()
        status, text = self.configure()
        self.assertNotEqual(status, 0)
        self.assertIn("labs/99_unlisted: has no row in meson.build", text)

    def test_a_misspelt_key_of_a_row_stops_the_configuration_in_words(self):
        table = self.tree / "meson.build"
        table.write_text(table.read_text().replace(f"'{self.lab}': {{", f"'{self.lab}': {{'rung': [], "))
        status, text = self.configure()
        self.assertNotEqual(status, 0)
        self.assertIn(f"the row of {self.lab} has the key 'rung'; known are rungs, nvcc,", text)

    def release(self, *labs):
        """Makes a student edition of the copy in its current state and replaces the copy by it."""
        git = ["git", "-C", self.tree, "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
            run(*git, *words, check=True)
        build = self.tree / "build"
        build.mkdir()
        moved = {**BUILD, "source_root": str(self.tree), "build_root": str(build)}
        (build / "toolchain.json").write_text(json.dumps(moved))
        made = self.folder / "edition"
        result = workbook("release", "--without-proof", made, *labs,
                          env={**os.environ, "CUDA_WORKBOOK_TOOLCHAIN": str(build / "toolchain.json")})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.tree = made

    def configured_labs(self):
        status, text = self.configure()
        self.assertEqual(status, 0, text[-2000:])
        made = json.loads((self.tree / "build/toolchain.json").read_text())
        return {lab["lab"]: lab["solutions"] for lab in made["labs"] if not lab["test"]}

    @unittest.skipIf(STUDENTS, "this is a student edition")
    def test_a_student_edition_holds_no_solution_and_configures(self):
        self.release()
        names = [str(path.relative_to(self.tree)) for path in self.tree.rglob("*")]
        self.assertEqual([name for name in names if name.startswith(("solutions", "grader/tests/verdicts"))
                          or "sectors" in name], [])
        pages = "".join(path.read_text() for path in self.tree.rglob("*.md"))
        self.assertNotIn("<!--", pages)
        self.assertNotIn("solutions/", pages)
        self.assertEqual(self.configured_labs(), {lab["lab"]: False for lab in BUILD["labs"] if not lab["test"]})

    @unittest.skipIf(STUDENTS, "this is a student edition")
    def test_a_student_edition_of_one_lab_configures(self):
        lab = [lab["lab"] for lab in BUILD["labs"] if not lab["test"]][-1]
        self.release(lab)
        self.assertEqual([path.name for path in (self.tree / "labs").iterdir() if path.is_dir()], [lab])
        self.assertIn(f"labs/{lab}/stub.cu", (self.tree / "README.md").read_text())
        self.assertEqual(self.configured_labs(), {lab: False})

    def test_an_unusable_nvcc_is_named(self):
        BUILD["nvcc"], good = "/no/such/nvcc", BUILD["nvcc"]
        try:
            status, text = self.configure()
        finally:
            BUILD["nvcc"] = good
        self.assertNotEqual(status, 0)
        self.assertIn("/no/such/nvcc: it is not there", text)


if __name__ == "__main__":
    main()
