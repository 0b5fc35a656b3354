// What is right in lab 02: plain C++ on the host, with the meaning of every argument as in lab.hpp.
#pragma once

#include "lab.hpp"

#include <vector>

namespace oracle {

// rows x cols, row-major.
std::vector<float> scale_columns(const std::vector<float> &in, int rows, int cols,
                                 const std::vector<float> &factor);

// The n - offset sums (none when offset >= n), wherever the contract says to put them.
std::vector<float> read_offset(const std::vector<float> &a, const std::vector<float> &b,
                               int offset);
std::vector<float> write_offset(const std::vector<float> &a, const std::vector<float> &b,
                                int offset);

std::vector<float> add(const std::vector<float> &a, const std::vector<float> &b);

// The distinct sectors and lines of the addresses that the active lanes read, counted one by one.
prediction predict(const access_pattern &pattern);

} // namespace oracle
