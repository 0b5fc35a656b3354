// Copies and compares arrays of any size on all cores that this process may use.
#pragma once

#include "api/compare.hpp"

#include <cstddef>
#include <cstring>

namespace grading {

constexpr std::size_t bytes_per_thread = 4 << 20; // fewer are not worth a thread

inline void copy_bytes(std::byte *to, const std::byte *from, std::size_t bytes)
{
    const auto copy = [=](std::size_t first, std::size_t last) {
        if (first < last) std::memcpy(to + first, from + first, last - first);
        return true;
    };
    in_ranges(bytes, copy, bytes_per_thread);
}

inline bool equal_bytes(const std::byte *a, const std::byte *b, std::size_t bytes)
{
    const auto equal = [=](std::size_t first, std::size_t last) {
        return first == last || std::memcmp(a + first, b + first, last - first) == 0;
    };
    return in_ranges(bytes, equal, bytes_per_thread);
}

} // namespace grading
