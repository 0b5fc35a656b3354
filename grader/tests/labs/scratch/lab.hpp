// A lab for the grader's own tests: a function that needs scratch memory, and says how much.
#pragma once

#include <cstddef>

// y[i] = x[n - 1 - i] + 1 for i < n, by way of scratch. x, y: n each; scratch: reverse_scratch(n)
// bytes at a 256-byte boundary, which hold anything.
size_t reverse_scratch(int n);
void reverse(const int *x, int *y, int n, void *scratch);
