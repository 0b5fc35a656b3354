// Tests children under limits: how they end, their output, and that none outlives its call.
#include "cli/support/subprocess.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/parallel_for.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace cli;

namespace {

child shell(const std::string &text)
{
    child c;
    c.arguments = {"/bin/sh", "-c", text};
    return c;
}

bool exists(pid_t pid) { return kill(pid, 0) == 0 || errno != ESRCH; }

} // namespace

TEST_CASE("how a child ends is known")
{
    CHECK(run(shell("exit 0")).ok());
    CHECK(run(shell("exit 3")).words() == "exited with status 3");
    CHECK(run(shell("kill -SEGV $$")).words() == "was killed by SIGSEGV");
    child none;
    none.arguments = {"/no/such/program"};
    CHECK(run(none).what == exit_result::not_started);
    none.arguments = {"no-such-program-on-path"};
    CHECK(run(none).words() == "could not be started: No such file or directory");
}

TEST_CASE("a child reads its input to the end, and too much of it is an error, not a wait")
{
    child reader = shell("cat; echo .");
    CHECK(run(reader).text == ".\n");
    reader.input = "{\"a\": 1}\n";
    CHECK(run(reader).text == "{\"a\": 1}\n.\n");
    reader.input.assign(1 << 20, 'x');
    CHECK(run(reader).words() == "could not be started: Argument list too long");
}

TEST_CASE("output is kept up to a limit, both streams, and lines are passed on whole")
{
    CHECK(run(shell("echo one; echo two >&2")).text == "one\ntwo\n");
    child flood = shell("yes | head -c 1000000");
    flood.keep = 1000;
    exit_result e = run(flood);
    CHECK(e.ok());
    CHECK(e.text.size() == 1000);
    CHECK(e.cut);
    child counted = shell("printf 'a\\nb'");
    std::string seen;
    counted.each_line = [&](std::string_view line) { seen += std::string(line) + ";"; };
    run(counted);
    CHECK(seen == "a;b;");
}

TEST_CASE("a child that does not end is ended, with everything it started")
{
    child c = shell("sleep 1000 & echo $!; exec sleep 1000");
    c.wall = std::chrono::seconds(1);
    exit_result e = run(c);
    CHECK(e.what == exit_result::timed_out);
    CHECK(e.seconds < 4);
    REQUIRE(!e.text.empty());
    pid_t grandchild = std::stoi(e.text);
    // The kernel may need a moment to remove a killed process that no parent waits for.
    for (int i = 0; i < 200 && exists(grandchild); ++i) {
        std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
        std::string number, name, state;
        stat >> number >> name >> state;
        if (state == "Z" || state.empty()) break;
        usleep(10000);
        CHECK(i < 199);
    }
}

TEST_CASE("a grandchild that keeps the pipe open does not hold us up")
{
    exit_result e = run(shell("sleep 1000 & exit 0"));
    CHECK(e.ok());
    CHECK(e.seconds < 3);
}

TEST_CASE("limits hold")
{
    child busy = shell("while :; do :; done");
    busy.limits = {{RLIMIT_CPU, 1}};
    exit_result e = run(busy);
    CHECK(e.what == exit_result::signalled);
    CHECK(e.cpu_seconds >= 0.5); // the limit counts whole ticks, even those shared with others
    child big =
        shell("head -c 1000000 /dev/zero > /tmp/cuda-workbook-limit." + std::to_string(getpid()));
    big.limits = {{RLIMIT_FSIZE, 1000}};
    CHECK_FALSE(run(big).ok());
    std::string left = "/tmp/cuda-workbook-limit." + std::to_string(getpid());
    CHECK(std::filesystem::file_size(left) <= 1000);
    std::filesystem::remove(left);
}

TEST_CASE("a child has the environment and the input that we say")
{
    child c = shell("echo \"[$HOME]\"; cat");
    c.environment = {{"HOME=elsewhere"}};
    c.environment->push_back("PATH=/usr/bin:/bin");
    CHECK(run(c).text == "[elsewhere]\n");
}

