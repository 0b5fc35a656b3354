#!/usr/bin/env python3
# Tests the launcher on machines that lack a tool, imitated by a PATH with only the others. It downloads nothing.
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from shared import BUILD, TOP, main, run

# The programs that the launcher and Meson call besides the tools under test.
PLAIN = """bash sh env uname readlink dirname basename mkdir rm cat sed grep sort head tail tr cut printf stat paste touch
ln mv cp date awk sleep true""".split()
TOOLS = "g++ c++ gcc cc as ld nm objcopy ar strip ranlib python3 meson ninja id".split()
# Imitates a compiler on a machine without the libraries' headers: every __has_include fails.
BARE_COMPILER = """#!/bin/sh
for a in "$@"; do last=$a; [ "$a" = -E ] && only=yes; done
[ "${only-}" = yes ] && [ "$last" = - ] || exec %s "$@"
text=$(cat)
case $text in *__has_include*) echo "$text" | grep -v '^#' ;; *) echo "$text" | %s "$@" ;; esac
"""
# Imitates Python without its venv module, so that installing by pip fails immediately.
NO_VENV = """#!/bin/sh
case "$*" in *venv*) exit 1 ;; esac
exec {} "$@"
"""
# Imitates a package manager that logs its arguments and installs the files in `offers`.
PACKAGE_MANAGER = """#!/bin/sh
echo "apt-get $*" >>"{log}"
for file in "{offers}"/*; do [ -e "$file" ] && ln -sf "$(readlink -f "$file")" "{bin}/"; done
exit {status}
"""
# Imitates a sudo that needs no password, and logs that it was authorised beforehand.
SUDO = """#!/bin/sh
[ "$1" != -v ] || {{ echo "sudo -v" >>"{log}"; exit 0; }}
shift
exec "$@"
"""


class machine:
    """A copy of the launcher in a folder of its own, with a PATH made of links.

    It lacks the tools `without`, and Python's venv unless `venv`. With the number of a `user` it has a package manager."""

    def __init__(self, without=(), venv=False, user=None):
        self.holder = tempfile.TemporaryDirectory()
        self.root = Path(self.holder.name)
        self.bin, self.offers, self.top = self.root / "bin", self.root / "offers", self.root / "workbook"
        for folder in (self.bin, self.offers, self.top / "grader/build"):
            folder.mkdir(parents=True)
        shutil.copy(TOP / "workbook", self.top)
        for name in ("prepare.sh", "prerequisites.txt", "find_toolkit.sh", "fetch_headers.py"):
            shutil.copy(TOP / "grader/build" / name, self.top / "grader/build")
        shutil.copytree(TOP / "grader/build/wheels", self.top / "grader/build/wheels")
        database = self.top / "grader/build/write_database.py"
        database.write_text("#!/bin/sh\n")
        database.chmod(0o755)
        for name in [*PLAIN, *TOOLS]:
            if name not in without and (found := shutil.which(name)):
                (self.bin / name).symlink_to(os.path.realpath(found) if name != "python3" else sys.executable)
        self.environment = {
            "PATH": str(self.bin),
            "HOME": str(self.root),
            "CPLUS_INCLUDE_PATH": str(TOP / ".venv/include"),  # stands for installed headers
            "PIP_NO_INDEX": "1",
            "PIP_CONFIG_FILE": os.devnull,
            "CUDA_WORKBOOK_TOOLKITS": "" if "nvcc" in without else str(Path(BUILD["nvcc"]).parents[1]),
        }
        if user is not None:
            self.script("id", f"#!/bin/sh\necho {user}\n")
            self.package_manager()
        if not venv and "python3" not in without:
            self.script("python3", NO_VENV.format(sys.executable))

    def script(self, name, text):
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def package_manager(self, status=0):
        self.log = self.root / "packages.log"
        self.log.touch()
        self.script("apt-get", PACKAGE_MANAGER.format(log=self.log, offers=self.offers, bin=self.bin, status=status))

    def run(self, *arguments):
        result = run(self.bin / "bash", self.top / "workbook", *arguments, env=self.environment, cwd=self.root,
                     stdin=subprocess.DEVNULL, timeout=120)
        return result.returncode, result.stderr

    def run_on_a_terminal(self, answer):
        """Runs the launcher on a terminal on which its user types `answer`; returns everything that it shows."""
        ours, its = pty.openpty()
        launcher = subprocess.Popen([self.bin / "bash", self.top / "workbook"], env=self.environment, cwd=self.root,
                                    stdin=its, stdout=its, stderr=its, start_new_session=True)
        os.close(its)
        os.write(ours, answer.encode())
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:
            pass  # the last process on the terminal has ended
        os.close(ours)
        launcher.wait(timeout=120)
        return shown.decode()


