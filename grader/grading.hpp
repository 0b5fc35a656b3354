// The interface of a lab's grade.cpp: cases, inputs, the call, comparisons, benchmarks.
//
// A correctness case is three lines: inputs, call, compare.
//
//     CORRECTNESS_CASE("scale_columns: one row more than the block", 1)
//     {
//         auto in = random_floats(33 * 7), factor = random_floats(7);
//         output<float> out(33 * 7);
//         CALL(scale_columns, in, out, 33, 7, factor);
//         expect_equal(out, oracle::scale_columns(in, 33, 7, factor), {33, 7});
//     }
//
// The first failure ends the case with its verdict; the next case is still graded.
#pragma once

#include "api/call.hpp"
#include "api/call_options.hpp"
#include "api/cases.hpp"
#include "api/compare.hpp"
#include "api/counters.hpp"
#include "api/gates.hpp"
#include "api/inputs.hpp"
#include "api/probes.hpp"
#include "api/workload.hpp"
#include "text/verdict.hpp"
