// A child process with a keeper, its supervisor: a process between the child and us that is the
// subreaper of the child's descendants, reports how the child ended, and then kills all that are
// left, even after we have ended.
#pragma once

#include "descriptor.hpp"
#include "sandbox.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace grading {

struct process_setup {
    std::string program;                                 // its path in the sandbox
    std::vector<std::string> arguments;                  // the program's name first
    std::optional<std::vector<std::string>> environment; // none: ours
    std::string folder;                                  // empty: ours
    // All open descriptors of the child: ours, from owned_fd::high, and its number in the child. By
    // default 0 is /dev/null, and 1 and 2 are ours.
    std::vector<std::pair<int, int>> descriptors;
    int own_status_fd = -1; // number of a descriptor of its own /proc/self/status; -1: none
    std::vector<std::pair<int, std::uint64_t>> limits; // resources (RLIMIT_CPU ...) and maxima
    const sandbox *within = nullptr;                   // null: no sandbox
};

struct process_end {
    enum how { exited, signalled, never_began } what;
    int status; // the exit status, the signal's number, or an errno
};

// Move-only. Destroying it stops the process.
class kept_process {
public:
    kept_process() = default; // no process, not running
    // Throws std::system_error if no keeper can be started. If the program cannot be started,
    // ended() reports that.
    explicit kept_process(const process_setup &setup);
    ~kept_process() { stop(); }
    kept_process(kept_process &&other) noexcept : state_(std::exchange(other.state_, {})) {}
    kept_process &operator=(kept_process &&other) noexcept
    {
        std::swap(state_, other.state_);
        return *this;
    }

    // Returns true until stop(), even if the child has ended.
    bool running() const { return state_.keeper > 0; }
    // The child's parent, and the leader of its session and process group.
    pid_t keeper() const { return state_.keeper; }
    // Returns how the child ended, without waiting. Empty if it has not ended, or was stopped
    // before.
    std::optional<process_end> ended();
    // Becomes readable when ended() has a result.
    int ended_descriptor() const { return state_.status.get(); }
    // Sends SIGTERM to the process group and waits up to two seconds.
    void ask_to_end();
    // Kills the child and all that it started, and waits for their end.
    void stop();
    // In a fork of the process that started it: leaves the child to that process.
    void forget() { state_ = {}; }
    // Valid after stop(): the time of the child and of its descendants that were reaped.
    double cpu_seconds() const { return state_.cpu_seconds; }

private:
    struct {
        pid_t keeper = -1;
        owned_fd pidfd, status;
        owned_fd alive; // closing it makes the keeper kill the child
        std::optional<process_end> end;
        double cpu_seconds = 0;
    } state_;
};

// Keepers started from now on hold this descriptor, from owned_fd::high, until every process that
// their child started has ended.
void let_keepers_hold(owned_fd fd);

} // namespace grading
