#!/usr/bin/env python3
# Tests that a case on several ranks leaves nothing behind, shows their output, and names a missing tool.
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from shared import BUILD, BUILD_ROOT, TOP, main, run, wait_until

LAB = TOP / "grader/tests/labs/ranks"

# Rank 1 prints a megabyte and leaves a process that holds its descriptors; then the answer is wrong.
CHATTY = """
#include "lab.hpp"
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int sum_on_ranks(const int *, int, int *sum_host)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; rank == 1 && i < 30000; ++i) printf("line %d of rank 1, one of many\\n", i);
    if (rank == 1) fflush(stdout);
    if (rank == 1 && fork() == 0) {
        setsid();
        while (true) pause();
    }
    if (sum_host) *sum_host = 1 << 30;
    return 2;
}
"""

# MPI calls of 3 ranks, each with the bytes that it counts on rank 0 and on the other ranks.
SENDER = """
#include "grader/worker/ranks.hpp"
#include <mpi.h>
#include <stdio.h>
#include <vector>
static int rank, failed;
static void counts(const char *call, std::uint64_t of_root, std::uint64_t of_others)
{
    std::uint64_t got = grading::take_sent_bytes(), want = rank == 0 ? of_root : of_others;
    if (got == want) return;
    failed = 1;
    printf("%s on rank %d: %d bytes, not %d\\n", call, rank, int(got), int(want));
}
int main()
{
    MPI_Comm all = MPI_COMM_WORLD;
    PMPI_Init(nullptr, nullptr);
    PMPI_Comm_rank(all, &rank);
    int next = (rank + 1) % 3, before = (rank + 2) % 3, n[] = {1, 2, 3}, at[] = {0, 1, 3};
    std::vector<double> x(100), y(100);
    double *a = x.data(), *b = y.data();
    MPI_Request r[2];
    MPI_Status *none = MPI_STATUS_IGNORE, *nones = MPI_STATUSES_IGNORE;
    auto finish = [&](int k) { MPI_Waitall(k, r, nones); };
    MPI_Datatype type = MPI_DOUBLE;

    MPI_Sendrecv(a, 10, type, next, 0, b, 10, type, before, 0, all, none);
    counts("MPI_Sendrecv", 80, 80);
    MPI_Sendrecv(a, 10, type, rank, 0, b, 10, type, rank, 0, all, none);
    counts("MPI_Sendrecv to itself", 0, 0);
    MPI_Irecv(b, 10, type, before, 0, all, r);
    MPI_Send(a, 9, type, next, 0, all);
    finish(1);
    counts("MPI_Send", 72, 72);
    MPI_Irecv(b, 10, type, before, 0, all, r);
    MPI_Isend(a, 10, type, next, 0, all, r + 1);
    finish(2);
    counts("MPI_Isend", 80, 80);
    MPI_Recv_init(b, 10, type, before, 0, all, r);
    MPI_Send_init(a, 10, type, next, 0, all, r + 1);
    counts("MPI_Send_init", 0, 0);
    for (int i = 0; i < 2; ++i) {
        MPI_Startall(2, r);
        finish(2);
    }
    counts("MPI_Startall", 160, 160);
    MPI_Bcast(a, 10, type, 0, all);
    counts("MPI_Bcast", 160, 0);
    MPI_Ibcast(a, 10, type, 0, all, r);
    finish(1);
    counts("MPI_Ibcast", 160, 0);
    MPI_Scatter(a, 5, type, b, 5, type, 0, all);
    counts("MPI_Scatter", 80, 0);
    MPI_Scatterv(a, n, at, type, b, n[rank], type, 0, all);
    counts("MPI_Scatterv", 8 * (2 + 3), 0);
    MPI_Gather(a, 5, type, b, 5, type, 0, all);
    counts("MPI_Gather", 0, 40);
    MPI_Gatherv(a, n[rank], type, b, n, at, type, 0, all);
    counts("MPI_Gatherv", 0, 8 * n[rank]);
    MPI_Allgather(a, 5, type, b, 5, type, all);
    counts("MPI_Allgather", 80, 80);
    MPI_Allgather(MPI_IN_PLACE, 0, type, b, 5, type, all);
    counts("MPI_Allgather in place", 80, 80);
    MPI_Allgatherv(a, n[rank], type, b, n, at, type, all);
    counts("MPI_Allgatherv", 16, 16 * n[rank]);
    MPI_Alltoall(a, 5, type, b, 5, type, all);
    counts("MPI_Alltoall", 80, 80);
    MPI_Reduce(a, b, 5, type, MPI_SUM, 0, all);
    counts("MPI_Reduce", 0, 40);
    MPI_Allreduce(a, b, 5, type, MPI_SUM, all);
    counts("MPI_Allreduce", 40, 40);
    PMPI_Finalize();
    return failed;
}
"""