class on_a_machine(unittest.TestCase):
    def machine(self, without=(), **how):
        made = machine(without, **how)
        self.addCleanup(made.holder.cleanup)
        return made

    def refused(self, here, *words):
        """Checks that the launcher ends with status 99 and a sentence with `words`; returns all that it prints."""
        status, text = here.run("demo")
        self.assertEqual(status, 99, text)
        last = text.strip().splitlines()[-1]
        self.assertTrue(last.startswith("workbook: "), text)
        for word in words:
            self.assertIn(word, last)
        return text


class lacking(on_a_machine):
    def test_no_compiler(self):
        self.refused(self.machine(("g++", "c++", "gcc", "cc")), "no C++20 compiler", "g++ 12", "install g++")

    def test_a_compiler_too_old_is_no_compiler(self):
        here = self.machine()
        here.script("g++", "#!/bin/sh\necho \"error: unrecognized option '-std=c++20'\" >&2\nexit 1\n")
        self.refused(here, "no C++20 compiler")

    def test_compilers_that_know_too_little_of_the_standard_are_passed_over(self):
        for name, macros in (("g++", "202002L 11 __clang_major__"), ("clang++", "202002L 4 13")):
            here = self.machine(("g++", "c++", "gcc", "cc"))
            here.script(name, f"#!/bin/sh\ncat >/dev/null; echo {macros}\n")
            self.refused(here, "no C++20 compiler (g++ 12 or clang 14, or newer)")

    def test_clang_14_is_a_compiler(self):
        here = self.machine(("g++", "c++", "gcc", "cc", "objcopy"))
        here.script("clang++", "#!/bin/sh\ncat >/dev/null; echo 202002L 4 14\n")
        _, text = here.run()
        self.assertIn("objcopy or ar is missing", text)  # it went on to the next tool

    def test_no_binutils(self):
        self.refused(self.machine(("objcopy",)), "objcopy", "install binutils")

    def test_no_python(self):
        self.refused(self.machine(("python3", "meson")), "no python3", "install Python 3")

    def test_no_ninja_and_no_index(self):
        self.refused(self.machine(("ninja",)), "Ninja is missing", "install ninja")

    def test_no_meson_and_no_index(self):
        self.refused(self.machine(("meson",)), "Meson 1.0.1 or newer is missing", "install meson")

    def test_an_old_meson_is_no_meson(self):
        here = self.machine()
        here.script("meson", "#!/bin/sh\necho 0.61.2\n")
        self.refused(here, "Meson 1.0.1 or newer is missing")

    def test_no_nvcc_and_no_index(self):
        here = self.machine(("nvcc",), venv=True)
        self.refused(here, "no nvcc of CUDA 13", "CUDA Toolkit 13")
        self.assertFalse((here.top / "build/prepared").exists())

    def test_an_old_nvcc_is_told_from_none(self):
        here = self.machine()
        here.script("nvcc", "#!/bin/sh\necho 'Cuda compilation tools, release 11.8, V11.8.89'\n")
        here.environment["CUDA_WORKBOOK_TOOLKITS"] = ""
        self.refused(here)
        self.assertIn("it is CUDA 11.8; 13.0 or newer is needed", (here.top / "build/setup.log").read_text())

    def test_no_headers_and_no_index_is_said_and_left_to_meson(self):
        here = self.machine()
        real = shutil.which("g++")
        here.script("g++", BARE_COMPILER % (real, real))
        _, text = here.run()
        self.assertIn("Without packages for doctest CLI nlohmann fmt Meson will fetch their sources.", text)


class unwritable(on_a_machine):
    """The launcher never fails with status 1, which means that the submission failed."""

    def test_a_build_folder_that_cannot_be_made(self):
        here = self.machine()
        (here.top / "build").write_text("in the way\n")
        self.refused(here, f"workbook: Nothing can be written in {here.top}/build (")

    def test_a_disk_that_is_full(self):
        here = self.machine()
        (here.top / "build").mkdir()
        (here.top / "build/.can_write").symlink_to("/dev/full")
        self.refused(here, "(No space left on device); free some space there")

    def test_a_step_that_nobody_foresaw(self):
        here = self.machine()
        here.script("meson", "#!/bin/sh\n[ \"$1\" = --version ] && echo 1.0.1 && exit\nmkdir -p \"$2/configured\"\n")
        status, text = here.run("grade", "02")
        self.assertEqual(status, 99, text)
        self.assertIn("Is a directory", text)


