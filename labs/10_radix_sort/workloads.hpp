// Inputs and workloads of lab 10.
#pragma once

#include "mistakes.hpp"

#include <cstddef>
#include <vector>

uints random_keys(std::size_t n);
// The larger one first.
uints two_falling();
// Draws from `count` different keys, which differ in all digits.
uints few_keys(std::size_t n, int count);
// Each differs from the others in a single bit or two, whatever bit that is.
uints single_bits(std::size_t n);
// Keys in an order that a sort may meet.
std::vector<uints> known_orders(std::size_t n);

// No NaN among them, and every other pattern of bits as likely as any.
floats random_numbers(std::size_t n);
// The numbers at which orders differ, many times each.
floats special_numbers(std::size_t n);

// The contract's functions: sort_warps, radix_sort, radix_sort_pairs, radix_sort_floats.
enum class task { runs, keys, pairs, numbers };

// Keys of a timed or counted call, and such a call.
int raced_keys();
grading::make_workload sort_many(task what);

// Of sort_warps; and of a radix sort, by the bytes per key that must move and that do.
grading::speed_gates gates_of_runs();
grading::speed_gates sorting_gates(double speedup, const grading::steps &max_bytes,
                                   const grading::steps &max_moved);

// Counts the launches of a radix_sort, and what it reads for each of few keys and of many.
void count_launches();
