#!/usr/bin/env python3
# Tests that submissions are isolated from the machine, as user 0 and as an ordinary user, with and without namespaces;
# that nothing is graded if the kernel offers no isolation; and that a kill leaves nothing behind.
import ctypes
import json
import os
import shutil
import signal
import struct
import subprocess
from pathlib import Path

from shared import BUILD_ROOT, TOP, in_a_folder, main, run, wait_until, workbook

SECRET = "known to the grader alone"

# Attacks the machine and prints each success; its answer is wrong.
HOSTILE = """
#include "lab.hpp"
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
static void could(const char *what, bool succeeded)
{
    if (succeeded) printf("could %s\\n", what);
}
void twice(const float *, float *, int)
{
    char line[256] = {};
    if (FILE *f = fopen("FOLDER/secret", "r")) printf("read: %s\\n", fgets(line, sizeof line, f));
    could("write a file", open("FOLDER/made", O_CREAT | O_WRONLY, 0600) >= 0);
    could("empty a file", truncate("FOLDER/secret", 0) == 0);
    could("change a mode", chmod("FOLDER/secret", 0777) == 0);
#ifdef __x86_64__ // not by the C library's function, which the worker has replaced
    long newer = 452; // fchmodat2
    register long flags asm("r10") = 0;
    asm volatile("syscall" : "+a"(newer) : "D"(AT_FDCWD), "S"("FOLDER/secret"), "d"(0777), "r"(flags) : "rcx", "r11", "memory");
    could("change a mode by a newer call", newer == 0);
#endif
    could("remove a file", unlink("FOLDER/secret") == 0);
    could("list a folder", opendir("FOLDER") != nullptr);
    could("signal its parent", kill(getppid(), SIGCONT) == 0);
    could("signal the test", kill(PROCESS, SIGCONT) == 0);
    could("signal everybody", kill(-1, SIGCONT) == 0);
    could("trace the test", ptrace(PTRACE_SEIZE, PROCESS, 0, 0) == 0);
    could("have a file signal the test", fcntl(1, F_SETOWN, PROCESS) == 0);
    could("start a process", fork() > 0);
    could("open a socket", socket(AF_INET, SOCK_STREAM, 0) >= 0);
    could("open a local socket", socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
    int pair[2];
    could("send to any local socket", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    int of_test = open("/proc/PROCESS/environ", O_RDONLY);
    could("see the test's environment", of_test >= 0 && read(of_test, line, sizeof line) > 0);
    fflush(stdout);
}
long long sum(const int *, int) { return 0; }
void twice_but_last(float *, int) {}
void copy_but_first(const unsigned char *, unsigned char *, int) {}
"""

# Takes practically for ever to compile.
ENDLESS = """
template <int n, int k> struct many { static constexpr int value = many<n - 1, k>::value + many<n - 1, k + 1>::value; };
template <int k> struct many<0, k> { static constexpr int value = k; };
static_assert(many<800, 0>::value != 0);
"""

# Threats that are right only if they reach something forbidden, and that leave nothing behind.
REACHING = ["leaves_a_daemon", "multiplies", "reads_the_expected_values", "runs_a_helper", "signals_everybody",
            "takes_semaphores", "uses_the_network", "writes_results"]
if os.uname().machine == "x86_64":
    REACHING.append("call_inside_an_immediate")

CLONE, LANDLOCK = {"x86_64": (56, 444), "aarch64": (220, 444)}[os.uname().machine]
NEW_USER = 0x10000000


