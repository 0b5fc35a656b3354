// Inputs and workloads of lab 01.
#pragma once

#include "mistakes.hpp"

#include <cstddef>
#include <random>

// A table in which a walk does not come to rest: every state has one before it.
bytes random_table(std::mt19937_64 &random);

// Elements of a timed array: no whole number of blocks.
std::size_t raced_elements();

// One call of add_to_global; and calls with raced_elements() of polynomial, follow and small_sort.
grading::make_workload one_more();
grading::make_workload many_values(int degree);
grading::make_workload many_walks(int steps);
grading::make_workload many_runs();
