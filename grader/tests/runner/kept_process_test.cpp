// Tests children with a keeper: their descriptors, how they end, and that no process is left.
#include "process/kept_process.hpp"

#include <doctest/doctest.h>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

using namespace grading;

namespace {

// A shell with its output in a pipe.
struct shell {
    process_setup setup;
    pipe_ends printed = make_pipe();

    explicit shell(const std::string &text)
    {
        setup.program = "/bin/sh";
        setup.arguments = {"sh", "-c", text};
        setup.descriptors = {{printed.in.get(), 1}};
    }
    std::string line() const // empty: the other end is closed
    {
        std::string result;
        for (char c; read(printed.out.get(), &c, 1) == 1 && c != '\n';) result += c;
        return result;
    }
};

process_end wait_for(kept_process &process)
{
    pollfd wait{process.ended_descriptor(), POLLIN, 0};
    REQUIRE(poll(&wait, 1, 20000) == 1);
    REQUIRE(process.ended());
    return *process.ended();
}

bool exists(pid_t pid) { return kill(pid, 0) == 0 || errno != ESRCH; }

// Returns true if the process ends within ten seconds.
bool ends(pid_t pid)
{
    for (int i = 0; i < 1000 && exists(pid); ++i) usleep(10000);
    return !exists(pid);
}

} // namespace

TEST_CASE("a child has open what it is given, at the numbers it is given, and nothing else")
{
    shell s("for n in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$n ] && printf $n; done; "
            "read none; read given <&7; read name <&6; echo \"|$none|$given|$name\"");
    pipe_ends given = make_pipe();
    const owned_fd inheritable(fcntl(given.in.get(), F_DUPFD, 3)); // without close-on-exec
    REQUIRE(write(given.in.get(), "given\n", 6) == 6);
    s.setup.descriptors.emplace_back(given.out.get(), 7);
    s.setup.own_status_fd = 6;
    kept_process process(s.setup);
    CHECK(s.line() == "01267||given|Name:\tsh");
    CHECK(wait_for(process).what == process_end::exited);
}

TEST_CASE("how a child ended is told, and why it never began")
{
    kept_process process(shell("exit 3").setup);
    process_end end = wait_for(process);
    CHECK(end.what == process_end::exited);
    CHECK(end.status == 3);
    process = kept_process(shell("kill -SEGV $$").setup);
    end = wait_for(process);
    CHECK(end.what == process_end::signalled);
    CHECK(end.status == SIGSEGV);
    shell none("exit 0");
    SUBCASE("no program") { none.setup.program = "/no/such/program"; }
    SUBCASE("no folder") { none.setup.folder = "/no/such/folder"; }
    process = kept_process(none.setup);
    end = wait_for(process);
    CHECK(end.what == process_end::never_began);
    CHECK(end.status == ENOENT);
}

TEST_CASE("once it is known that a child ended, what it left behind is gone")
{
    shell s("setsid sleep 1000 & echo $!");
    kept_process process(s.setup);
    const pid_t left = std::stoi(s.line());
    wait_for(process);
    CHECK_FALSE(exists(left));
}

TEST_CASE("stopped, a child is gone with all that it started, and has not ended by itself")
{
    shell s("setsid sleep 1000 & echo $!; echo $$; exec sleep 1000");
    kept_process process(s.setup);
    const pid_t left = std::stoi(s.line()), child = std::stoi(s.line());
    CHECK_FALSE(process.ended());
    kept_process moved = std::move(process);
    CHECK_FALSE(process.running());
    CHECK(moved.running());
    moved.stop();
    CHECK_FALSE(moved.running());
    CHECK_FALSE(exists(left));
    CHECK_FALSE(exists(child));
}

TEST_CASE("an orphan that ends while the child runs does not stay as a zombie")
{
    shell s("(sleep 0.1 & echo $!); exec sleep 1000");
    kept_process process(s.setup);
    CHECK(ends(std::stoi(s.line())));
    CHECK_FALSE(process.ended());
}

TEST_CASE("a child ends with all that it started when its parent is killed")
{
    shell s("setsid sleep 1000 & echo $!; echo $$; exec sleep 1000");
    const pid_t parent = fork();
    if (parent == 0) {
        kept_process process(s.setup);
        pause();
        _exit(0);
    }
    const pid_t left = std::stoi(s.line()), child = std::stoi(s.line());
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    CHECK(ends(left));
    CHECK(ends(child));
}

TEST_CASE("a fork that forgets a child neither ends it nor keeps it from ending")
{
    kept_process process(shell("while :; do sleep 1; done").setup);
    pipe_ends forgot = make_pipe();
    const pid_t other = fork();
    REQUIRE(other >= 0);
    if (other == 0) {
        process.forget();
        if (process.running() || write(forgot.in.get(), "f", 1) != 1) _exit(1);
        pause();
        _exit(0);
    }
    forgot.in.close(); // else a read would not end with the other process
    char byte;
    REQUIRE(read(forgot.out.get(), &byte, 1) == 1);
    const pid_t keeper = process.keeper();
    CHECK_FALSE(process.ended());
    CHECK(exists(keeper));
    const auto start = std::chrono::steady_clock::now();
    process.stop(); // waits two seconds for a keeper that is not told
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1500));
    CHECK(!exists(keeper));
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
}
