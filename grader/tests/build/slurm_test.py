#!/usr/bin/env python3
# Grades a small class on a real Slurm on this machine, kills it half-way, and compares with a local run.
"""Uses the Slurm and MUNGE that are installed, or unpacks Debian's packages to a temporary folder. Starts munged,
slurmctld and slurmd as this user, on loopback and on free ports, and ends them. Is skipped, and says why, where
neither is possible.
"""

import csv
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

from shared import BUILD_ROOT, TOP, in_a_folder, main

LAB = "02_coalescing"
PACKAGES = ["slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge", "libmunge2", "libslurm38"]
PROGRAMS = ["slurmctld", "slurmd", "sbatch", "squeue", "munged"]


def unpacked(into):
    """Returns the root folder of Slurm's programs: "/" if they are installed, else one made from the packages."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    if all(shutil.which(p, path=path) for p in PROGRAMS):
        return Path("/")
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise unittest.SkipTest("Slurm is not installed, and this is no Debian whose packages could be unpacked")
    needed = [p for p in PACKAGES if subprocess.run(["dpkg", "-s", p], capture_output=True).returncode != 0]
    got = subprocess.run(["apt-get", "download", *needed], cwd=into, capture_output=True, text=True)
    if got.returncode != 0:
        raise unittest.SkipTest(f"Slurm is not installed, and its packages cannot be fetched: {got.stderr.strip()[-300:]}")
    root = into / "root"
    for package in into.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, root], check=True)
    # Debian installs these names as alternatives.
    for program in ("slurmctld", "slurmd", "slurmstepd"):
        (root / "usr/sbin" / program).symlink_to(f"{program}-wlm")
    return root


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class Cluster:
    """A Slurm of one node, with one GPU that is an empty file."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        folder.mkdir()
        root = unpacked(folder)
        lib = root / "usr/lib/x86_64-linux-gnu"
        self.key = folder / "munge.key"
        self.env = dict(os.environ, SLURM_CONF=str(folder / "slurm.conf"),
                        PATH=f"{root}/usr/bin:{root}/usr/sbin:{os.environ['PATH']}:/usr/sbin")
        if root != Path("/"):
            self.env["LD_LIBRARY_PATH"] = f"{lib}:{lib}/slurm-wlm"
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "gpu0").touch()
        self.key.write_bytes(secrets.token_bytes(128))
        self.key.chmod(0o600)
        control, node = free_ports(2)
        self.host = host = socket.gethostname().split(".")[0]
        (folder / "gres.conf").write_text(f"NodeName={host} Name=gpu File={folder}/gpu0\n")
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        (folder / "slurm.conf").write_text(
            f"ClusterName=workbook\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}\n"
            f"SlurmctldPort={control}\nSlurmdPort={node}\nAuthType=auth/munge\nCredType=cred/munge\n"
            f"AuthInfo=socket={folder}/munge.socket\nPluginDir={lib}/slurm-wlm\n"
            f"StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool\n"
            f"SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/slurmd.pid\n"
            f"SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd.log\n"
            "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n"
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/backfill\n"
            "ReturnToService=2\nGresTypes=gpu\nJobAcctGatherType=jobacct_gather/none\n"
            "AccountingStorageType=accounting_storage/none\nMailProg=/bin/true\nMinJobAge=10\n"
            f"NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} Gres=gpu:1 State=UNKNOWN\n"
            f"PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP\n")

    def begin(self):
        folder = self.folder
        self.start("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={self.key}",
                   f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
                   f"--seed-file={folder}/munged.seed", "--num-threads=2")
        self.wait_until("munged", (folder / "munge.socket").exists)
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D", "-N", self.host, "-d", shutil.which("slurmstepd", path=self.env["PATH"]))
        self.wait_until("an idle node", lambda: self.output("sinfo", "-h", "-o", "%t").strip() == "idle")

    def start(self, program, *words):
        path = shutil.which(program, path=self.env["PATH"])
        with open(self.folder / f"{program}.out", "w") as out:
            self.daemons.append(subprocess.Popen([path, *words], env=self.env, stdout=out, stderr=out))

    def output(self, *words):
        return subprocess.run(words, env=self.env, capture_output=True, text=True).stdout

    def wait_until(self, what, reached, seconds=60):
        end = time.monotonic() + seconds
        while not reached():
            died = [d.args[0] for d in self.daemons if d.poll() is not None]
            if died or time.monotonic() > end:
                for log in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")):
                    print(f"--- {log.name}\n{log.read_text(errors='replace')[-2000:]}")
                raise AssertionError(f"there is no {what}: {'ended: ' + ', '.join(died) if died else 'not in time'}")
            time.sleep(0.2)

    def stop(self):
        self.output("scancel", "--user", str(os.getuid()))
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()


