// The bytes of a call's arguments, with guards and poison, as they go to the worker and come back.
#pragma once

#include "api/argument.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace grading {

constexpr std::uint64_t image_start = 1 << 20;  // in the input memory; bytes below are unused
constexpr std::uint64_t report_bytes = 8 << 20; // for the simulator's report, behind the images

// Bytes of all parts of an argument with their guards: a multiple of 256.
std::uint64_t image_size(const argument_descriptor &);

// Address of an argument's payload before the call, in the input memory, and after it, in the
// output memory.
const std::byte *payload_before(const argument &, unsigned part = 0);
const std::byte *payload_after(const argument &, unsigned part = 0);

// "`out`", or "`buffers[1]`" if there are several
std::string argument_name(const argument &, unsigned part);
std::string elements(std::uint64_t n); // "1 element", "7 elements"

// Images of one call, side by side in the input and in the output memory.
class argument_images {
public:
    // Assigns each argument its range of both memories. Ends the case if they do not fit the shared
    // memory.
    explicit argument_images(std::vector<argument> &arguments);

    std::uint64_t end() const { return end_; }
    std::uint64_t report_at() const { return end_ - image_start; } // in the output memory

    // Writes guards, values, inputs, and fresh poison into the outputs. In the second of two equal
    // calls the poison differs from the bytes that the first returned (4-byte elements hold
    // another NaN), so an element that equals its poison in both was not written. Inputs are still
    // in place then and are not copied again: the caller's own elements may already be results of
    // the first call.
    void fill(bool second);

private:
    std::vector<argument> &arguments_;
    std::uint64_t end_ = image_start; // in the input memory
};

} // namespace grading
