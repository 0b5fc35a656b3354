// The file with which `WORKER --replay FILE` repeats a case's last call.
#pragma once

#include "protocol.hpp"

#include <cstdint>
#include <string>

namespace grading {

// The requests of a call whose images lie in the input region from byte `from` to `to`.
void remember_call(const request &load, const request &run, std::uint64_t from, std::uint64_t to);
// Its images are about to be overwritten, or its case is over.
void forget_call();
// Writes the call remembered; returns the file's path, or nothing when there is no folder for it,
// no call, or no room on the disk.
std::string keep_call();

} // namespace grading
