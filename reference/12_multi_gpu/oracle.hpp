// The right results of lab 12: plain C++ on the host, with the meaning of every argument as in
// lab.hpp.
#pragma once

#include "lab.hpp"

#include <cstddef>
#include <vector>

namespace oracle {

// The n sums, and the sums of the magnitudes, of `devices` buffers that lie one after the other.
struct sums {
    std::vector<double> values, magnitudes;
};
sums all_reduce(const std::vector<float> &buffers, int n, int devices);

std::vector<unsigned char> merge_images(const std::vector<unsigned char> &first,
                                        const std::vector<unsigned char> &second);

} // namespace oracle
