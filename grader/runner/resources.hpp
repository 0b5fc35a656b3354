// This process's share of the machine: cores, memory, and places at the device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace grading {

// Cores that this process may keep busy: all, or its share where several grade side by side.
std::size_t cores();

// Bytes that this machine can allocate without swapping; 0 if it does not say.
std::uint64_t available_memory();

// How many processes may grade beside each other on this GPU, so that each has `device_bytes` of
// its memory and `host_bytes` of the machine's. At least 1.
int places_at_device(std::uint64_t device_bytes, std::uint64_t host_bytes);

} // namespace grading
