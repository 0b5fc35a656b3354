// Exit statuses of a command, and the errors that end it early with one of them.
#pragma once

#include <stdexcept>
#include <string>

namespace cli {

enum exit_status : int {
    passed = 0,
    failed = 1,          // the submission's fault
    wrong_usage = 2,     // the command line's fault
    nothing_graded = 77, // nothing failed, but points are open
    infrastructure = 99, // our fault or the machine's, never the student's
    stopped = 130,       // Ctrl-C
};

// The message says what was wrong, where, and what to do next, in that order.
class usage_error : public std::runtime_error {
    using runtime_error::runtime_error;
};
class machine_error : public std::runtime_error {
    using runtime_error::runtime_error;
};
// A GPU was asked for and there is none.
class no_device_error : public std::runtime_error {
    using runtime_error::runtime_error;
};
// The user asked us to stop. Children have already ended when this is thrown.
class stop_requested : public std::exception {
public:
    const char *what() const noexcept override { return "stopped"; }
};

} // namespace cli