def refusing(namespaces=False, landlock=False):
    """Returns a function that installs a filter in a child: the kernel then refuses these calls, as in containers."""
    load, equal, any_bit, answer = 0x20, 0x15, 0x45, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000 | 1
    program = [(load, 0, 0, 0)]
    if landlock:
        program += [(equal, 0, 1, LANDLOCK), (answer, 0, 0, refuse)]
    if namespaces:
        program += [(equal, 0, 3, CLONE), (load, 0, 0, 16), (any_bit, 0, 1, NEW_USER), (answer, 0, 0, refuse)]
    program += [(answer, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    whole = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def refuse_in_child(_keep=(code, whole)):
        if prctl(38, 1, 0, 0, 0) != 0 or prctl(22, 2, ctypes.c_void_p(ctypes.addressof(whole)), 0, 0) != 0:
            os._exit(99)

    return refuse_in_child


MASKED = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs none /proc/fs && exec "$@"', "sh"]


def works(command):
    return run(*command).returncode == 0


def has_landlock():
    return ctypes.CDLL(None).syscall(LANDLOCK, None, 0, 1) > 0


def users():
    """Returns the users to test: the current one and, if that is user 0, an ordinary one."""
    return {"this user": []} if os.getuid() else {
        "user 0": [], "an ordinary user": ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]}


class Sandbox(in_a_folder):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o777)
        for name in ("grade.verdicts", "verdicts.naive.sim", "cudasim-device"):  # every user can run the copies
            shutil.copy(BUILD_ROOT / name, self.folder)

    def run_grader(self, worker, *words, before=(), request=None, folder=None, lab="verdicts", **how):
        """Runs a lab's grader with a request, whose fields grader/runner/grading_request.hpp lists."""
        folder = folder or self.folder
        full = {"backend": "sim", "naive": str(folder / f"{lab}.naive.sim"), "worker": str(worker), **(request or {})}
        return run(*before, folder / f"grade.{lab}", *words, input=json.dumps(full), **how)

    def worker_of(self, lab, source):
        """Builds the worker of a submission and returns its path."""
        workbook("grade", lab, "--submission", source, "--case", "twice: 1000 elements", "--backend", "sim")
        built = BUILD_ROOT / "submissions" / lab / "workers"
        return max(built.glob(f"*/{lab}.{source.stem}.sim"), key=lambda path: path.stat().st_mtime)

    def ways(self):
        """Yields the situations of a grading: a name, the command's prefix, the calls refused to the child, and the
        sandbox that must be found."""
        for user, before in users().items():
            if works([*before, "unshare", "--user", "--pid", "--net", "--ipc", "--mount", "--fork", "true"]):
                yield user, before, None, "namespaces"
            if works([*before, *MASKED, "true"]):
                yield f"{user}, parts of /proc covered", [*before, *MASKED], None, "namespaces"
            if has_landlock():
                yield f"{user}, no namespaces", before, refusing(namespaces=True), "landlock"

    def test_a_submission_reaches_nothing(self):
        text = HOSTILE.replace("FOLDER", str(self.folder)).replace("PROCESS", str(os.getpid()))
        source = self.folder / "hostile.cu"
        source.write_text(text)
        hostile = shutil.copy(self.worker_of("verdicts", source), self.folder)
        secret = self.folder / "secret"

        def grade(before, refused, **fields):
            secret.write_text(SECRET)
            secret.chmod(0o666)
            result = self.folder / "result.json"
            result.unlink(missing_ok=True)
            self.run_grader(hostile, before=before, preexec_fn=refused,
                            request={"case": "twice: 1000 elements", "result": str(result), **fields})
            document = json.loads(result.read_text())
            return document["env"]["sandbox"], document["labs"][0]["cases"][0]

        found, case = grade([], None, sandbox=False)  # otherwise the test proves nothing
        self.assertEqual(found, "none")
        for what in (f"read: {SECRET}", "could write a file", "could change a mode", "could signal the test"):
            self.assertIn(what, case["printed"])
        (self.folder / "made").unlink()

        ways = list(self.ways())
        if not ways:
            probe = self.run_grader(hostile, "--probe-sandbox")
            self.assertIn("none: the kernel offers", probe.stdout)  # else the grader has a way that is not tried here
            self.skipTest("the kernel offers no sandbox")
        for words, before, refused, sandbox in ways:
            with self.subTest(words):
                done = self.run_grader(hostile, "--probe-sandbox", before=before, preexec_fn=refused)
                self.assertEqual((done.returncode, done.stdout), (0, sandbox + "\n"), done.stderr)
                found, case = grade(before, refused)
                self.assertEqual(found, sandbox)
                self.assertEqual((case["verdict"], case.get("printed", "")), ("NOT_WRITTEN", ""), case)
                self.assertEqual(secret.read_text(), SECRET)
                self.assertFalse((self.folder / "made").exists())

    def test_a_threat_is_right_without_a_sandbox_alone(self):
        result = self.folder / "result.json"
        for name in REACHING:
            worker = self.worker_of("threats", TOP / f"grader/tests/labs/threats/wrong/{name}.cu")
            for fields, refused, sandbox, verdict in (
                    ({"sandbox": False}, None, "none", "PASS"),
                    ({}, None, None, "WRONG_ANSWER"),
                    ({}, refusing(namespaces=True), "landlock", "WRONG_ANSWER")):
                if sandbox == "landlock" and not has_landlock():
                    continue
                with self.subTest(name, sandbox=sandbox):
                    result.unlink(missing_ok=True)
                    self.run_grader(worker, folder=BUILD_ROOT, lab="threats", preexec_fn=refused, cwd=self.folder,
                                    request={"case": "twice: 1000 elements", "result": str(result), **fields})
                    document = json.loads(result.read_text())
                    self.assertEqual(document["labs"][0]["cases"][0]["verdict"], verdict)
                    if sandbox:
                        self.assertEqual(document["env"]["sandbox"], sandbox)

    def test_where_the_kernel_offers_nothing_the_grader_says_so(self):
        for user, before in users().items():
            with self.subTest(user):
                worker = self.folder / "verdicts.naive.sim"
                bare = {"preexec_fn": refusing(namespaces=True, landlock=True), "before": before}
                done = self.run_grader(worker, "--probe-sandbox", **bare)
                self.assertEqual(done.returncode, 1)
                self.assertIn("none: the kernel offers", done.stdout)
                done = self.run_grader(worker, request={"require_sandbox": True}, **bare)
                self.assertEqual(done.returncode, 99)
                self.assertIn("Nothing was graded", done.stderr)
                result = self.folder / f"{len(before)}.json"
                self.run_grader(worker, request={"case": "twice: 1000 elements", "result": str(result)}, **bare)
                self.assertEqual(json.loads(result.read_text())["env"]["sandbox"], "none")

    def test_a_class_is_not_graded_without_unless_told_by_name(self):
        handed = self.folder / "class/ada"
        handed.mkdir(parents=True)
        shutil.copy(TOP / "labs/02_coalescing/stub.cu", handed)
        bare = {"preexec_fn": refusing(namespaces=True, landlock=True)}
        command = ["autograde", handed.parent, "02", "--backend", "sim", "--seed", "1"]
        done = workbook(*command, **bare)
        self.assertEqual(done.returncode, 99, done.stdout)
        self.assertIn("nothing was graded", done.stderr)
        self.assertIn("--without-sandbox", done.stderr)
        done = workbook(*command, "--without-sandbox", **bare)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 graded", done.stdout)
        done = workbook("grade", "02", "--submission", handed / "stub.cu", "--backend", "sim", **bare)
        self.assertIn("ran without a sandbox", done.stdout)
        self.assertIn("the kernel offers", workbook("doctor", **bare).stdout)
        said = " ".join(workbook("doctor", preexec_fn=refusing(namespaces=True)).stdout.split())
        if has_landlock():
            self.assertIn("a filter of system calls (seccomp) refuses user namespaces", said)
            self.assertIn("cases on several processes (Open MPI) have no sandbox", said)

    def test_a_compile_reads_nothing_of_the_project(self):
        source = self.folder / "reads.cu"
        solution = TOP / "solutions/02_coalescing/solution.cu"
        if not solution.exists():
            self.skipTest("a student edition has no solutions")
        for refused, says in ((None, "No such file"), (refusing(namespaces=True), "ermission denied")):
            source.write_text(f'#if __has_include("{solution}")\n#error seen\n#endif\n')
            done = workbook("grade", "02", "--submission", source, "--backend", "sim", preexec_fn=refused)
            self.assertIn("BUILD_FAILED", done.stdout)  # Landlock does not hide that the file exists
            self.assertNotIn("seen", done.stdout)
            source.write_text(f'#include "{solution}"\n')
            done = workbook("grade", "02", "--submission", source, "--backend", "sim", preexec_fn=refused)
            self.assertIn(says, " ".join(done.stdout.split())) # a line ends where the path's length has it

    def test_a_kill_while_compiling_leaves_no_process_and_no_folder(self):
        source = self.folder / "endless.cu"
        source.write_text(ENDLESS)
        for refused in (None, refusing(namespaces=True)):
            scratch = self.folder / "scratch"
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            program = subprocess.Popen(
                [BUILD_ROOT / "cuda-workbook", "grade", "02", "--submission", source, "--backend", "sim"],
                env={**os.environ, "TMPDIR": str(scratch)}, preexec_fn=refused, start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_until(lambda: any(name_of(pid) in ("cicc", "cudafe++", "cc1plus") for pid in below(program.pid)))
            started = below(program.pid)
            self.assertGreater(len(started), 3)
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
            wait_until(lambda: not any(map(lives, started)))
            wait_until(lambda: not any(scratch.iterdir()))


def below(pid):
    """Returns all descendants of a process."""
    found = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *below(int(child))]
    except OSError:
        pass  # the process has ended
    return found


def name_of(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    main()
