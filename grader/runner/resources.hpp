// This process's share of the machine: cores, memory, and places at the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace grading {

// Cores that this process may keep busy: all, or its share where several grade side by side. While
// it works alone, since it takes times, all but those that it leaves to what is timed.
std::size_t cores();
void work_alone(bool alone);

// Bytes that this process can allocate without swapping, by the machine and by its container; 0 if
// the machine does not say.
std::uint64_t available_memory();
// Bytes that a control group (version 2), given by its folder, still grants; nothing if it sets no
// limit.
std::optional<std::uint64_t> granted_memory(const std::string &folder);

// How many processes may grade beside each other on this GPU, so that each has `device_bytes` of
// its memory and `host_bytes` of the machine's. At least 1.
int places_at_device(std::uint64_t device_bytes, std::uint64_t host_bytes);

} // namespace grading
