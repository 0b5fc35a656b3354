// What is right in lab 06: plain C++ on the host, with the meaning of every argument as in lab.hpp.
#pragma once

#include "lab.hpp"

#include <cstdint>
#include <vector>

namespace oracle {

std::vector<int> inclusive(const std::vector<int> &in);
std::vector<std::int64_t> inclusive(const std::vector<std::int64_t> &in);
std::vector<int> exclusive(const std::vector<int> &in);

// Of floats: the sums in double, and those of the absolute values, by which rounding is judged.
struct float_sums {
    std::vector<double> sums, magnitudes;
};
float_sums inclusive(const std::vector<float> &in);

} // namespace oracle
