// Files that could not be written, in words: what the machine refused, and what to do about it.
#pragma once

#include <string>

namespace grading {

// "cannot write /tmp/x: No space left on device.\n  what to do: free some space on the disk that
// holds /tmp". `error`: an errno.
std::string cannot_write(const std::string &path, int error);

} // namespace grading
