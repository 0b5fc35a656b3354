// Files that are written completely or not at all.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace grading {

// Writes a temporary file beside `path`, then renames it. Returns 0, or the errno of the failure;
// `path` is then unchanged.
int write_whole(const std::string &path, const std::function<void(std::ostream &)> &write);

} // namespace grading
