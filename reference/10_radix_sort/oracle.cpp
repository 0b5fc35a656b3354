// What is right in lab 10, by the sorts of the standard library.
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

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
    std::vector<std::size_t> order(in.keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&in](std::size_t i, std::size_t j) { return in.keys[i] < in.keys[j]; });
    pairs out;
    for (std::size_t i : order) {
        out.keys.push_back(in.keys[i]);
        out.values.push_back(in.values[i]);
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
