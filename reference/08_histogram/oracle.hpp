// The right results of lab 08: plain C++ on the host, with the meaning of every argument as in
// lab.hpp.
#pragma once

#include "lab.hpp"

#include <vector>

namespace oracle {

// One element.
std::vector<long long> sum(const std::vector<int> &in);

// 256 bins.
std::vector<unsigned> histogram(const std::vector<unsigned char> &in);

// 256 bins per tile; `image` has width * height pixels.
std::vector<unsigned> histogram_tiles(const std::vector<unsigned char> &image, int width,
                                      int height, int tile);

// bin_count bins. Compares with every bound, and computes no bin from an element.
std::vector<unsigned> histogram_range(const std::vector<float> &in, float low, float high,
                                      int bin_count);

} // namespace oracle