# Imitates the worker and CUDA with "devices" in host memory, and an MPI library that claims to be CUDA-aware.
# FAULT selects how it sends to another rank: 0 right, 1 wrong data, 2 refused, 3 refused in long messages. To the rank
# itself it always sends right.
PROBED = """
#include "grader/worker/ranks.hpp"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <mpi.h>
extern bool device_buffers_work();
namespace grading {
int home_device() { return 0; }
}
extern "C" {
int MPIX_Query_cuda_support() { return 1; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaMalloc(void **to, size_t bytes) { return *to = std::malloc(bytes), cudaSuccess; }
cudaError_t cudaFree(void *p) { return std::free(p), cudaSuccess; }
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    return std::memmove(to, from, bytes), cudaSuccess;
}
int PMPI_Sendrecv(const void *from, int n, MPI_Datatype of, int to_rank, int tag, void *to, int room, MPI_Datatype type,
                  int from_rank, int other_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request sent;
    const bool wrong = comm == MPI_COMM_WORLD && (FAULT != 3 || n > 1000);
    if (wrong && FAULT >= 2) return PMPI_Send(from, n, of, 1000, tag, comm); // to nobody: an error of MPI's
    PMPI_Isend(from, n, of, to_rank, tag, comm, &sent);
    PMPI_Recv(to, room, type, from_rank, other_tag, comm, status);
    if (wrong && FAULT == 1) static_cast<char *>(to)[0] ^= 1;
    return PMPI_Wait(&sent, MPI_STATUS_IGNORE);
}
}
int main()
{
    return grading::be_rank([] { return std::puts(device_buffers_work() ? "works" : "does not"), 0; });
}
"""


def processes_of(path):
    """Returns the processes that run this program, at any path in their file system."""
    wanted, found = os.stat(path), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            program = os.stat(folder / "exe")
        except OSError:
            continue
        if (program.st_dev, program.st_ino) == (wanted.st_dev, wanted.st_ino):
            found.append(int(folder.name))
    return found


def temporary_folder_of(process):
    """Returns TMPDIR in a process's environment, as bytes."""
    try:
        words = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return b""  # it has ended, or is another user's
    return next((word[7:] for word in words if word.startswith(b"TMPDIR=")), b"")


def leftovers():
    """Returns what ranks left in the machine's folders for temporary files. Where a living process uses a folder,
    another test's ranks run meanwhile."""
    used = {temporary_folder_of(process.name) for process in Path("/proc").glob("[0-9]*")}
    found = {*Path("/tmp").glob("cuda-workbook-ranks.*"), *Path("/tmp").glob("ompi.*"), *Path("/dev/shm").glob("vader*")}
    return {path for path in found if os.fsencode(path) not in used}


