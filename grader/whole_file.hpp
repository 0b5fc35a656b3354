// Files that appear whole or not at all, and the text of such.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace grading {

// Writes beside `path` under a name of this process's own, then renames. Returns 0, or the errno of
// what failed: then `path` is what it was.
int write_whole(const std::string &path, const std::function<void(std::ostream &)> &write);

std::string file_text(const std::string &path); // empty where it cannot be read

} // namespace grading
