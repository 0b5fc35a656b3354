// The right results of lab 11, one element after the other.
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>

namespace oracle {

float work(float x, int rounds)
{
    for (int k = 0; k < rounds; ++k) x = std::fma(-1.9f * x, x, 1.0f);
    return x;
}

std::vector<float> add_pipelined(const std::vector<float> &a, const std::vector<float> &b,
                                 int rounds)
{
    std::vector<float> c;
    std::transform(a.begin(), a.end(), b.begin(), std::back_inserter(c),
                   [rounds](float x, float y) { return work(x + y, rounds); });
    return c;
}

std::vector<unsigned char> merge_images(const std::vector<unsigned char> &first,
                                        const std::vector<unsigned char> &second)
{
    std::vector<unsigned char> out;
    std::transform(first.begin(), first.end(), second.begin(), std::back_inserter(out),
                   [](int f, int s) { return static_cast<unsigned char>((3 * f + s + 2) / 4); });
    return out;
}

diamond_result diamond(const std::vector<float> &in, int rounds)
{
    diamond_result r;
    for (float x : in) r.top.push_back(work(x, 1));
    for (float x : r.top) r.left.push_back(work(x, rounds));
    std::transform(r.top.rbegin(), r.top.rend(), std::back_inserter(r.right),
                   [rounds](float x) { return work(x / 2, rounds); });
    std::transform(r.left.begin(), r.left.end(), r.right.begin(), std::back_inserter(r.out),
                   std::minus<float>());
    return r;
}

} // namespace oracle
