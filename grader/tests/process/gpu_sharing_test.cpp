// Tests who counts as another user of a GPU, with a stand-in for NVML (mock_nvml.cpp).
#include "cli/commands/doctor.hpp"
#include "process/gpu_sharing.hpp"
#include "tests/contains.hpp"

#include <doctest/doctest.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace grading;

namespace {

constexpr unsigned nowhere = 50'000'000; // larger than any process identifier on Linux

// A child of this process, like a worker of the grader. It has its name when the constructor
// returns.
class child_process {
public:
    explicit child_process(const char *name)
    {
        int ready[2];
        REQUIRE(pipe(ready) == 0);
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            prctl(PR_SET_NAME, name);
            if (write(ready[1], "", 1) == 1)
                for (;;) pause();
            _exit(1);
        }
        char byte;
        CHECK(read(ready[0], &byte, 1) == 1);
        close(ready[0]);
        close(ready[1]);
    }
    ~child_process()
    {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    child_process(const child_process &) = delete;
    std::string pid() const { return std::to_string(pid_); }

private:
    pid_t pid_;
};

// A device that runs one worker of ours, until a test changes what NVML says.
struct machine {
    std::filesystem::path folder;
    child_process worker{"a worker"};
    const std::string quiet = "name Test GPU\ncompute " + worker.pid() + "\n";
    const std::string other = std::to_string(getppid());
    machine()
    {
        char name[] = "/tmp/cuda-workbook-nvml.XXXXXX";
        REQUIRE(mkdtemp(name) != nullptr);
        folder = name;
        setenv("MOCK_NVML", (folder / "nvml").c_str(), 1);
        setenv("CUDA_MPS_PIPE_DIRECTORY", folder.c_str(), 1);
        says(quiet);
    }
    ~machine()
    {
        unsetenv("MOCK_NVML");
        unsetenv("CUDA_MPS_PIPE_DIRECTORY");
        std::filesystem::remove_all(folder);
    }
    void put(const char *name, const std::string &text) const
    {
        std::ofstream(folder / name) << text;
    }
    void says(const std::string &text) const { put("nvml", text); }
    std::string look() const { return gpu_sharing("Test GPU").look(); }
    // The last of so many looks at what does not change.
    std::string looks(int n) const
    {
        gpu_sharing sharing("Test GPU");
        std::string last;
        for (int i = 0; i < n; ++i) last = sharing.look();
        return last;
    }
};

} // namespace

TEST_CASE("a device that runs only our own workers is not shared, however often it is looked at")
{
    machine m;
    CHECK(m.looks(3 * gpu_sharing::lasting) == "");
    m.says(m.quiet + m.quiet); // listed twice
    CHECK(m.looks(3 * gpu_sharing::lasting) == "");
}

TEST_CASE("a process with a CUDA context is named, with its number")
{
    machine m;
    m.says(m.quiet + "compute " + m.other + "\nprogram " + m.other + " /usr/bin/python\n");
    CHECK(m.look() == "another process (pid " + m.other + ", python) uses this GPU");
    m.says("name Test GPU\n");
    CHECK(m.look() == "");
}

TEST_CASE("a name with control characters is made safe")
{
    machine m;
    m.says(m.quiet + "compute " + m.other + "\nprogram " + m.other + " a\x1b[2Jb\n");
    CHECK(contains(m.look(), "a?[2Jb"));
}

TEST_CASE("MIG mode is named, also where CUDA names the slice")
{
    machine m;
    m.says(m.quiet + "mig\n");
    CHECK(contains(m.look(), "MIG mode"));
    CHECK(contains(gpu_sharing("Test GPU MIG 1g.18gb").look(), "MIG mode"));
}

TEST_CASE("a running MPS daemon is named, and one that was killed is not")
{
    machine m;
    {
        child_process daemon("nvidia-cuda-mps-control");
        m.put("nvidia-cuda-mps-control.pid", daemon.pid() + "\n");
        CHECK(contains(m.look(), "MPS daemon"));
    }
    CHECK(m.look() == "");
    m.put("nvidia-cuda-mps-control.pid", m.other); // its number, given to another process
    CHECK(m.look() == "");
}

