// A sandbox: what a process that runs or reads a stranger's code sees of the machine, and what it
// may do there. One for workers and for the compiler.
#pragma once

#include "landlock.hpp"
#include "system_calls.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace grading {

// How a process is kept from the machine's files, processes and network, strongest first.
enum class confinement {
    namespaces, // it is alone in user, PID, network, IPC and mount namespaces of its own
    landlock,   // where the kernel refuses those: Landlock, and a filter of system calls
    none,       // where it refuses both: resource limits alone
};
const char *name(confinement how);
// Why there is none.
constexpr const char *no_confinement =
    "the kernel offers neither unprivileged user namespaces nor Landlock";

struct sandbox_options {
    bool proc = false; // /proc is visible: the sandbox's own with namespaces, else the machine's
    bool processes = false;     // it may start processes, and open sockets in a network of its own
    bool local_sockets = false; // it may make sockets as the CUDA driver does
    bool loopback = false;      // which has a loopback interface
};

// The strongest confinement that works here, tried once with a real process of each kind. Throws
// std::system_error where none could be tried for want of processes or memory.
confinement available_confinement(bool proc);

// Made before the fork. What is const is safe between fork and execve: it allocates nothing and
// takes no lock.
class sandbox {
public:
    sandbox(confinement how, sandbox_options options);

    // It will see `from` at `to`, with all below it. What is not there is left out, and so is what
    // is seen there already. Where nothing can be moved (landlock), `to` must be `from`.
    void show(const std::string &from, const std::string &to, bool writable = false);
    void show(const std::string &path, bool writable = false) { show(path, path, writable); }
    // The system's libraries and those of this process, and the devices without which few programs
    // run.
    void show_system();

    // Like fork, for the first process within: a child that makes system calls alone. Returns its
    // id and a descriptor of it; 0 in the child; -1 where the kernel refuses.
    pid_t start(int &pidfd) const;
    // In that child, before anything else: user, network and files are those of the sandbox, and
    // what its descendants leave behind comes to it. False where the kernel refuses.
    bool enter() const;
    // In the process itself, shortly before execve: gives up privileges, for good. False where the
    // kernel refuses. Needs the descriptors that this object has.
    bool confine() const;
    // Between the two: /proc/self/status, also where no /proc is visible. -1: this machine has
    // none.
    int open_own_status() const;

private:
    struct part {
        std::string from, to; // `to` below the mount point
        int descriptor;       // that `from` gets in the new mount namespace
        std::string opened;   // that descriptor's name
        bool folder, writable;
    };
    void make_parents(const std::string &to);
    bool make_root() const;
    bool map_user() const;

    confinement how_;
    sandbox_options options_;
    system_call_filter filter_;
    std::optional<landlock_rules> landlock_;
    std::vector<std::string> folders_; // to make, parents first
    std::vector<part> parts_;
    std::array<char, 64> uid_map_{}, gid_map_{};
};

// Safe between fork and execve.
void limit(int resource, std::uint64_t most);
// Kills every process that came to this one, a subreaper, when its parent ended.
void kill_descendants();

} // namespace grading
