// Checks that the host did not do the kernels' work, by the data that it saw and brought.
#pragma once

#include "api/argument.hpp"
#include "api/counters.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace grading {

// Bytes of a call's arguments by the memory that they are in. Memory that both kernels and host can
// access counts as neither's.
struct argument_bytes {
    std::uint64_t device_inputs = 0, device_outputs = 0; // bytes; in-place arguments count as both
    std::uint64_t on_host = 0;                           // bytes that must cross the link
    std::uint64_t element = 4;     // bytes of the largest element on the device, at least a count
    bool shared_with_host = false; // pinned, mapped or managed: no copy shows
};
argument_bytes argument_bytes_of(const std::vector<argument> &);

// Bytes that the host may have read of what is on the device: copies, memory that kernels share
// with it, and text that they print.
std::uint64_t bytes_seen_by_host(const counted &);

// Ends the case as IMPLAUSIBLE if the host saw inputs that lie on the device and brought enough to
// make up a part of the outputs there: such a call earns no more than an empty one. One of the two
// alone may have good reasons, and so may a little of both; `current_case()` may allow more.
void check_host_stayed_out(const char *function, const argument_bytes &, const counted &);

// Ends the case as IMPLAUSIBLE if kernels moved or multiplied less than any version must.
void check_kernels_worked(const std::string &function, double bytes, double multiplications,
                          const counted &);

} // namespace grading
