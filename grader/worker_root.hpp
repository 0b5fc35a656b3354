// The file system that a worker sees: the system's libraries, the GPU's devices, its own program,
// and nothing else of the machine: no solution, no grader, no file of anybody's.
#pragma once

#include <string>
#include <vector>

namespace grading {

// What the new root is made of, found out before the fork: afterwards only system calls are safe.
class worker_root {
public:
    // Where the program stands in the new root.
    static constexpr const char *program_path = "/worker";

    // `mpirun`, if any, is shown where it stands, with what Open MPI reads besides libraries.
    explicit worker_root(const std::string &program, const std::string &mpirun = {});
    // Makes the root and moves there, in mount and user namespaces of the caller's own; system
    // calls only. False where the kernel refuses: then the process must end.
    bool enter() const;

private:
    struct part {
        std::string from, to; // `to` below the mount point
        int descriptor;       // that `from` gets in the worker's namespace
        std::string opened;   // that descriptor's name
        bool folder, read_only;
    };
    void show(const std::string &from, const std::string &to, bool read_only);
    void make_parents(const std::string &to);

    std::vector<std::string> folders_; // to make, parents first
    std::vector<part> parts_;
};

// Gives up every privilege in the caller's user namespace, and that of making another; system calls
// only.
void drop_privileges();

} // namespace grading