class with_a_gpu(on_a_machine):
    def test_one_that_nvcc_does_not_know_or_a_driver_that_fails_leaves_the_simulator(self):
        for answer, known in (("exit 9", ""), ("echo 6.1", ""), ("echo 6.1; echo 9.0", "90")):
            here = self.machine()
            here.script("nvidia-smi", f"#!/bin/sh\n{answer}\n")
            here.script("meson", "#!/bin/sh\n[ \"$1\" = --version ] && echo 1.0.1 && exit\necho \"$*\"\nexit 1\n")
            self.refused(here, "The build could not be configured")
            self.assertIn(f"-Dgpu_arch={known} ", (here.top / "build/setup.log").read_text(), answer)


class installing(on_a_machine):
    def test_root_installs_and_is_told_first(self):
        here = self.machine(("ninja",), user=0)
        (here.offers / "ninja").symlink_to(shutil.which("ninja"))
        _, text = here.run()
        self.assertRegex(text, r"installing ninja-build with apt-get \.\.\. \d+ s")
        self.assertEqual(here.log.read_text(),
                         "apt-get install --yes --no-install-recommends ninja-build\n")

    def test_a_stale_package_list_is_renewed_once(self):
        here = self.machine(("objcopy",), user=0)
        here.package_manager(status=100)
        text = self.refused(here, "run: sudo apt-get install g++")
        self.assertIn("installing g++ with apt-get ... failed", text)
        self.assertIn("apt-get update", here.log.read_text())

    def test_a_user_without_sudo_installs_no_package(self):
        here = self.machine(("objcopy",), user=1000)
        self.refused(here, "run: sudo apt-get install g++")
        self.assertEqual(here.log.read_text(), "")

    def test_a_sudo_that_would_ask_is_not_used(self):
        here = self.machine(("objcopy",), user=1000)
        here.script("sudo", "#!/bin/sh\nexit 1\n")
        here.run()
        self.assertEqual(here.log.read_text(), "")

    def test_without_a_terminal_no_sudo_is_used(self):
        here = self.machine(("objcopy",), user=1000)
        here.script("sudo", SUDO.format(log=here.log))
        _, text = here.run()
        self.assertEqual(here.log.read_text(), "")
        self.assertNotIn("[y/N]", text)

    def test_open_mpi_is_installed_for_a_lab_that_uses_it_and_else_missed_in_words(self):
        for lab, log in (("#include <mpi.h>\n", "libopenmpi-dev openmpi-bin"), ("", "")):
            here = self.machine(user=0)
            (here.top / "labs/15_linear_solver").mkdir(parents=True)
            (here.top / "labs/15_linear_solver/stub.cu").write_text(lab)
            _, text = here.run()
            self.assertIn(log, here.log.read_text())
            self.assertEqual("Without mpicc and mpirun" in text, bool(lab), text)
            self.assertEqual("run: sudo apt-get install libopenmpi-dev" in text, bool(lab))


class asking(on_a_machine):
    """On a terminal no package is installed before the user has agreed."""

    def lacking(self, *tools, user=1000):
        here = self.machine(tools, user=user)
        here.script("sudo", SUDO.format(log=here.log))
        for tool in tools:
            (here.offers / tool).symlink_to(shutil.which(tool))
        return here

    def test_one_question_names_all_packages_and_yes_installs_them(self):
        here = self.lacking("objcopy", "ninja")
        text = here.run_on_a_terminal("y\n")
        self.assertIn("Install g++ ninja-build with sudo apt-get? [y/N] ", text)
        self.assertEqual(text.count("[y/N]"), 1)
        self.assertEqual(here.log.read_text(), "sudo -v\napt-get install --yes --no-install-recommends g++\n")

    def test_a_package_that_brings_two_tools_is_named_once(self):
        here = self.lacking("objcopy")
        here.script("g++", "#!/bin/sh\nexit 1\n")  # it is too old, and no other compiler can look for headers
        self.assertIn("Install doctest-dev g++ libcli11-dev libfmt-dev nlohmann-json3-dev with sudo apt-get? [y/N] ",
                      here.run_on_a_terminal("n\n"))

    def test_the_answer_holds_for_all_packages(self):
        here = self.lacking("ninja", "meson")
        (here.offers / "meson").unlink()
        self.assertEqual(here.run_on_a_terminal("y\n").count("[y/N]"), 1)
        self.assertEqual([line.split()[-1] for line in here.log.read_text().splitlines()],
                         ["-v", "ninja-build", "meson", "python3-venv"])

    def test_any_other_answer_installs_nothing_and_is_not_asked_for_again(self):
        for answer in ("n\n", "\n", "\x04"):
            here = self.lacking("objcopy", "ninja")
            text = here.run_on_a_terminal(answer)
            self.assertEqual(here.log.read_text(), "", answer)
            self.assertEqual(text.count("[y/N]"), 1, answer)
            self.assertIn("run: sudo apt-get install g++", text)

    def test_a_tool_without_a_package_is_asked_about_only_with_what_pip_needs(self):
        here = self.lacking("nvcc")
        self.assertIn("Install python3-venv with sudo apt-get? [y/N] ", here.run_on_a_terminal("n\n"))
        self.assertEqual(here.log.read_text(), "")

    def test_a_refused_password_installs_nothing(self):
        here = self.lacking("objcopy")
        here.script("sudo", "#!/bin/sh\nexit 1\n")
        self.assertIn("run: sudo apt-get install g++", here.run_on_a_terminal("y\n"))
        self.assertEqual(here.log.read_text(), "")

    def test_root_is_asked_too_but_needs_no_sudo(self):
        here = self.lacking("objcopy", user=0)
        self.assertIn("Install g++ with apt-get? [y/N] ", here.run_on_a_terminal("y\n"))
        self.assertEqual(here.log.read_text(), "apt-get install --yes --no-install-recommends g++\n")

    def test_who_cannot_install_or_is_offline_or_lacks_nothing_is_not_asked(self):
        without_sudo = self.lacking("objcopy")
        (without_sudo.bin / "sudo").unlink()
        offline = self.lacking("objcopy")
        offline.environment["CUDA_WORKBOOK_OFFLINE"] = "1"
        for here in (without_sudo, offline, self.lacking()):
            self.assertNotIn("[y/N]", here.run_on_a_terminal("y\n"))
            self.assertEqual(here.log.read_text(), "")


