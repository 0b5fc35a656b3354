// Inputs and workloads of lab 09.
#pragma once

#include "mistakes.hpp"

#include <cstddef>
#include <random>

enum class order { random, sorted, reversed, equal, few, organ_pipe };

// n keys: `few` has five values; `organ_pipe` rises and falls again.
keys ordered(order o, std::size_t n, std::mt19937_64 &random = grading::random_source());

// The contract's two functions.
enum class sort_function { recursive, levels };

// Makes the case's next CALL of either, on `data`.
void call_sort(sort_function f, grading::output<unsigned> &data, int at);

// Sorts n keys.
grading::make_workload sort_keys(sort_function f, order o, int n);

constexpr int recursive_keys = 3000 - 35; // of a counted call of quicksort_recursive

grading::counted_gate launches_by_the_host();
grading::counted_gate launches_by_kernels();
grading::counted_gate work_of_launched();
grading::counted_gate launches(const grading::steps &max, const std::string &meaning);
grading::counted_gate accesses_per_key(double max, const std::string &meaning); // recursive
// Of either function.
grading::counted_gate instructions_per_key(double keys, double max);

// One call of quicksort, timed and counted; and only counted: the lanes at work, for random keys;
// and the bytes moved per key, for few values.
void race_levels(order o);
void count_lanes();
void count_moves_of_equal_keys();
