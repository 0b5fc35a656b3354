// How many threads this process has, also where it sees no /proc.
#pragma once

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace simulator {

// Where /proc/self/status is open in a process that has no /proc.
constexpr int own_status_fd = 6;

// 0: nobody says.
inline int own_threads()
{
    static const int file = [] {
        int opened = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
        return opened >= 0 ? opened : own_status_fd;
    }();
    char text[4096];
    const ssize_t got = pread(file, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = 0;
    const char *at = std::strstr(text, "\nThreads:");
    return at ? std::atoi(at + std::strlen("\nThreads:")) : 0;
}

} // namespace simulator
