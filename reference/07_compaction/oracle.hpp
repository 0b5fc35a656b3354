// The right results of lab 07: plain C++ on the host, with the meaning of every argument as in
// lab.hpp.
#pragma once

#include "lab.hpp"

#include <vector>

namespace oracle {

// The k elements packed.
std::vector<float> compact(const std::vector<float> &in);

// keep.size() elements.
std::vector<float> unpack(const std::vector<float> &packed, const std::vector<unsigned char> &keep);

// in.size() elements, of which the first compact(in).size() are kept.
std::vector<float> partition(const std::vector<float> &in);

} // namespace oracle
