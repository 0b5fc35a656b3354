// A child process with a keeper: a process of ours between it and us, which reports how the child
// ended and kills whatever it left behind, also when we are no more.
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
    std::string program;                                 // a path, as it is seen in the sandbox
    std::vector<std::string> arguments;                  // the program's name first
    std::optional<std::vector<std::string>> environment; // none: ours
    std::string folder;                                  // empty: ours
    // All that the child has open: ours, from owned_fd::high, and the number in the child. Where
    // they are not named here, 0 reads nothing, and 1 and 2 are ours.
    std::vector<std::pair<int, int>> descriptors;
    int own_status = -1; // the number at which its /proc/self/status is open; -1: nowhere
    std::vector<std::pair<int, std::uint64_t>> limits; // RLIMIT_CPU and the like, and the most
    const sandbox *within = nullptr;                   // none: no sandbox
};

struct process_end {
    enum how { exited, signalled, never_began } what;
    int status; // the exit status, the signal's number, or an errno
};

// Move-only. Destroying it stops the process.
class kept_process {
public:
    kept_process() = default; // none, which does not run
    // Throws std::system_error when there can be no keeper. That the program could not be started
    // is how the process ended.
    explicit kept_process(const process_setup &setup);
    ~kept_process() { stop(); }
    kept_process(kept_process &&other) noexcept : state_(std::exchange(other.state_, {})) {}
    kept_process &operator=(kept_process &&other) noexcept
    {
        std::swap(state_, other.state_);
        return *this;
    }

    // Until stop(), also where the child has ended meanwhile.
    bool running() const { return state_.keeper > 0; }
    // The child's parent, and the leader of its session and process group.
    pid_t keeper() const { return state_.keeper; }
    // How the child ended, without waiting. None: it has not yet, or was stopped before.
    std::optional<process_end> ended();
    // Can be read as soon as ended() knows.
    int ended_descriptor() const { return state_.status.get(); }
    // Asks all in the process group to end by themselves, and gives them two seconds.
    void ask_to_end();
    // Kills the child and all that it started, and waits until they are gone.
    void stop();
    // After stop(): of the child and of those below it that somebody waited for.
    double cpu_seconds() const { return state_.cpu_seconds; }

private:
    struct {
        pid_t keeper = -1;
        owned_fd pidfd, status;
        owned_fd alive; // closed, it tells the keeper that nobody wants the child any more
        std::optional<process_end> end;
        double cpu_seconds = 0;
    } state_;
};

// Keepers started from here on hold this descriptor, from owned_fd::high, until all is gone that
// their child started.
void let_keepers_hold(owned_fd fd);

} // namespace grading
