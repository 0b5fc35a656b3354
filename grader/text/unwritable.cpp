// Explains by errno why a file could not be written, and the remedy.
#include "unwritable.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace grading {

namespace {

std::string what_to_do(const std::string &folder, int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return fmt::format("free some space on the disk that holds {}", folder);
    case EROFS:
        return fmt::format("{} is on a disk that is mounted read-only; use one that is not",
                           folder);
    case EACCES:
    case EPERM:
        return fmt::format("get the right to write in {} (whose is it? ls -ld), or use a copy of "
                           "your own",
                           folder);
    case EMFILE:
    case ENFILE:
        return "raise the limit of open files (ulimit -n)";
    case EFBIG:
        return "raise the limit of a file's size (ulimit -f)";
    case ENOMEM:
        return "close other programs, or raise the limit of memory (ulimit -v)";
    default:
        return {};
    }
}

} // namespace

std::string cannot_write(const std::string &path, int error)
{
    namespace fs = std::filesystem;
    std::error_code missing;
    const fs::path named(path),
        folder = fs::is_directory(named, missing) ? named : named.parent_path();
    std::string next = what_to_do(folder.empty() ? "." : folder.string(), error);
    return fmt::format("cannot write {}: {}{}", path, std::strerror(error),
                       next.empty() ? "" : ".\n  what to do: " + next);
}

} // namespace grading
