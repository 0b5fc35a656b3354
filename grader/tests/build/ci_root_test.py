#!/usr/bin/env python3
# Runs the steps of ci/Containerfile and of ci/action.yml in a bare Debian (debootstrap), and grades there, with times.
# Root, debootstrap and the network are needed; it takes about ten minutes, so it is in the slow suite.
import atexit
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from shared import BUILD, TOP, main, run

LAB = "02_coalescing"  # the only one that is built, to save time
MAX_SECONDS = 180  # for one submission, without a GPU


def mirror():
    """Returns the first mirror of this machine's package lists."""
    lists = [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.sources")]
    text = "\n".join(path.read_text() for path in lists if path.exists())
    found = re.search(r"^(?:URIs:|deb)\s+(?:\[[^]]*\]\s+)?(\S+)", text, re.M)
    return found[1] if found else None


def why_not():
    if not (TOP / "ci").is_dir():
        return "this is a student edition"
    if os.getuid() != 0:
        return "only root can make a root of its own"
    if not shutil.which("debootstrap"):
        return "there is no debootstrap (package debootstrap)"
    if not mirror():
        return "this machine's apt names no mirror"
    return None


def steps(containerfile):
    """Returns the instructions after FROM, as (NAME, REST)."""
    lines = re.sub(r"\\\n", "", containerfile.read_text()).splitlines()
    found = [tuple(line.split(None, 1)) for line in lines if line and not line.startswith("#")]
    return found[[name for name, _ in found].index("FROM") + 1:]


@unittest.skipIf(why_not(), why_not())
class in_a_bare_root(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp())
        atexit.register(cls.remove)
        cls.root.chmod(0o755)
        made = run("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", cls.root, mirror())
        if made.returncode != 0:
            raise unittest.SkipTest(f"debootstrap cannot make a root: {made.stdout.splitlines()[-1:]}")
        # The root reaches the mirrors of this machine in the way that this machine does.
        (cls.root / "etc/apt/sources.list").unlink(missing_ok=True)
        for name in ("etc/apt/sources.list", "etc/apt/sources.list.d", "etc/apt/apt.conf.d", "etc/ssl/certs",
                     "etc/pip.conf", "etc/hosts", "etc/resolv.conf"):
            if Path("/", name).exists():
                run("cp", "--recursive", "--remove-destination", f"/{name}", (cls.root / name).parent, check=True)
        for name in ("proc", "dev"):
            run("mount", "--bind", f"/{name}", cls.root / name, check=True)
        cls.environment = {key: value for key, value in os.environ.items()
                           if re.search("proxy|^PIP_|_CERT|_BUNDLE|^SSL_", key, re.I)}
        cls.environment["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        # One commit, even if the project goes on meanwhile: the cache is of a commit.
        cls.commit = run("git", "-C", TOP, "rev-parse", "HEAD", check=True).stdout.strip()
        cls.submissions = cls.root / "handed_in"
        for name, source in (("ada", "solutions/02_coalescing/solution.cu"), ("bob", "labs/02_coalescing/stub.cu"),
                             ("eve", "reference/02_coalescing/naive.cu")):
            (cls.submissions / name).mkdir(parents=True)
            shutil.copy(TOP / source, cls.submissions / name / "stub.cu")

    @classmethod
    def remove(cls):
        for name in ("proc", "dev"):
            run("umount", "-l", cls.root / name)
        run("rm", "-r", "--one-file-system", cls.root, check=True)

    def inside(self, command, folder, user="0:0", network=True, **variables):
        """Runs a line of shell in the root; returns its seconds, status and output."""
        words = ["chroot", f"--userspec={user}", self.root, "/bin/sh", "-c", f"cd {shlex.quote(folder)} && {command}"]
        start = time.monotonic()
        done = subprocess.run(words if network else ["unshare", "--net", *words], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**self.environment, **variables})
        return time.monotonic() - start, done.returncode, done.stdout

    def must(self, what, *command, **how):
        seconds, status, text = self.inside(*command, **how)
        print(f"{what}: {seconds:.0f} s", file=sys.stderr, flush=True)
        self.assertEqual(status, 0, f"{what}\n{text[-4000:]}")
        return seconds, text

    def check_results(self, folder):
        rows = {row["student"]: row for row in json.loads((folder / "class.json").read_text())["rows"]}
        self.assertEqual({name: rows[name]["status"] for name in rows}, {"ada": "pass", "bob": "fail", "eve": "fail"})
        self.assertEqual(rows["ada"]["points"], rows["ada"]["max_points"])
        self.assertEqual(rows["bob"]["points"], 0)
        self.assertEqual(sorted(path.name for path in (folder / "students").iterdir()),
                         [f"00{i}-{name}.{end}" for i, name in enumerate(rows, 1) for end in ("json", "txt", "xml")])

    def test_1_the_image_grades_without_set_up_and_network(self):
        tree = self.root / "workbook"
        tree.mkdir()
        archive = subprocess.Popen(["git", "-C", TOP, "archive", self.commit], stdout=subprocess.PIPE)
        run("tar", "-x", "-C", tree, stdin=archive.stdout, check=True)
        self.assertEqual(archive.wait(), 0)
        user, folder, variables, entry = "0:0", "/", {"BASE": "debian@sha256:" + "0" * 64, "LABS": LAB}, None
        for name, rest in steps(TOP / "ci/Containerfile"):
            if name == "RUN":
                self.must(f"RUN {rest}", rest, folder, user=user, **variables)
            elif name == "USER":
                user = rest
            elif name == "WORKDIR":
                folder = rest
            elif name == "ENV":
                key, value = rest.split("=", 1)
                variables[key] = value
            elif name == "ENTRYPOINT":
                entry = json.loads(rest)
            else:
                self.assertIn((name, rest), [("ARG", "BASE"), ("ARG", 'LABS=""'), ("COPY", ". /workbook")])
        results = self.root / "results"
        results.mkdir(mode=0o777)
        results.chmod(0o777)
        seconds, text = self.must("three submissions in the image", shlex.join([*entry, "/handed_in", "02", "/results"]),
                                  folder, user=user, network=False, **variables)
        self.assertIn("students: 3", text)
        self.check_results(results)
        self.assertLess(seconds / 3, MAX_SECONDS)
        # Any user of group 0 may grade in a container, which begins with what the image holds; and a single submission
        # is a class of one.
        shutil.rmtree(tree / "build/submissions")
        seconds, text = self.must("one submission in the image",
                                  shlex.join([*entry, "--to", "gradescope", "/handed_in/ada", "02", "/results/one"]),
                                  folder, user="12345:0", network=False, **variables)
        self.assertLess(seconds, MAX_SECONDS)
        self.assertIn("score", json.loads((results / "one/students/001-ada.gradescope.json").read_text()))

    def test_2_the_action_grades_and_its_cache_makes_it_quick(self):
        self.must("the runner's tools", "apt-get update -qq && apt-get install -y -qq --no-install-recommends git g++ "
                  "python3 python3-venv", "/", DEBIAN_FRONTEND="noninteractive")
        self.must("a user", "useradd -m runner", "/")
        import yaml
        action = yaml.safe_load((TOP / "ci/action.yml").read_text())
        home = self.root / "home/runner"
        cached = self.root / "cache.tar"
        for how in ("without a cache", "with a cache"):
            run("git", "clone", "-q", TOP, home / "course", check=True)
            run("git", "-C", home / "course", "checkout", "-q", self.commit, check=True)
            if cached.exists():
                run("tar", "-xf", cached, "-C", home / "course", check=True)
            self.must("chown", "chown -R runner: /home/runner", "/")
            (home / "summary").unlink(missing_ok=True)
            (home / "output").unlink(missing_ok=True)
            results = f"/home/runner/results {how}"
            variables = {"HOME": "/home/runner", "CI": "true", "GITHUB_ACTION_PATH": "/home/runner/course/ci",
                         "GITHUB_OUTPUT": "/home/runner/output", "GITHUB_STEP_SUMMARY": "/home/runner/summary",
                         "SUBMISSIONS": "/handed_in", "LAB": "02", "RESULTS": results, "BACKEND": "sim",
                         "FORMS": action["inputs"]["forms"]["default"]}
            seconds = 0
            for step in action["runs"]["steps"]:
                if "run" in step:
                    self.assertLessEqual(set(step.get("env", {})), set(variables))
                    took, text = self.must(f"{how}: {step['run'][:60]}", step["run"], "/home/runner/course",
                                           user="runner:runner", **variables)
                    seconds += took
            self.check_results(self.root / results[1:])
            self.assertIn("root=/home/runner/course\n", (home / "output").read_text())
            self.assertIn("coalescing", (home / "summary").read_text())
            run("tar", "-cf", cached, "-C", home / "course", ".venv", "build", check=True)
            shutil.rmtree(home / "course")
        self.assertLess(seconds, MAX_SECONDS)


if __name__ == "__main__":
    if not why_not() and "IN_MOUNTS_OF_ITS_OWN" not in os.environ:
        # What is mounted in the root goes with this process, however it ends.
        os.environ["IN_MOUNTS_OF_ITS_OWN"] = "yes"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
