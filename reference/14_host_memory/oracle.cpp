// The right results of lab 14, one element after the other.
#include "oracle.hpp"

#include <cstddef>

namespace oracle {

std::vector<double> sum_mapped(const std::vector<float> &mapped, int passes)
{
    std::vector<double> sums(static_cast<std::size_t>(passes));
    for (double x : mapped) {
        double power = 1;
        for (double &sum : sums) sum += power *= x;
    }
    return sums;
}

std::vector<float> scale_managed(const std::vector<float> &managed, float factor, int rounds)
{
    std::vector<float> out = managed;
    for (float &x : out)
        for (int k = 0; k < rounds; ++k) x *= factor;
    return out;
}

} // namespace oracle
