// The verdict that follows from an answer of the submission's worker.
#pragma once

#include "process/worker_process.hpp"

#include <string>
#include <vector>

namespace grading {

// Ends the case unless the student's worker gave a good answer: its faults are the student's.
// `doing` is used in messages: "calling scale_columns".
void require_answer(const answer &a, const std::string &doing);

// Hint for a call that does not end. `in_kernel`: a kernel is known to be the reason.
std::string endless_hint(bool in_kernel);

// True if the device had no memory for the arguments. If a fresh process has enough, earlier calls
// of the submission leaked it: end_for_leak() then ends the case.
bool lacks_device_memory(const answer &a);
[[noreturn]] void end_for_leak(const std::string &function);
// Ends the case with the submission at fault if naive's worker has memory for the sets of `loads`.
// Returns if it has none either: the device is then too small. The submission's worker is ended
// first, to free all its memory.
void require_memory_in_naive(std::vector<request> loads);

} // namespace grading
