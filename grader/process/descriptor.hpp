// File descriptors that their owner closes, numbered above those that are placed in a child.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace grading {

[[noreturn]] inline void throw_errno(const char *what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

// Closes all descriptors from `first` on or, with CLOSE_RANGE_CLOEXEC, marks them close-on-exec.
// Makes only system calls, as is safe after a fork. Kernels before 5.9, those before 5.11 for the
// mark, and filters of containers that do not know close_range refuse it.
inline void close_from(int first, unsigned flags)
{
    if (syscall(SYS_close_range, first, ~0U, flags) == 0) return;
    rlimit most{};
    getrlimit(RLIMIT_NOFILE, &most);
    constexpr rlim_t searched = 1 << 16;
    for (int fd = first; fd < static_cast<int>(std::min(most.rlim_cur, searched)); ++fd)
        flags == CLOSE_RANGE_CLOEXEC ? fcntl(fd, F_SETFD, FD_CLOEXEC) : close(fd);
}

class owned_fd {
public:
    owned_fd() = default;
    explicit owned_fd(int fd) : fd_(fd) {}
    owned_fd(owned_fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    owned_fd &operator=(owned_fd &&other) noexcept
    {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~owned_fd() { close(); }
    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }
    void close()
    {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }
    // Moves a result of open() or a similar call to a higher number, so that placing a child's
    // descriptors at 0, 1, 2 ... overwrites none that is still to be placed.
    static owned_fd high(int fd)
    {
        if (fd < 0) throw_errno("opening a descriptor");
        const owned_fd low(fd);
        const int moved = fcntl(fd, F_DUPFD_CLOEXEC, 100);
        if (moved < 0) throw_errno("moving a descriptor");
        return owned_fd(moved);
    }

private:
    int fd_ = -1;
};

struct pipe_ends {
    owned_fd out, in; // the read end, the write end
};

inline pipe_ends make_pipe()
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe");
    owned_fd in(ends[1]);
    owned_fd out = owned_fd::high(ends[0]);
    return {std::move(out), owned_fd::high(in.release())};
}

} // namespace grading
