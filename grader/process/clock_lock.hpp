// Locks of a grade's processes: who may work while times are taken, and what must be done first.
#pragma once

#include <string>

namespace grading {

enum class clock_use {
    none,   // this process does nothing that matters to a clock
    beside, // it works beside others that do; nobody may take times meanwhile
    alone   // it takes times, and nobody works who uses this lock
};

// States how this process uses the machine from now on, by a lock (flock) on the file, and waits
// until that is possible: every process of a grade does so, and the one that starts the graders
// works beside them while the compiler is busy and, on few cores, the simulator. A process waits
// with no lock held, so waiting for each other cannot block all of them. A forked process begins
// with `none`. An empty path needs no waiting. Throws std::system_error.
void use_clock(const std::string &path, clock_use how);

// Returns true, and this process is alone, if that is possible without waiting; else it works
// beside others, and may have waited for that.
bool alone_without_waiting(const std::string &path);

// True if no process holds the file locked (flock, exclusive), or the path is empty. Throws
// std::system_error.
bool is_released(const std::string &path);
// Returns once that is true.
void wait_for_release(const std::string &path);

} // namespace grading
