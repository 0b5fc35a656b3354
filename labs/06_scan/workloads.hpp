// Workloads of lab 06, the arrays that its speed cases scan, and the gates that judge them.
#pragma once

#include "mistakes.hpp"

#include <cstddef>

// Elements of `element` bytes in a timed array; the simulator has 100 000.
int elements_to_scan(std::size_t element);
constexpr int elements_of_block = 2048 - 35;

// One call with n elements: of scan_block_exclusive, with elements_of_block; scan_inclusive;
// scan_exclusive; scan_inclusive_int64; scan_inclusive_float.
grading::make_workload scan_block();
grading::make_workload scan_ints(int n);
grading::make_workload scan_ints_exclusive(int n);
grading::make_workload scan_longs(int n);
grading::make_workload scan_floats(int n);

grading::speed_gates gates_of_block();

// Bytes per element are as many times as large as an element is larger than an int. `one_pass`:
// the compulsory bytes per int that give all points; 0 where other cases pay for that, and few
// barriers give all points.
grading::speed_gates gates_of(std::size_t element, double one_pass = 8.5);

// The second sitting, of ints: one pass, in which no block has more than a `share`-th of the work;
// and one whose tiles are few.
grading::speed_gates gates_of_one_pass(double n, double share);
grading::speed_gates gates_of_large_tiles(double n);