TEST_CASE("MPS is recognised by its server and by its clients, too")
{
    machine m;
    m.says(m.quiet + "compute " + m.other + "\nprogram " + m.other +
           " /usr/bin/nvidia-cuda-mps-server\n");
    CHECK(contains(m.look(), "MPS daemon"));
    m.says(m.quiet + "mps " + m.worker.pid() + "\n");
    CHECK(contains(m.look(), "MPS daemon"));
}

TEST_CASE("a process that draws forbids nothing until it takes a tenth of the device")
{
    machine m;
    const std::string drawing = m.quiet + "graphics " + m.other + "\nbusy " + m.other;
    m.says(drawing + " 9\n");
    CHECK(m.look() == "");
    m.says(drawing + " 10\n");
    CHECK(contains(m.look(), "pid " + m.other));
    // A compositor may also compute.
    m.says(drawing + " 9\ncompute " + m.other + "\n");
    CHECK(m.look() == "");
    m.says(drawing + " 10\ncompute " + m.other + "\n");
    CHECK(contains(m.look(), "pid " + m.other));
}

TEST_CASE("in a container where NVML tells the host's numbers only their count is compared")
{
    machine m;
    const std::string ours = "name Test GPU\ncompute " + std::to_string(nowhere) + "\n";
    m.says(ours);
    CHECK(m.looks(3 * gpu_sharing::lasting) == "");
    m.says(ours + "compute " + std::to_string(nowhere + 1) + "\n");
    CHECK(m.looks(gpu_sharing::lasting - 1) == "");
    CHECK(contains(m.looks(gpu_sharing::lasting), "1 more process uses this GPU"));
    // The host's numbers may be those of other processes here.
    m.says("name Test GPU\ncompute " + m.other + "\n");
    CHECK(m.looks(3 * gpu_sharing::lasting) == "");
}

TEST_CASE("processes that NVML tells as 0 count by their number, and none of them is ours")
{
    machine m;
    m.says("name Test GPU\ncompute 0\n");
    CHECK(m.looks(gpu_sharing::lasting) == "");
    m.says("name Test GPU\ncompute 0\ncompute 0\ncompute 0\n");
    CHECK(contains(m.looks(gpu_sharing::lasting), "2 more processes use this GPU"));
}

TEST_CASE("a process that has ended is no other user, unless it stays listed")
{
    machine m;
    gpu_sharing sharing("Test GPU");
    const std::string gone = m.quiet + "compute " + std::to_string(nowhere) + "\n";
    for (int round = 0; round < 2; ++round) {
        m.says(gone);
        for (int i = 1; i < gpu_sharing::lasting; ++i) CHECK(sharing.look() == "");
        m.says(m.quiet);
        CHECK(sharing.look() == "");
    }
    m.says(gone);
    for (int i = 1; i < gpu_sharing::lasting; ++i) CHECK(sharing.look() == "");
    CHECK(contains(sharing.look(), "1 more process"));
}

TEST_CASE("nothing is said about a device that NVML does not know, or without NVML")
{
    machine m;
    m.says(m.quiet + "mig\ncompute " + m.other + "\n");
    CHECK(gpu_sharing("Another GPU").look() == "");
    unsetenv("MOCK_NVML");
    CHECK(m.look() == "");
}

TEST_CASE("the doctor says who uses a GPU, and that nobody does")
{
    machine m;
    m.says("name Test GPU\n");
    std::vector<cli::diagnosis> said = cli::diagnose_sharing();
    REQUIRE(said.size() == 1);
    CHECK(said[0].what == cli::diagnosis::there);
    CHECK(contains(said[0].found, "Test GPU"));
    m.says("name Test GPU\ncompute " + m.other + "\nprogram " + m.other + " /usr/bin/python\n");
    said = cli::diagnose_sharing();
    REQUIRE(said.size() == 1);
    CHECK(said[0].what == cli::diagnosis::optional_missing);
    CHECK(contains(said[0].found, "python"));
    CHECK(said[0].remedy != "");
    unsetenv("MOCK_NVML");
    CHECK(cli::diagnose_sharing().empty());
}
