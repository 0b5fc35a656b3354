// The right results of lab 12, one number after the other.
#include "oracle.hpp"

#include <algorithm>
#include <cmath>

namespace oracle {

sums all_reduce(const std::vector<float> &buffers, int n, int devices)
{
    const auto size = static_cast<std::size_t>(n);
    sums all{std::vector<double>(size), std::vector<double>(size)};
    for (std::size_t k = 0; k < static_cast<std::size_t>(devices); ++k)
        for (std::size_t i = 0; i < size; ++i) {
            const double x = buffers[k * size + i];
            all.values[i] += x;
            all.magnitudes[i] += std::abs(x);
        }
    return all;
}

std::vector<unsigned char> merge_images(const std::vector<unsigned char> &first,
                                        const std::vector<unsigned char> &second)
{
    std::vector<unsigned char> out(first.size());
    std::transform(first.begin(), first.end(), second.begin(), out.begin(),
                   [](int a, int b) { return static_cast<unsigned char>((3 * a + b + 2) / 4); });
    return out;
}

} // namespace oracle
