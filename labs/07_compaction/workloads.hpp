// Inputs and workloads of lab 07.
#pragma once

#include "mistakes.hpp"

#include <cstddef>
#include <vector>

// n elements of which about the given share is kept; 0 and 1 mean none and all.
floats mixed(std::size_t n, double share);
// The same for marks, any byte but 0; and the marks of these elements.
mark_list marks(std::size_t n, double share);
mark_list marked(const floats &in);
std::size_t kept_of(const mark_list &keep);
// Inputs whose kept elements are not evenly spread.
std::vector<floats> uneven();
// Values at which comparisons differ.
floats special_values();

// The contract's functions, and how many elements each has where it is timed or counted.
enum class task { compact, unpack, partition };
int raced_elements(task what);
// About `share` of the elements is kept.
grading::make_workload pack(task what, double share);