class leaving_nothing_half_done(on_a_machine):
    def test_a_failed_environment_is_removed(self):
        here = self.machine(("nvcc", "python3"))
        here.script("python3", "#!/bin/sh\ncase \"$*\" in *'-m venv'*) mkdir -p \"$3/bin\"; exit 1 ;; esac\n")
        self.assertIn("making .venv for tools from pip ... failed", self.refused(here))
        self.assertFalse((here.top / ".venv").exists())

    def test_an_interrupted_environment_is_removed(self):
        here = self.machine(("nvcc", "python3"))
        here.script("python3", "#!/bin/sh\ncase \"$*\" in *'-m venv'*) mkdir -p \"$3/bin\"; kill -INT $PPID; exit 130 ;; esac\n")
        status, _ = here.run()
        self.assertEqual(status, 130)
        self.assertFalse((here.top / ".venv").exists())


class this_machine(on_a_machine):
    def test_what_is_prepared_is_not_looked_for_again(self):
        here = self.machine()
        here.script("meson", "#!/bin/sh\n[ \"$1\" = --version ] && echo 1.0.1 && exit\nmkdir -p \"$2\"; echo run >>\"$2/../meson.log\"\n")
        here.script("ninja", "#!/bin/sh\necho 'ninja: no work to do.'\n")
        for _ in range(2):
            here.run()
            program = here.top / "build/cuda-workbook"
            program.write_text("#!/bin/sh\necho handed over: \"$@\"\nexit 7\n")
            program.chmod(0o755)
        result = run(here.bin / "bash", here.top / "workbook", "grade", "two words", env=here.environment)
        self.assertEqual((result.returncode, result.stdout), (7, "handed over: grade two words\n"))
        self.assertEqual(result.stderr, "")
        self.assertEqual((here.top / "meson.log").read_text(), "run\n")

    def test_sources_of_labs_that_appear_or_go_are_configured_anew(self):
        here = self.machine()
        here.script("meson", "#!/bin/sh\n[ \"$1\" = --version ] && echo 1.0.1 && exit\nmkdir -p \"$2\"; echo run >>\"$2/../meson.log\"\n")
        here.script("ninja", "#!/bin/sh\necho 'ninja: no work to do.'\n")
        here.run()
        runs = 1
        for name in ("labs/02_coalescing/held_back.cpp", "labs/02_coalescing/mistakes.cpp", "labs/02_coalescing/workloads.cpp",
                     "labs/02_coalescing/quizzes.cpp", "reference/02_coalescing/oracle_test.cpp",
                     "grader/tests/workloads/02_coalescing_test.cpp"):
            source = here.top / name
            source.parent.mkdir(parents=True, exist_ok=True)
            for change, more in (source.touch, 1), (None, 0), (source.unlink, 1), (None, 0):
                if change:
                    change()
                here.run()
                runs += more
                self.assertEqual((here.top / "meson.log").read_text(), "run\n" * runs, name)


if __name__ == "__main__":
    main()
