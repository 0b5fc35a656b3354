// Workloads of lab 14.
#pragma once

#include "mistakes.hpp"

#include <cstddef>

// The floats of a timed array, limited by the speed of the host and its link.
constexpr std::size_t timed_floats = (1 << 23) - 35;

// upload of so many floats, and sum_mapped of as many.
std::size_t floats_to_cross();
grading::make_workload upload_floats();
grading::make_workload sum_floats(int passes);

// scale_managed of so many floats.
std::size_t floats_to_scale();
grading::make_workload scale_floats(int rounds);
