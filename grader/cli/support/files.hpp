// Reads and writes whole files, makes temporary ones, and locks files between processes.
#pragma once

#include "process/descriptor.hpp"
#include "text/unwritable.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace cli {

using grading::cannot_write;

// Returns the whole file. Throws machine_error with the reason.
std::string read_text(const std::string &path);
// Writes it all to a descriptor; false, with the reason in errno, if that fails.
bool write_all(int fd, std::string_view text);
// Writes another file beside it and renames that: a reader sees the old file or the new one, never
// half. `durable`: also after a power cut. Throws machine_error.
enum class durability { usual, durable };
void write_atomically(const std::string &path, const std::string &text,
                      durability how = durability::usual);

// Makes the folder and those above it, as far as they are missing. Throws machine_error.
void make_folder(const std::string &folder);

// Throws machine_error if the folder has no room for a file of 16 MiB, as compilers write them.
void require_room(const std::string &folder);

// Returns the folder for temporary files: $TMPDIR, else /tmp.
std::string temporary_folder();

// Throws usage_error if the option names a folder, or a file whose folder does not exist, and
// machine_error if the folder may not be written. An empty path is no file.
void require_writable(const std::string &option, const std::string &path);

// A new folder in temporary_folder(), removed with everything in it, even if this program is
// killed. Throws machine_error.
class scratch_folder {
public:
    scratch_folder();
    ~scratch_folder();
    scratch_folder(const scratch_folder &) = delete;
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

// A lock that one process holds at a time. Linux releases it however that process ends.
class file_lock {
public:
    // `waiting` is called once if another process holds it. Throws machine_error when the file
    // cannot be made, stop_requested when asked to stop while waiting.
    // With `shared`, others may hold it too if they ask for the same.
    explicit file_lock(const std::string &path, const std::function<void()> &waiting = {},
                       bool shared = false);

private:
    grading::owned_fd fd_;
};

} // namespace cli
