// What is right in lab 01, one element after the other.
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace oracle {

polynomial_result polynomial(const std::vector<float> &x, const std::vector<float> &coefficients)
{
    polynomial_result y;
    for (double each : x) {
        double value = 0, magnitude = 0, power = 1;
        for (double c : coefficients) {
            value += c * power;
            magnitude += std::abs(c * power);
            power *= each;
        }
        y.values.push_back(value);
        y.magnitudes.push_back(magnitude);
    }
    return y;
}

bytes follow(const bytes &start, const bytes &next, int steps)
{
    bytes out = start;
    for (unsigned char &state : out)
        for (int k = 0; k < steps; ++k) state = next[state];
    return out;
}

// Calls f(first, last) for each piece of `length` elements; the last may be shorter.
template <class F> static void each_piece(std::vector<float> &all, int length, F f)
{
    auto n = static_cast<std::ptrdiff_t>(all.size());
    for (std::ptrdiff_t first = 0; first < n; first += length)
        f(all.begin() + first, all.begin() + std::min(first + length, n));
}

std::vector<float> small_sort(const std::vector<float> &in)
{
    std::vector<float> out = in;
    each_piece(out, run_length, [](auto first, auto last) { std::sort(first, last); });
    return out;
}

std::vector<float> reverse_blocks(const std::vector<float> &data, int block)
{
    std::vector<float> out = data;
    each_piece(out, block, [](auto first, auto last) { std::reverse(first, last); });
    return out;
}

} // namespace oracle
