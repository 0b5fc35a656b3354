// Whether the host did what kernels should: what it saw of a call's inputs, and what it brought.
#pragma once

#include "grading.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace grading {

// Of a call's arguments. Those that kernels and host reach alike count as neither.
struct argument_places {
    std::uint64_t device_inputs = 0, device_outputs = 0; // bytes; what is changed in place: both
    std::uint64_t on_host = 0;                           // bytes that must cross the link
    std::uint64_t element = 4;     // bytes of the largest on the device, and no less than a count
    bool shared_with_host = false; // pinned, mapped or managed: no copy shows
};
argument_places places_of(const std::vector<argument> &);

// Bytes of device memory that the host may have seen: copies, what it shares with kernels, and what
// they print.
std::uint64_t bytes_seen_by_host(const counted &);

// Ends the case as IMPLAUSIBLE where the host saw inputs that lie on the device and brought as much
// as makes up a part of the outputs there: such a call earns what an empty one does. Either alone
// may have good reasons; a little of both, too, of which `current_case()` may allow more.
void check_host_stayed_out(const char *function, const argument_places &, const counted &);

// The same where kernels moved or multiplied less than any version must.
void check_kernels_worked(const std::string &function, double bytes, double multiplications,
                          const counted &);

} // namespace grading
