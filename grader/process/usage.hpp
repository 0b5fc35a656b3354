// The memory, threads and processor time that the processes below a keeper use.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include <sys/types.h>

namespace grading {

struct usage {
    std::size_t bytes = 0; // host memory
    int threads = 0;
    double cpu_seconds = 0; // running processes and the children that they reaped
};

// Pages of `files`, which belong to other processes, do not count. A child that has not begun its
// program yet uses nothing.
usage used_from(pid_t keeper, std::initializer_list<int> files);

// Returns the fields of /proc/PID/stat after the process's name, from its state on: all of them, or
// none if the process ends meanwhile.
std::vector<std::string> stat_of(pid_t pid);

} // namespace grading
