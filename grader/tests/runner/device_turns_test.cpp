// Tests the turns that processes take at a device: who has it alone is alone, whoever ends.
#include "runner/device_turns.hpp"

#include "process/descriptor.hpp"

#include <doctest/doctest.h>

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <new>
#include <random>
#include <vector>

using namespace grading;

namespace {

// Counters that all processes of a test share.
struct seen {
    std::atomic<int> started{0}, sharing{0}, alone{0}, computing{0}, machine{0}, scopes{0},
        faults{0};
};

seen &shared()
{
    void *memory =
        mmap(nullptr, sizeof(seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    return *new (memory) seen;
}

// Counts a scope, and a fault if `others` are there meanwhile.
template <class F> void stay(seen &s, std::atomic<int> &mine, F others)
{
    ++mine;
    ++s.scopes;
    for (int look = 0; look < 20; ++look) {
        if (others()) ++s.faults;
        sched_yield(); // so that others run meanwhile, on a machine of one core too
    }
    --mine;
}

constexpr int processes = 4, scopes = 300;

void take_turns(seen &s, unsigned seed)
{
    for (++s.started; s.started < processes;) sched_yield();
    std::mt19937 random(seed);
    const device_turn all_the_time(turn::shared);
    for (int k = 0; k < scopes; ++k) switch (random() % 4) {
        case 0:
            stay(s, s.sharing, [&] { return s.alone + s.machine > 0; });
            break;
        case 1: {
            const device_turn alone(turn::alone);
            stay(s, s.alone, [&] { return s.alone + s.machine > 1 || s.sharing > 0; });
            break;
        }
        case 2: {
            const device_turn outer(random() % 2 ? turn::none : turn::shared);
            const host_turn computes;
            stay(s, s.computing, [&] { return s.machine > 0; });
            break;
        }
        default: {
            const machine_turn machine(true);
            const device_turn alone(turn::alone); // as a benchmark does
            const host_turn computes;
            stay(s, s.machine,
                 [&] { return s.machine > 1 || s.alone + s.sharing + s.computing > 0; });
        }
        }
}

template <class F> pid_t in_a_process(F work)
{
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child > 0) return child;
    work();
    _exit(0);
}

} // namespace

TEST_CASE("of processes that take turns, each is alone when it has said so")
{
    seen &s = shared();
    begin_turns();
    std::vector<pid_t> children;
    for (unsigned k = 0; k < processes; ++k)
        children.push_back(in_a_process([&] { take_turns(s, k); }));
    for (pid_t child : children) {
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    end_turns();
    CHECK(s.scopes == processes * scopes);
    CHECK(s.faults == 0);
}

TEST_CASE("who is killed while it has the device alone leaves it to others")
{
    begin_turns();
    pipe_ends said = make_pipe();
    const pid_t child = in_a_process([&] {
        const machine_turn machine(true);
        const bool told = write(said.in.get(), "x", 1) == 1;
        if (told) pause();
    });
    char byte = 0;
    CHECK(read(said.out.get(), &byte, 1) == 1);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, nullptr, 0) == child);
    bool alone = false;
    {
        const machine_turn machine(true); // waits for ever if the locks stay
        alone = true;
    }
    end_turns();
    CHECK(alone);
}
