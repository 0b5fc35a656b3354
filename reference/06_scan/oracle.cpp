// What is right in lab 06, one element after the other.
#include "oracle.hpp"

#include <cmath>

namespace oracle {

template <class T> static std::vector<T> sums(const std::vector<T> &in, bool with_itself)
{
    std::vector<T> out;
    T before = 0;
    for (T x : in) {
        out.push_back(with_itself ? before + x : before);
        before += x;
    }
    return out;
}

std::vector<int> inclusive(const std::vector<int> &in) { return sums(in, true); }
std::vector<std::int64_t> inclusive(const std::vector<std::int64_t> &in) { return sums(in, true); }
std::vector<int> exclusive(const std::vector<int> &in) { return sums(in, false); }

float_sums inclusive(const std::vector<float> &in)
{
    std::vector<double> values(in.begin(), in.end()), sizes;
    for (double x : values) sizes.push_back(std::abs(x));
    return {sums(values, true), sums(sizes, true)};
}

} // namespace oracle
