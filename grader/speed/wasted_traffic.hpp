// Sectors of 32 bytes, in which device memory moves.
#pragma once

#include "counted.hpp"

#include <cstdint>

namespace grading {

constexpr std::uint64_t sector_bytes = 32;

// Sectors moved at a source line beyond the fewest that would do.
inline std::uint64_t wasted(const counted::site &s)
{
    return s.sectors > s.ideal_sectors ? s.sectors - s.ideal_sectors : 0;
}

} // namespace grading
