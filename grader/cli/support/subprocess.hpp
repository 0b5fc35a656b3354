// Child processes under limits; neither they nor their descendants outlive run() or this program.
#pragma once

#include "process/kept_process.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// The first argument is the program: a path, or a name looked up on PATH. run() sets `program` and
// `descriptors`.
struct child : grading::process_setup {
    std::string input;           // standard input, at most what a pipe holds: 64 KiB
    std::size_t keep = 64 << 10; // bytes of its output kept, stdout and stderr together
    std::function<void(std::string_view)> each_line; // called for each complete line as it arrives
    std::chrono::seconds wall{600};
    int cancel_fd = -1; // a descriptor; the child is ended as soon as it is readable
};

struct exit_result {
    enum how { exited, signalled, timed_out, cancelled, not_started } what = not_started;
    int status = 0;   // exit status, or the signal's number; for not_started an errno
    std::string text; // output kept
    bool cut = false; // there was more output
    double seconds = 0, cpu_seconds = 0; // `cpu_seconds`: including children that were waited for
    bool ok() const { return what == exited && status == 0; }
    std::string words() const; // "exited with status 3", "was killed by SIGSEGV"
};

// Runs the child to its end or to a limit, then kills any descendants that are left. Throws
// stop_requested, after ending the child, if the program was asked to stop.
exit_result run(const child &c);

// Runs a program with its arguments for at most `wall`.
exit_result run_program(std::vector<std::string> arguments,
                        std::chrono::seconds wall = std::chrono::seconds(600));

// Runs git in the repository that contains `root`; keeps at most 16 MiB of output. `not_started`
// means that git is not installed.
exit_result run_git(const std::string &root, const std::vector<std::string> &words);

// After this call SIGINT, SIGTERM and SIGHUP end running children and make run() throw
// stop_requested.
void handle_signals();
bool stop_was_requested();
int stop_descriptor(); // becomes readable when the program is asked to stop

std::string find_program(std::string_view name); // looks on PATH; empty if not found

} // namespace cli
