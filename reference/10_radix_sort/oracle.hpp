// The right results of lab 10: plain C++ on the host, with the meaning of every argument as in
// lab.hpp.
#pragma once

#include "lab.hpp"

#include <cstdint>
#include <vector>

namespace oracle {

std::vector<unsigned> sort_warps(std::vector<unsigned> keys);

std::vector<unsigned> radix_sort(std::vector<unsigned> keys);

struct pairs {
    std::vector<unsigned> keys, values;
};
pairs radix_sort_pairs(const pairs &in);

std::vector<float> radix_sort_floats(std::vector<float> keys);

} // namespace oracle
