// A name beside the file's, taken by one process, then a rename.
#include "whole_file.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace grading {

bool write_whole(const std::string &path, const std::function<void(std::ostream &)> &write)
{
    std::string unfinished = path + ".tmp." + std::to_string(getpid());
    std::error_code error;
    {
        std::ofstream file(unfinished, std::ios::binary);
        write(file);
        file.close();
        if (file) std::filesystem::rename(unfinished, path, error);
        if (file && !error) return true;
    }
    std::filesystem::remove(unfinished, error);
    return false;
}

} // namespace grading
