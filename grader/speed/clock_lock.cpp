// Locks the file that stands for the machine's clock.
#include "clock_lock.hpp"

#include "process/descriptor.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace grading {

double hold_clock(const std::string &path)
{
    static owned_fd held;
    if (path.empty() || held.get() >= 0) return 0;
    const auto start = std::chrono::steady_clock::now();
    owned_fd file = owned_fd::high(open(path.c_str(), O_RDWR | O_CLOEXEC));
    while (flock(file.get(), LOCK_EX) != 0)
        if (errno != EINTR) throw_errno("waiting for the clock");
    held = std::move(file);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace grading
