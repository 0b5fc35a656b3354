// One argument of a call: its description for the worker, and the grader's own array or value.
#pragma once

#include "process/protocol.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace grading {

struct argument {
    argument_descriptor wire;
    void *data = nullptr;                               // the caller's elements; null for a value
    std::byte value[64] = {};                           // a value's bytes
    std::size_t written_first = 0, written_count = 0;   // elements, for outputs
    std::string (*show)(const void *element) = nullptr; // shows an element or a value as text
    std::uint64_t row = 0;                              // elements per row of a matrix, else 0
    std::uint64_t scratch_bytes = 0;                    // result of NAME_scratch
    void *second = nullptr;                             // std::vector<T> output<T>::again
    void (*keep_second)(void *vector, const void *bytes, std::size_t count) = nullptr;
};

} // namespace grading
