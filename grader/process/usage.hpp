// What all that came from a keeper takes of the machine.
#pragma once

#include <cstddef>
#include <initializer_list>

#include <sys/types.h>

namespace grading {

struct usage {
    std::size_t bytes = 0; // of host memory
    int threads = 0;
    double cpu_seconds = 0; // of what still runs, and of what that waited for
};

// Pages of `files`, which are others' memory, count for nobody. A child that has not begun its
// program yet takes nothing of its own.
usage used_from(pid_t keeper, std::initializer_list<int> files);

} // namespace grading
