// Inputs and workloads of lab 13.
#pragma once

#include "mistakes.hpp"

#include <cstddef>
#include <vector>

// Bodies in a cube around `centre` that is 2 * extent wide. No two masses are equal.
std::vector<body> random_bodies(std::size_t n, float extent = 1, oracle::triple centre = {});

// These bodies as a call of step takes them.
step_call call_with(const std::vector<body> &bodies, float softening, float dt, int steps);

// Ends the case unless the energy of n bodies stays the same over 100 steps; draws their paths.
void expect_energy_kept(std::size_t n);

// What the speed cases compute: the accelerations of many bodies, or steps of them.
enum class motion_of { accelerations, steps };
int raced_bodies(motion_of what);
int raced_steps();
grading::make_workload many_bodies_of(motion_of what);
