// Tests which memory counts as a worker's and which as the grader's.
#include "process/usage.hpp"
#include "process/worker_process.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <memory>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace {

constexpr std::size_t held_by_grader = std::size_t{24} << 20; // larger arrays stay with it

struct signal_pipe {
    int ends[2] = {-1, -1};
    signal_pipe() { REQUIRE(pipe2(ends, O_CLOEXEC) == 0); }
    ~signal_pipe() { close(ends[0]), close(ends[1]); }
    bool give() const { return write(ends[1], "x", 1) == 1; }
    bool take() const // false: the other end is closed
    {
        char byte;
        return read(ends[0], &byte, 1) == 1;
    }
    void only_takes() { close(std::exchange(ends[1], -1)); }
};

// Forks a process that ends with this one; `run` does not return.
template <class F> pid_t forked(F run)
{
    const pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run();
    }
    return process;
}

[[noreturn]] void begin_program()
{
    execl("/bin/sleep", "sleep", "infinity", nullptr);
    _exit(127);
}

[[noreturn]] void wait_for_end()
{
    pause();
    _exit(0);
}

void end_process(pid_t process)
{
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
}

// Imitates a keeper: forks a worker, which begins its program on `begin`, and on `leave` a process
// that a worker may leave behind, which never begins one.
[[noreturn]] void keep(const signal_pipe &begin, const signal_pipe &leave, signal_pipe &there,
                       const signal_pipe &left)
{
    forked([&] {
        there.give();
        begin.take();
        begin_program();
    });
    there.only_takes();
    leave.take();
    forked([&] {
        left.give();
        wait_for_end();
    });
    wait_for_end();
}

constexpr std::size_t held_by_file = 48 << 20;

// Forks a child that begins its program with a memory file open that it does not map.
[[noreturn]] void keep_file(int file, signal_pipe &there)
{
    forked([&] {
        fcntl(file, F_SETFD, 0);
        begin_program();
    });
    there.only_takes();
    wait_for_end();
}

// The thread that holds memory after its main thread has ended.
void *hold_without_main(void *there)
{
    void *pages = std::malloc(held_by_grader);
    std::memset(pages, 1, held_by_grader);
    static_cast<signal_pipe *>(there)->give();
    pause();
    std::free(pages);
    return nullptr;
}

[[noreturn]] void end_main_thread(signal_pipe &begun, signal_pipe &there)
{
    forked(begin_program);
    begun.only_takes();
    begun.take(); // fails: execve closes the other end
    forked([&] {
        pthread_t other;
        if (pthread_create(&other, nullptr, hold_without_main, &there) != 0) _exit(127);
        syscall(SYS_exit, 0); // ends only this thread and runs no exit handler
    });
    there.only_takes();
    wait_for_end();
}

} // namespace

TEST_CASE("a worker that has not begun holds nothing; what it leaves behind does")
{
    auto pages = std::make_unique<char[]>(held_by_grader);
    std::memset(pages.get(), 1, held_by_grader);
    signal_pipe begin, leave, there, left;
    const pid_t keeper = forked([&] { keep(begin, leave, there, left); });
    REQUIRE(keeper > 0);
    there.only_takes();

    CHECK(there.take());
    CHECK(grading::used_from(keeper, {}).bytes == 0);
    begin.give();
    CHECK_FALSE(there.take()); // execve closes the other end
    CHECK(grading::used_from(keeper, {}).bytes > 0);
    CHECK(grading::used_from(keeper, {}).bytes < held_by_grader);
    leave.give();
    CHECK(left.take());
    CHECK(grading::used_from(keeper, {}).bytes >= held_by_grader);
    end_process(keeper);
}

TEST_CASE("an open file of memory counts, mapped or not, but for the regions")
{
    grading::shared_memory given(held_by_file, true);
    std::memset(given.data(), 1, held_by_file);
    signal_pipe there;
    const pid_t keeper = forked([&] { keep_file(given.descriptor(), there); });
    REQUIRE(keeper > 0);
    there.only_takes();

    CHECK_FALSE(there.take());
    CHECK(grading::used_from(keeper, {}).bytes >= held_by_file);
    CHECK(grading::used_from(keeper, {given.descriptor()}).bytes < held_by_file);
    end_process(keeper);
}

TEST_CASE("what a process holds counts when its main thread has ended")
{
    signal_pipe begun, there;
    const pid_t keeper = forked([&] { end_main_thread(begun, there); });
    REQUIRE(keeper > 0);
    begun.only_takes();
    there.only_takes();

    CHECK(there.take());
    CHECK(grading::used_from(keeper, {}).bytes >= held_by_grader);
    end_process(keeper);
}
