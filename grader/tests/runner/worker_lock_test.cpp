// A grader that is started before its submission's program is there.
#include "process/descriptor.hpp"
#include "runner/run_options.hpp"
#include "runner/workers.hpp"
#include "speed/alone_at_clock.hpp"

#include <doctest/doctest.h>

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>

using namespace grading;
namespace fs = std::filesystem;

namespace {

// Plays the launcher, which holds the lock of a program while it compiles.
struct launcher {
    launcher()
    {
        char name[] = "/tmp/worker-lock.XXXXXX";
        REQUIRE(mkdtemp(name) != nullptr);
        folder = name;
        lock = owned_fd(open((folder / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
        REQUIRE(flock(lock.get(), LOCK_EX) == 0);
        options().worker = folder / "worker";
        options().worker_lock = folder / "lock";
    }
    ~launcher()
    {
        options() = before;
        fs::remove_all(folder);
    }
    launcher(const launcher &) = delete;

    // The kernel lists who waits for a lock as "1: -> FLOCK ADVISORY READ 123 08:01:4711 0 EOF".
    bool is_waited_for() const
    {
        struct stat s {};
        if (fstat(lock.get(), &s) != 0) return false;
        const std::string inode = ":" + std::to_string(s.st_ino) + " ";
        std::ifstream locks("/proc/locks");
        for (std::string line; std::getline(locks, line);)
            if (line.find("-> FLOCK") != line.npos && line.find(inode) != line.npos) return true;
        return false;
    }

    const run_options before = options();
    fs::path folder;
    owned_fd lock;
};

} // namespace

TEST_CASE("a grader waits for a submission that is still compiled")
{
    launcher l;
    CHECK_FALSE(submission_is_built());
    std::future<double> waited = std::async(std::launch::async, wait_for_submission);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!l.is_waited_for() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    CHECK(l.is_waited_for());
    fs::create_symlink("/bin/true", options().worker);
    l.lock = owned_fd();
    CHECK(waited.get() > 0);
    CHECK(submission_is_built());
    CHECK(wait_for_submission() == 0);
}

TEST_CASE("who takes times of copies waits until no simulator works")
{
    CHECK(wait_for_simulator() < 60); // none does
    launcher l;
    options().simulator_lock = options().worker_lock;
    std::future<double> waited = std::async(std::launch::async, wait_for_simulator);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!l.is_waited_for() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    CHECK(l.is_waited_for());
    l.lock = owned_fd();
    CHECK(waited.get() > 0);
}

TEST_CASE("a grader whose submission was refused ends")
{
    launcher l;
    l.lock = owned_fd();
    const pid_t grader = fork();
    if (grader == 0) {
        try {
            wait_for_submission();
        } catch (...) {
            _exit(1);
        }
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(grader, &status, 0) == grader);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == no_submission);
}

TEST_CASE("a lock that cannot be opened is not taken for a program that is there")
{
    launcher l;
    options().worker_lock = l.folder / "none";
    CHECK_THROWS_AS(wait_for_submission(), std::system_error);
    CHECK_THROWS_AS(wait_for_submission(), std::system_error);
}
