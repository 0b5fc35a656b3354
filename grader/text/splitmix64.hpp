// The splitmix64 generator (G. Steele, D. Lea, C. Flood, OOPSLA 2014), also used as a hash.
#pragma once

#include <cstdint>

namespace grading {

inline std::uint64_t splitmix64(std::uint64_t &state)
{
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

inline std::uint64_t salted_hash(std::uint64_t salt, std::uint64_t bits)
{
    std::uint64_t state = salt ^ bits;
    return splitmix64(state);
}

// The state from which the numbers after the first `drawn` follow.
inline std::uint64_t splitmix64_state(std::uint64_t seed, std::uint64_t drawn)
{
    return seed + drawn * 0x9e3779b97f4a7c15;
}

} // namespace grading
