// Child processes under limits: none outlives its call, none outlives this program, nor does what
// they start.
#pragma once

#include "grader/process/kept_process.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// Its first argument is the program, a path or a name looked up on PATH; run() sees to `program`
// and `descriptors`.
struct child : grading::process_setup {
    bool show = false;           // writes to our own output instead of being kept
    std::size_t keep = 64 << 10; // bytes of its output kept, stdout and stderr together
    std::function<void(std::string_view)> each_line; // called for each whole line as it comes
    std::chrono::seconds wall{600};
    int called_off = -1; // a descriptor: as soon as it can be read, the child is ended
};

struct ending {
    enum how { exited, signalled, timed_out, called_off, not_started } what = not_started;
    int status = 0;   // exit status, or the signal's number; for not_started an errno
    std::string text; // output kept
    bool cut = false; // there was more
    double seconds = 0, cpu_seconds = 0; // its own and its waited-for children's
    bool ok() const { return what == exited && status == 0; }
    std::string words() const; // "exited with status 3", "was killed by SIGSEGV"
};

// Runs to the end or the limit; then kills whatever is left of what it started. Throws
// stop_requested after ending the child when the program was asked to stop.
ending run(const child &c);

// What git says, at most 16 MiB, of the repository that `root` lies in. Not started: there is no
// git.
ending run_git(const std::string &root, const std::vector<std::string> &words);

// From here on SIGINT, SIGTERM and SIGHUP end running children and make run() throw
// stop_requested.
void handle_signals();
bool stop_was_requested();
int stop_descriptor(); // can be read from the moment on that the program was asked to stop

std::string find_program(std::string_view name); // on PATH; empty when it is not there

} // namespace cli
