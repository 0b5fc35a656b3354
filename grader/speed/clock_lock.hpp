// Keeps timed runs apart from work that must not run beside a clock.
#pragma once

#include <string>

namespace grading {

// Waits until this process alone holds a lock on the file, which it then keeps until it ends. The
// process that starts the grader holds the lock while a compiler or the simulator is busy on this
// machine. Returns the seconds that it waited: none for an empty path, or if the lock is held
// already. Throws std::system_error.
double hold_clock(const std::string &path);

} // namespace grading
