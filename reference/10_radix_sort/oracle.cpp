// The right results of lab 10, by the sorts of the standard library.
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace oracle {

std::vector<unsigned> sort_warps(std::vector<unsigned> keys)
{
    for (std::size_t first = 0; first < keys.size(); first += 32) {
        auto run = keys.begin() + std::ptrdiff_t(first);
        std::sort(run, run + std::ptrdiff_t(std::min<std::size_t>(32, keys.size() - first)));
    }
    return keys;
}

std::vector<unsigned> radix_sort(std::vector<unsigned> keys)
{
    std::sort(keys.begin(), keys.end());
    return keys;
}

pairs radix_sort_pairs(const pairs &in)
{
    // A pair's place behind its key keeps equal keys in order, and makes all of them different.
    std::vector<std::uint64_t> keyed(in.keys.size());
    for (std::size_t i = 0; i < keyed.size(); ++i) keyed[i] = std::uint64_t{in.keys[i]} << 32 | i;
    std::sort(keyed.begin(), keyed.end());
    pairs out;
    out.keys.reserve(keyed.size()), out.values.reserve(keyed.size());
    for (std::uint64_t k : keyed) {
        out.keys.push_back(static_cast<unsigned>(k >> 32));
        out.values.push_back(in.values[static_cast<unsigned>(k)]);
    }
    return out;
}

std::vector<float> radix_sort_floats(std::vector<float> keys)
{
    std::sort(keys.begin(), keys.end(), [](float x, float y) {
        return x < y || (x == y && std::signbit(x) && !std::signbit(y)); // -0 equals 0
    });
    return keys;
}

} // namespace oracle
