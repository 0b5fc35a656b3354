// The file with which `WORKER --replay FILE` repeats a case's last call.
#pragma once

#include "process/protocol.hpp"

#include <cstdint>
#include <string>

namespace grading {

// Remembers the requests of a call whose images lie in the input memory from byte `from` to `to`.
void remember_call(const request &load, const request &run, std::uint64_t from, std::uint64_t to);
// Forgets the call. Used before its images are overwritten, and after its case.
void forget_call();
// Writes the remembered call to a file. Returns the path, or an empty string if there is no folder
// for it, no call, or no room on the disk.
std::string keep_call();

} // namespace grading