TEST_CASE("in a sandbox only what is shown is there, and no other process")
{
    for (grading::confinement how :
         {grading::confinement::namespaces, grading::confinement::landlock}) {
        if (how < grading::available_confinement(false)) continue; // the kernel refuses this one
        CAPTURE(name(how));
        grading::sandbox inside(how, {.processes = true});
        inside.show_system();
        for (const char *path : {"/usr", "/bin"}) inside.show(path);
        child c = shell("cat /etc/passwd; ls /etc /home; cat /proc/1/cmdline; kill -0 " +
                        std::to_string(getpid()) + " && echo there; touch /usr/made here; ls /usr");
        c.within = &inside;
        exit_result e = run(c);
        CHECK_MESSAGE(e.ok(), e.words());
        CHECK(e.text.find("root:") == std::string::npos);
        CHECK(e.text.find("passwd") == e.text.rfind("passwd")); // only cat's message names it
        if (how == grading::confinement::namespaces) // Landlock scopes signals since Linux 6.12
            CHECK(e.text.find("there") == std::string::npos);
        CHECK(e.text.find("bin\n") != std::string::npos);
        CHECK_FALSE(std::filesystem::exists("/usr/made"));
        CHECK_FALSE(std::filesystem::exists("here"));
    }
}

TEST_CASE("asked to stop, the program ends its children and their orphans")
{
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    pid_t program = fork();
    if (program == 0) {
        handle_signals();
        child c = shell("setsid sleep 1000 & echo $! $$; exec sleep 1000");
        c.each_line = [&](std::string_view line) {
            if (write(ready[1], line.data(), line.size()) < 0) _exit(9);
        };
        int status = 1;
        try {
            run(c);
        } catch (const stop_requested &) {
            status = stopped;
        }
        _exit(status);
    }
    char text[64] = {};
    REQUIRE(read(ready[0], text, sizeof text - 1) > 0);
    pid_t orphan = 0, sleeper = 0;
    REQUIRE(std::sscanf(text, "%d %d", &orphan, &sleeper) == 2);
    kill(program, SIGINT);
    int status = 0;
    REQUIRE(waitpid(program, &status, 0) == program);
    CHECK(WEXITSTATUS(status) == stopped);
    CHECK_FALSE(exists(orphan));
    CHECK_FALSE(exists(sleeper));
    close(ready[0]), close(ready[1]);
}

TEST_CASE("children end when the program is killed")
{
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    pid_t program = fork();
    if (program == 0) {
        child c = shell("echo $$; exec sleep 1000");
        c.each_line = [&](std::string_view line) {
            if (write(ready[1], line.data(), line.size()) < 0) _exit(9);
        };
        run(c);
        _exit(0);
    }
    char text[64] = {};
    REQUIRE(read(ready[0], text, sizeof text - 1) > 0);
    kill(program, SIGKILL);
    waitpid(program, nullptr, 0);
    pid_t left = std::atoi(text);
    bool gone = false;
    for (int i = 0; i < 300 && !gone; ++i) {
        std::ifstream stat("/proc/" + std::to_string(left) + "/stat");
        std::string number, name, state;
        gone = !(stat >> number >> name >> state) || state == "Z";
        if (!gone) usleep(10000);
    }
    CHECK(gone);
    close(ready[0]), close(ready[1]);
}

TEST_CASE("a pool runs everything, reports in order, and stops at the first exception")
{
    std::vector<int> order;
    std::atomic<int> sum = 0;
    parallel_for(
        20, 4, [&](std::size_t i) { sum += int(i); },
        [&](std::size_t i) { order.push_back(int(i)); });
    CHECK(sum == 190);
    REQUIRE(order.size() == 20);
    CHECK(std::is_sorted(order.begin(), order.end()));
    std::atomic<int> started = 0;
    auto bad = [&](std::size_t i) {
        ++started;
        if (i == 3) throw machine_error("three");
    };
    CHECK_THROWS_AS(parallel_for(1000000, 2, bad), machine_error);
    CHECK(started < 1000000);
    parallel_for(0, 2, bad);
}
