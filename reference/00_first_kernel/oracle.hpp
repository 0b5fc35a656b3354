// The right results of lab 00: plain C++ on the host, with the arguments of lab.hpp.
#pragma once

#include "lab.hpp"

#include <vector>

namespace oracle {

std::vector<int> who_am_i();
std::vector<float> add_one(const std::vector<float> &x);
// The same for saxpy_blocks, saxpy and saxpy_host.
std::vector<float> saxpy(float a, const std::vector<float> &x, const std::vector<float> &y);
std::vector<unsigned char> mirror(const std::vector<unsigned char> &in, int width, int height);
std::vector<float> differences(const std::vector<float> &in);
std::vector<int> reverse_block(std::vector<int> data);
std::vector<int> block_sums(const std::vector<int> &in);

} // namespace oracle
