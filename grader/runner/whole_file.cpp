// Writes files under a temporary name of this process, then renames them.
#include "whole_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace grading {

int write_whole(const std::string &path, const std::function<void(std::ostream &)> &write)
{
    std::string unfinished = path + ".tmp." + std::to_string(getpid());
    std::error_code renamed, ignored;
    errno = 0; // a stream does not report why it failed; the system call below it does
    std::ofstream file(unfinished, std::ios::binary);
    if (!file) return errno ? errno : EIO; // before `write` makes calls of its own
    write(file);
    file.close();
    int problem = file ? 0 : errno ? errno : EIO;
    if (problem == 0) {
        std::filesystem::rename(unfinished, path, renamed);
        problem = renamed.value();
    }
    if (problem != 0) std::filesystem::remove(unfinished, ignored);
    return problem;
}

} // namespace grading