@unittest.skipUnless(LAB.exists(), "this edition has no labs that test the grader")
class on_ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.row = next((lab for lab in BUILD["labs"] if lab["lab"] == "ranks"), None)
        if cls.row is None:
            raise unittest.SkipTest("Open MPI is not installed")
        cls.mpirun = {"mpirun": cls.row["mpirun"]}
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)

    def worker(self, text):
        """Compiles and links a program like a submission."""
        row = self.row
        folder = Path(tempfile.mkdtemp(dir=self.holder.name))
        (folder / "answer.cu").write_text(text)
        flags = [f for f in [*BUILD["nvcc_flags"], *row["nvcc"]] if "code=sm_" not in f]
        subprocess.run([BUILD["compile_script"], BUILD["nvcc"], folder / "answer.cu", folder / "o", folder / "d",
                        row["keep"], *flags, "-I", LAB], check=True)
        subprocess.run([*BUILD["cxx"], folder / "o", "-Wl,--whole-archive", row["worker_library"],
                        BUILD["simulator_library"], "-Wl,--no-whole-archive", *BUILD["link_flags"], *row["link"],
                        "-o", folder / "worker"], check=True)
        return folder / "worker"

    def program(self, text, *words):
        """Compiles and links a program of MPI that is no submission."""
        folder = Path(tempfile.mkdtemp(dir=self.holder.name))
        (folder / "program.cpp").write_text(text)
        flags = [flag.replace("-isystem=", "-isystem") for flag in self.row["nvcc"] if flag.startswith(("-D", "-isystem"))]
        subprocess.run([*BUILD["cxx"], "-std=c++20", *flags, "-I", TOP, folder / "program.cpp", *words, *self.row["link"],
                        *BUILD["link_flags"], "-o", folder / "program"], check=True)
        return folder / "program"

    def start(self, worker, **fields):
        """Starts the grader with a request, whose fields grader/runner/grading_request.hpp lists."""
        request = {"backend": "sim", "worker": str(worker), "naive": str(BUILD_ROOT / "ranks.naive.sim"), "case": "two ranks",
                   **fields}
        grader = subprocess.Popen([BUILD_ROOT / "grade.ranks"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        grader.stdin.write(json.dumps(request))
        grader.stdin.close()
        return grader

    def grade(self, worker, **fields):
        result = Path(tempfile.mkdtemp(dir=self.holder.name)) / "result.json"
        status = self.start(worker, result=str(result), **fields).wait()
        return status, json.loads(result.read_text())["labs"][0]["cases"][0]

    def test_output_is_cut_and_says_whose_it_is_and_nothing_is_left(self):
        worker, before = self.worker(CHATTY), leftovers()
        for sandbox in (True, False):
            _, case = self.grade(worker, **self.mpirun, sandbox=sandbox)
            self.assertEqual(case["verdict"], "WRONG_ANSWER", case)
            lines = case["printed"].split("\n")
            self.assertLess(len(case["printed"]), 10000)
            self.assertIn("rank 1: line 0 of rank 1, one of many", lines)
            self.assertTrue(all(line.startswith("rank 1: ") for line in lines[:-1]), lines)
            self.assertEqual(processes_of(worker), [])
            wait_until(lambda: leftovers() <= before)  # another test's folder has no process for a moment

    def test_a_grader_that_is_killed_leaves_no_rank(self):
        waits = self.worker((LAB / "wrong/one_rank_waits.cu").read_text())
        for sandbox in (True, False):
            grader = self.start(waits, **self.mpirun, sandbox=sandbox)
            wait_until(lambda: len(processes_of(waits)) >= 5)  # the leader, two keepers, two ranks
            folders = {temporary_folder_of(process) for process in processes_of(waits)}
            grader.send_signal(signal.SIGKILL)
            grader.wait()
            wait_until(lambda: not processes_of(waits))
            for folder in folders:  # no process was left to do it
                if folder.startswith(b"/tmp/cuda-workbook-ranks."):
                    shutil.rmtree(folder)

    def test_a_deadline_ends_every_process(self):
        hangs = self.worker(CHATTY.replace("i < 30000", "i < 3").replace("if (sum_host)", "if (rank == 1) pause();\n"
                                           "    if (sum_host)"))
        before = leftovers()
        results = [Path(self.holder.name) / f"deadline{sandbox}.json" for sandbox in (True, False)]
        graders = [self.start(hangs, **self.mpirun, sandbox=i == 0, result=str(result))
                   for i, result in enumerate(results)]
        for grader, result in zip(graders, results):
            grader.wait()
            self.assertIn("rank 1 did not return, rank 0 did", result.read_text())
        self.assertEqual(processes_of(hangs), [])
        wait_until(lambda: leftovers() <= before)

    def test_memory_of_devices_is_sent_to_neighbours_to_see_whether_it_travels(self):
        for fault, says in ((0, "works"), (1, "does not"), (2, "does not"), (3, "does not")):
            program = self.program(PROBED, f"-DFAULT={fault}", "-isystem", BUILD["cuda_include"],
                                   BUILD_ROOT / "grader/worker/libopen_mpi_ranks.a")
            ran = run(self.row["mpirun"], "-n", "3", "--oversubscribe", "--allow-run-as-root", program, timeout=60)
            self.assertEqual((ran.returncode, ran.stdout.split("\n")), (0, [says] * 3 + [""]), ran.stderr)

    def test_without_open_mpi_cases_are_skipped_in_words(self):
        status, case = self.grade(BUILD_ROOT / "ranks.naive.sim")
        self.assertEqual((status, case["verdict"]), (77, "SKIPPED"))
        self.assertIn("Open MPI, which is not installed", case["message"])

    def test_what_ranks_send_is_counted(self):
        program, folder = self.program(SENDER, TOP / "grader/worker/sent_bytes.cpp"), self.holder.name
        alone = {"OMPI_MCA_plm": "isolated", "OMPI_MCA_btl": "self,vader", "OMPI_MCA_pml": "ob1",
                 "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "TMPDIR": folder,
                 "OMPI_MCA_btl_vader_backing_directory": folder, "OMPI_MCA_mpi_yield_when_idle": "1"}
        done = run(self.row["mpirun"], "-n", "3", "--oversubscribe", "--bind-to", "none", program,
                   env={**os.environ, **alone})
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_a_launcher_that_fails_is_no_fault_of_the_submission(self):
        status, case = self.grade(BUILD_ROOT / "ranks.naive.sim", mpirun="/bin/false")
        self.assertEqual((status, case["verdict"]), (99, "INFRA_ERROR"))
        self.assertIn("Open MPI did not start 2 ranks", case["message"])


if __name__ == "__main__":
    main()
