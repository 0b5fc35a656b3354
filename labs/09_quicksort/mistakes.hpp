// Wrong answers of lab 09 that the grader knows, and what to say of them.
#pragma once

#include "grader/grading.hpp"

#include <cstddef>
#include <vector>

using keys = std::vector<unsigned>;

// Sets the hints for the case's next calls of either function with n keys.
void explain_sorting(std::size_t n);
// The same for what goes wrong where a kernel launches itself. It replaces some of those above.
void explain_recursion();

// Ends the case unless `got` is `in`, sorted.
void expect_sorted(const grading::output<unsigned> &got, const keys &in);
