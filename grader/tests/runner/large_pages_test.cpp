// Tests that forked processes do not share large arrays, whose pages would be copied when written.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

namespace {

// Returns true if a forked process can read the memory.
bool forked_process_reads(const std::byte *at)
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(write(ends[1], at, 1) < 0 && errno == EFAULT ? 0 : 1);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    for (int end : ends) close(end);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status) == 1;
}

} // namespace

TEST_CASE("a forked process lacks arrays as large as a benchmark's, and has all others")
{
    const std::vector<std::byte> large(std::size_t{64} << 20), usual(std::size_t{16} << 20);
    CHECK_FALSE(forked_process_reads(large.data()));
    CHECK_FALSE(forked_process_reads(&large.back()));
    CHECK(forked_process_reads(usual.data()));
}
