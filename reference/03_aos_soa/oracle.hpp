// The right results of lab 03: plain C++ on the host, with the meaning of every argument as in
// lab.hpp.
#pragma once

#include "lab.hpp"

#include <vector>

namespace oracle {

// Particles are an array of structs here: fields * n floats.

// Every x after a step, n of them, and |x| + |vx * dt| of each, by which rounding is judged.
struct moved {
    std::vector<double> x, magnitude;
};
moved drift(const std::vector<float> &aos, float dt);

std::vector<double> distances(const std::vector<float> &aos, float3 centre);

std::vector<float> to_soa(const std::vector<float> &aos);
std::vector<float> to_aos(const std::vector<float> &soa);

std::vector<float> transpose(const std::vector<float> &in, int rows, int cols);

} // namespace oracle
