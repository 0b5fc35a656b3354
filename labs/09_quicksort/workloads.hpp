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
