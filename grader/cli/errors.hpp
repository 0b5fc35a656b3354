// How a command ends early: each error carries the exit status it stands for.
#pragma once

#include <stdexcept>
#include <string>

namespace cli {

enum exit_status : int {
    passed = 0,
    failed = 1,          // the submission's doing
    wrong_usage = 2,     // the command line's
    nothing_graded = 77, // nothing failed, and points are open
    infrastructure = 99, // ours or the machine's, never the student's
    stopped = 130,       // Ctrl-C
};

// What was wrong, where, and what to do next, in that order.
class usage_error : public std::runtime_error {
    using runtime_error::runtime_error;
};
class machine_error : public std::runtime_error {
    using runtime_error::runtime_error;
};
// There is nothing to grade on: no GPU where one was asked for.
class no_device_error : public std::runtime_error {
    using runtime_error::runtime_error;
};
// Someone asked us to stop. Children are already gone when this is thrown.
class stop_requested : public std::exception {
public:
    const char *what() const noexcept override { return "stopped"; }
};

} // namespace cli
