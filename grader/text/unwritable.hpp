// Messages for files that could not be written: the reason, and the remedy.
#pragma once

#include <string>

namespace grading {

// "cannot write /tmp/x: No space left on device.\n  what to do: free some space on the disk that
// holds /tmp". `error`: an errno.
std::string cannot_write(const std::string &path, int error);

} // namespace grading
