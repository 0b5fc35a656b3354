// Inputs and workloads of lab 04.
#pragma once

#include "mistakes.hpp"

#include <cstddef>

// n elements. Whole numbers make every sum exact, in whatever order: a wrong one can be told from
// its cause.
floats inputs_for(std::size_t n, bool whole);

bool same_bytes(const floats &x, const floats &y);

// For a call of sgemm that changes nothing, and should.
inline const char *const unchanged =
    "sgemm returned, and every element of C is what it was before.";

// The contract's functions: matmul_square, matmul, sgemm. On a GPU two or three workers hold five
// sets of arguments each.
enum class task { square, general, scaled };
double multiply_adds(task what);
grading::make_workload product_of(task what);
