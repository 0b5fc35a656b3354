// Copies and compares arrays of any size on all cores that this process may use.
#pragma once

#include "api/compare.hpp"
#include "process/shared_memory.hpp"
#include "text/splitmix64.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>

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

// Makes the pages of memory before its first use, which would make one after the other.
inline void populate(const shared_memory &memory, std::size_t from, std::size_t bytes)
{
    bytes = std::min(bytes, memory.size() - std::min(memory.size(), from));
    const auto make = [&](std::size_t first, std::size_t last) {
        memory.populate(from + first, from + last);
        return true;
    };
    try {
        in_ranges(bytes, make, bytes_per_thread);
    } catch (const std::system_error &) { // no further thread can be started: the use makes them
    }
}

// Fills guards and poison with random bytes, on one core. The generator is fast, and not secure:
// who reads 8 of its bytes knows the rest, but no submission knows `state` before its first call
// with these bytes.
inline void fill_bytes(std::byte *to, std::size_t bytes, std::uint64_t &state)
{
    for (std::size_t i = 0; i < bytes; i += 8) {
        const std::uint64_t bits = splitmix64(state);
        std::memcpy(to + i, &bits, std::min<std::size_t>(8, bytes - i));
    }
}

inline void fill_words(std::byte *to, std::size_t bytes, std::uint32_t word)
{
    for_all(bytes / 4, [=](std::size_t i) {
        std::memcpy(to + 4 * i, &word, 4);
        return true;
    });
}

} // namespace grading
