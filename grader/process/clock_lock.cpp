// Locks files with flock: the one that stands for the machine's clock, and those of what must be
// done first.
#include "clock_lock.hpp"

#include "descriptor.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace grading {

namespace {

struct clock_file {
    owned_fd fd;
    std::string path;
    pid_t opened_by = 0; // a lock belongs to all that share its descriptor, as after a fork
    clock_use how = clock_use::none;
};

clock_file &held_clock(const std::string &path)
{
    static clock_file held;
    if (held.opened_by == getpid() && held.path == path) return held;
    owned_fd file = owned_fd::high(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (file.get() < 0) throw_errno("opening the clock's file");
    held = {std::move(file), path, getpid(), clock_use::none};
    return held;
}

int operation(clock_use how)
{
    if (how == clock_use::none) return LOCK_UN;
    return how == clock_use::beside ? LOCK_SH : LOCK_EX;
}

void lock(int fd, clock_use how)
{
    while (flock(fd, operation(how)) != 0)
        if (errno != EINTR) throw_errno("waiting for the clock");
}

// Takes a shared lock for a moment; with LOCK_NB for `how` returns false where that would wait.
bool try_shared(const std::string &path, int how)
{
    if (path.empty()) return true;
    const owned_fd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (file.get() < 0) throw_errno(("opening the lock " + path).c_str());
    while (flock(file.get(), LOCK_SH | how) != 0) {
        if (errno == EWOULDBLOCK) return false;
        if (errno != EINTR) throw_errno(("waiting for the lock " + path).c_str());
    }
    return true;
}

} // namespace

void use_clock(const std::string &path, clock_use how)
{
    if (path.empty()) return;
    clock_file &held = held_clock(path);
    if (held.how == how) return;
    // A lock is not converted while it is waited for: two that hold a shared one would block.
    if (how != clock_use::none) lock(held.fd.get(), clock_use::none);
    lock(held.fd.get(), how);
    held.how = how;
}

bool alone_without_waiting(const std::string &path)
{
    if (path.empty()) return true;
    clock_file &held = held_clock(path);
    if (held.how == clock_use::alone) return true;
    if (flock(held.fd.get(), LOCK_EX | LOCK_NB) == 0) {
        held.how = clock_use::alone;
        return true;
    }
    if (errno != EWOULDBLOCK) throw_errno("asking for the clock");
    held.how = clock_use::none; // a lock that could not be converted may be lost
    use_clock(path, clock_use::beside);
    return false;
}

bool is_released(const std::string &path) { return try_shared(path, LOCK_NB); }
void wait_for_release(const std::string &path) { try_shared(path, 0); }

} // namespace grading
