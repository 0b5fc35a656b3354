// The sandbox of workers and of the compiler: it limits the files that a process which runs or
// reads untrusted code can see, and the system calls that it can make.
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

// The ways to isolate a process from the machine's files, processes and network, strongest first.
enum class confinement {
    namespaces, // it has its own user, PID, network, IPC and mount namespaces
    landlock,   // if the kernel refuses those: Landlock and a filter of system calls
    none,       // if it refuses both: resource limits only
};
const char *name(confinement how);
// The reason for confinement::none.
constexpr const char *no_confinement =
    "the kernel offers neither unprivileged user namespaces nor Landlock";

struct sandbox_options {
    bool proc = false; // /proc is visible: the sandbox's own with namespaces, else the machine's
    bool processes = false;     // it may start processes, and open sockets in a network of its own
    bool local_sockets = false; // it may make sockets as the CUDA driver does
    bool loopback = false;      // its network has a loopback interface
};

// Returns the strongest confinement that works here, tried once with a real process. Throws
// std::system_error if the trial fails for lack of processes or memory.
confinement available_confinement(bool proc);

// Construct it before the fork. Const functions are safe between fork and execve: they allocate
// nothing and take no lock.
class sandbox {
public:
    sandbox(confinement how, sandbox_options options);

    // Makes `from` visible at `to`, with all below it. Ignores a path that is missing or already
    // visible there. Landlock cannot move paths: with it, `to` must equal `from`.
    void show(const std::string &from, const std::string &to, bool writable = false);
    void show(const std::string &path, bool writable = false) { show(path, path, writable); }
    // Shows the system's libraries, those of this process, and the devices that most programs need.
    void show_system();

    // Like fork, for the sandbox's first process, which may only make system calls. Returns its id
    // and a descriptor of it; 0 in the child; -1 if the kernel refuses.
    pid_t start(int &pidfd) const;
    // Called first in that child: switches to the sandbox's user, network and files and makes it
    // the subreaper of its descendants. Returns false if the kernel refuses.
    bool enter() const;
    // Called in the confined process just before execve: gives up privileges for good. Returns
    // false if the kernel refuses. Needs the descriptors of this object.
    bool confine() const;
    // Called between enter and confine: opens /proc/self/status even if no /proc is visible.
    // Returns -1 if this machine has none.
    int open_own_status() const;

private:
    struct bind_mount {
        std::string from, to; // `to` is below the mount point
        int descriptor;       // at which `from` is open in the new mount namespace
        std::string opened;   // the path of that descriptor in /proc
        bool folder, writable;
    };
    void make_parents(const std::string &to);
    bool make_root() const;
    bool map_user() const;

    confinement how_;
    sandbox_options options_;
    system_call_filter filter_;
    std::optional<landlock_rules> landlock_;
    std::vector<std::string> folders_; // folders to make, parents first
    std::vector<bind_mount> mounts_;
    std::array<char, 64> uid_map_{}, gid_map_{};
};

// Sets a resource limit. Safe between fork and execve.
void limit(int resource, std::uint64_t max);
// Kills every process that this one, a subreaper, has adopted.
void kill_descendants();

} // namespace grading
