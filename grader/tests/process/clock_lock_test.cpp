// Times wait for whoever must not run beside a clock.
#include "process/clock_lock.hpp"

#include "process/descriptor.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <string>

using namespace grading;

TEST_CASE("times are taken once nobody else works, and nobody works meanwhile")
{
    use_clock("", clock_use::alone); // no file: nothing to wait for
    CHECK_THROWS_AS(use_clock("/nowhere/clock", clock_use::alone), std::system_error);

    std::string path = "/tmp/clock.XXXXXX";
    owned_fd busy(mkstemp(path.data()));
    REQUIRE(busy.get() >= 0);
    REQUIRE(flock(busy.get(), LOCK_SH) == 0);
    use_clock(path, clock_use::beside); // as the other does
    std::future<void> waited =
        std::async(std::launch::async, [&] { use_clock(path, clock_use::alone); });
    CHECK(waited.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
    busy.close();
    waited.get();

    const owned_fd other(open(path.c_str(), O_RDWR | O_CLOEXEC));
    std::future<int> shared =
        std::async(std::launch::async, [&] { return flock(other.get(), LOCK_SH); });
    CHECK(shared.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
    use_clock(path, clock_use::alone); // it is held, and stays so
    CHECK(shared.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
    use_clock(path, clock_use::beside);
    CHECK(shared.get() == 0);
    CHECK(flock(other.get(), LOCK_UN) == 0);
    use_clock(path, clock_use::none);
    CHECK(flock(other.get(), LOCK_EX | LOCK_NB) == 0);
    unlink(path.c_str());
}

TEST_CASE("who would have to wait for the clock works beside the others instead")
{
    CHECK(alone_without_waiting(""));
    CHECK_THROWS_AS(alone_without_waiting("/nowhere/clock"), std::system_error);

    std::string path = "/tmp/clock.XXXXXX";
    owned_fd busy(mkstemp(path.data()));
    REQUIRE(busy.get() >= 0);
    REQUIRE(flock(busy.get(), LOCK_SH) == 0);
    use_clock(path, clock_use::beside);
    CHECK(!alone_without_waiting(path));
    CHECK(flock(busy.get(), LOCK_EX | LOCK_NB) != 0); // it still works beside the other
    CHECK(flock(busy.get(), LOCK_UN) == 0);
    CHECK(alone_without_waiting(path));
    CHECK(alone_without_waiting(path)); // it is
    CHECK(flock(busy.get(), LOCK_SH | LOCK_NB) != 0);
    use_clock(path, clock_use::alone);
    use_clock(path, clock_use::none);
    CHECK(flock(busy.get(), LOCK_EX | LOCK_NB) == 0);
    unlink(path.c_str());
}

TEST_CASE("a forked process locks by itself, and two that wait for the clock both get it")
{
    std::string path = "/tmp/clock.XXXXXX";
    const owned_fd file(mkstemp(path.data()));
    REQUIRE(file.get() >= 0);
    use_clock(path, clock_use::beside);
    pid_t children[2];
    for (pid_t &child : children) {
        child = fork();
        REQUIRE(child >= 0);
        if (child > 0) continue;
        use_clock(path, clock_use::beside);
        use_clock(path, clock_use::alone);
        const owned_fd third(open(path.c_str(), O_RDWR | O_CLOEXEC));
        _exit(flock(third.get(), LOCK_SH | LOCK_NB) == 0 ? 1 : 0);
    }
    use_clock(path, clock_use::none); // the children's locks are their own
    for (const pid_t child : children) {
        int status = -1;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    unlink(path.c_str());
}
