// Where mappings go that a submission must not find: Linux puts one beside the other, so that the
// address of one would tell those of all.
#pragma once

#include <cstdint>
#include <sys/random.h>

namespace simulator {

// A hint for mmap: a multiple of 2 MiB somewhere in 64 TiB, another in each process.
inline void *anywhere()
{
    std::uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits) return nullptr;
    constexpr std::uint64_t first = std::uint64_t{1} << 44, places = std::uint64_t{1} << 25;
    return reinterpret_cast<void *>(first + bits % places * (std::uint64_t{2} << 20));
}

} // namespace simulator
