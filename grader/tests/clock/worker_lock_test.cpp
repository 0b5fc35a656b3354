// A grader that is started before its submission's program is there.
#include "imitation.hpp"
#include "process/descriptor.hpp"
#include "runner/run_options.hpp"
#include "runner/workers.hpp"

#include <doctest/doctest.h>

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

using namespace grading;
namespace fs = std::filesystem;

namespace {

// Plays the launcher that holds the lock of a program while it compiles.
struct launcher {
    launcher()
    {
        char name[] = "/tmp/worker-lock.XXXXXX";
        REQUIRE(mkdtemp(name) != nullptr);
        folder = name;
        link_workers(fs::read_symlink("/proc/self/exe"), folder);
        lock = owned_fd(open((folder / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
        REQUIRE(flock(lock.get(), LOCK_EX) == 0);
        restart_workers();
        options().worker = folder / "built" / "fast";
        options().worker_lock = folder / "lock";
    }
    ~launcher()
    {
        restart_workers();
        options().worker = std::move(worker_before);
        options().worker_lock.clear();
        fs::remove_all(folder);
    }
    launcher(const launcher &) = delete;

    // The kernel lists who waits for a lock as "1: -> FLOCK ADVISORY READ 123 08:01:4711 0 EOF".
    bool is_waited_for() const
    {
        struct stat s {};
        REQUIRE(fstat(lock.get(), &s) == 0);
        const std::string inode = ":" + std::to_string(s.st_ino) + " ";
        std::ifstream locks("/proc/locks");
        for (std::string line; std::getline(locks, line);)
            if (line.find("-> FLOCK") != line.npos && line.find(inode) != line.npos) return true;
        return false;
    }

    fs::path folder;
    owned_fd lock;
    std::string worker_before = options().worker;
};

} // namespace

TEST_CASE("a grader waits for a submission that is still compiled")
{
    launcher l;
    std::thread compiler([&] {
        while (!l.is_waited_for()) std::this_thread::yield();
        CHECK_FALSE(fs::exists(options().worker));
        fs::create_directory(l.folder / "built");
        fs::create_symlink(l.folder / "fast", options().worker);
        l.lock = owned_fd();
    });
    const answer a =
        submission_worker().ask(request{.what = command::facts}, std::chrono::seconds(60));
    compiler.join();
    CHECK(a.how == worker_exit::answered);
}

TEST_CASE("a grader whose submission was refused ends")
{
    launcher l;
    l.lock = owned_fd();
    const pid_t grader = fork();
    if (grader == 0) {
        submission_worker();
        _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(grader, &status, 0) == grader);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 1);
}
