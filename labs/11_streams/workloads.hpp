// Inputs of lab 11, and the workloads of its speed cases.
#pragma once

#include "mistakes.hpp"

#include <cstddef>

// In [-1/2, 1/2], so that sums stay in [-1, 1].
floats random_halves(std::size_t n);

// add_pipelined with arrays of 2^25 elements, or fewer where memory is small; on the simulator
// 1 MiB each.
std::size_t raced_elements();
grading::make_workload add_pieces(int rounds);
// Returns as many rounds as make the kernel take as long as the two copies in. Naive then takes as
// long as five copies; without any round, as long as three, and a little more for the sum.
int balanced_rounds();

// merge_images with a batch whose results have so many bytes.
double merged_bytes();
grading::make_workload merge_batch();

// diamond with few elements, so that a kernel leaves most of the device idle, and the
// multiplications of both branches.
double multiplications_of_branches();
grading::make_workload compute_branches();