def rows_of(table):
    with open(table, newline="") as f:
        return {row["student"]: row for row in csv.DictReader(f)}


def graded_in(results):
    """Each student's grade, on the simulator where a GPU has still to complete it."""
    grades = {}
    for file in (results / "rows").rglob("*.json"):
        kept = json.loads(file.read_text())
        grade = kept["simulator"]["document"]["labs"][0] if "simulator" in kept else kept["row"]
        grades[kept["row"]["student"]] = [grade[key] for key in ("status", "points", "max_points", "open_points")]
    return grades


@unittest.skipUnless((TOP / "solutions" / LAB).is_dir(), "a student edition has no worked solutions")
class slurm(in_a_folder):
    def hand_in(self, into):
        texts = {"ada": (TOP / "solutions" / LAB / "solution.cu").read_text(),
                 "carl": (TOP / "labs" / LAB / "stub.cu").read_text(),
                 "emmy": "this does not compile\n",
                 "leonhard": (TOP / "solutions" / LAB / "filled.cu").read_text()}
        for student, text in texts.items():
            (into / student).mkdir(parents=True)
            (into / student / "stub.cu").write_text(text)
        (into / "nobody").mkdir()

    def test_a_class_by_slurm_gets_the_grades_of_this_machine_though_it_was_killed(self):
        handed_in = self.folder / "handed_in"
        self.hand_in(handed_in)
        cluster = Cluster(self.folder / "cluster")
        self.addCleanup(cluster.stop)
        cluster.begin()

        def command(results, *words):
            return [BUILD_ROOT / "cuda-workbook", "autograde", handed_in, "02", "--seed", "1", "--due", "2030-01-01",
                    "--results", self.folder / results, "--csv", self.folder / f"{results}.csv", *words]

        local = subprocess.run(command("local", "--backend", "sim"), env=cluster.env)
        self.assertEqual(local.returncode, 0)
        by_slurm = command("slurm", "--engine", "slurm", "--slurm-cpu=--cpus-per-task=1", "--slurm-gpu=--gres=gpu:1")
        first = subprocess.Popen(by_slurm, env=cluster.env)
        cluster.wait_until("first row", lambda: any((self.folder / "slurm/rows").rglob("*.json")), 300)
        first.send_signal(signal.SIGKILL)
        first.wait()
        again = subprocess.run(by_slurm, env=cluster.env)
        self.assertEqual(again.returncode, 99, "a GPU that is none is a fault of the machine")
        arrays = {log.name.split("_")[0] for log in (self.folder / "slurm/slurm").glob("*.log")}
        self.assertEqual(len(arrays), 3, "one on the simulator, none of it twice, and two on the GPU")
        self.assertEqual(graded_in(self.folder / "slurm"), graded_in(self.folder / "local"))
        rows, expected = rows_of(self.folder / "slurm.csv"), rows_of(self.folder / "local.csv")
        self.assertEqual({student: row["status"] for student, row in rows.items()},
                         {"ada": "error", "carl": "error", "emmy": "fail", "leonhard": "error", "nobody": "missing"})
        self.assertIn("on the GPU nothing was graded: ", rows["ada"]["problem"])
        for student, row in rows.items():
            self.assertEqual(row["late_days"], expected[student]["late_days"])


if __name__ == "__main__":
    main()
