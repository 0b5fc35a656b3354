// Files read whole, written whole, and locked between processes.
#pragma once

#include "../process/descriptor.hpp"
#include "../unwritable.hpp"

#include <functional>
#include <string>

namespace cli {

using grading::cannot_write;

// The whole file; throws machine_error with the reason.
std::string read_text(const std::string &path);
// Written beside and renamed: a reader sees the old file or the new one, never half. `durable`:
// also after a power cut. Throws machine_error.
enum class keeping { usual, durable };
void write_atomically(const std::string &path, const std::string &text,
                      keeping how = keeping::usual);

// Throws machine_error where a file of some size, as compilers write it, cannot be written in the
// folder.
void require_room(const std::string &folder);

// Where temporary files go: $TMPDIR, else /tmp.
std::string temporary_folder();

// A new name in a folder for a file that somebody else writes; what is there goes when this does.
// Throws machine_error.
class temporary_name {
public:
    explicit temporary_name(const std::string &folder);
    ~temporary_name();
    temporary_name(const temporary_name &) = delete;
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

// A folder of our own in temporary_folder(), removed with everything in it, also where this program
// is killed. Throws machine_error.
class scratch_folder {
public:
    scratch_folder();
    ~scratch_folder();
    scratch_folder(const scratch_folder &) = delete;
    const std::string &path() const { return path_; }

private:
    std::string path_;
};

// Held by one process at a time. The kernel lets go of it when the process ends, however it ends.
class file_lock {
public:
    // `waiting` is called once if another process holds it. Throws machine_error when the file
    // cannot be made, stop_requested when asked to stop while waiting.
    explicit file_lock(const std::string &path, const std::function<void()> &waiting = {});

private:
    grading::owned_fd fd_;
};

} // namespace cli
