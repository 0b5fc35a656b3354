// What a process in a sandbox must not be able to do, tried.
#pragma once

#include <cstdint>

namespace grading {

// The bits of the `escape`s that succeed. `file` is one that it must not reach, with its folder;
// `process` another process's id, outside.
std::uint64_t find_escapes(const char *file, int process);

} // namespace grading
