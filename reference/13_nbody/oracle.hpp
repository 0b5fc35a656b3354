// The right results of lab 13: plain C++ on the host, with the meaning of every argument as in
// lab.hpp.
#pragma once

#include "lab.hpp"

#include <array>
#include <vector>

namespace oracle {

using triple = std::array<double, 3>;

// A body in double. `moves` is its velocity.
struct point {
    triple at, moves;
    double mass;
};
std::vector<point> points(const std::vector<body> &bodies);
std::vector<point> points(const std::vector<float4> &position_mass,
                          const std::vector<float4> &velocity);

// The pull on one body, and for each coordinate the sum of the terms' absolute values, which bounds
// the error of a summation in float.
struct pull {
    triple value, magnitude;
};
pull acceleration(const std::vector<point> &all, std::size_t of, double softening);
std::vector<pull> accelerations(const std::vector<point> &all, double softening);

std::vector<point> step(std::vector<point> all, double softening, double dt, int steps);

// Kinetic and potential energy of all bodies together.
double energy(const std::vector<point> &all, double softening);

} // namespace oracle
