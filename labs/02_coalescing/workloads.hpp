// Workloads of lab 02, for what is counted or timed.
#pragma once

#include "mistakes.hpp"

#include <cstddef>

// Columns and rows of the matrix that scale_columns gets: many more rows than a device runs
// threads, so that naive does not lack parallelism; and no whole number of blocks, so that a
// version that drops the tail is not timed.
constexpr int raced_cols = 64;
int raced_rows();
grading::make_workload scaling_rows();

// n of the calls of read_offset, write_offset and add_unrolled.
int raced_sums();
enum class sum_of { reading, writing, adding };
grading::make_workload sums_at(sum_of what, int offset);

// Returns `sums` put at `first` into an array of n elements, as the contract puts them.
floats put_at(std::size_t first, const floats &sums, std::size_t n);
