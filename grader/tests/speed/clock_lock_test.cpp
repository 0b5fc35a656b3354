// Times wait for whoever must not run beside a clock.
#include "speed/clock_lock.hpp"

#include "process/descriptor.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <string>

using namespace grading;

TEST_CASE("the clock is held once nobody else holds its file, and then until the process ends")
{
    CHECK(hold_clock("") == 0); // no file: nothing to wait for
    CHECK_THROWS_AS(hold_clock("/nowhere/clock"), std::system_error);

    std::string path = "/tmp/clock.XXXXXX";
    owned_fd busy(mkstemp(path.data()));
    REQUIRE(busy.get() >= 0);
    REQUIRE(flock(busy.get(), LOCK_EX) == 0);
    std::future<double> waited = std::async(std::launch::async, [&] { return hold_clock(path); });
    CHECK(waited.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
    busy.close();
    CHECK(waited.get() >= 0);

    const owned_fd other(open(path.c_str(), O_RDWR | O_CLOEXEC));
    CHECK(flock(other.get(), LOCK_EX | LOCK_NB) != 0);
    CHECK(hold_clock(path) == 0); // it is held
    unlink(path.c_str());
}
