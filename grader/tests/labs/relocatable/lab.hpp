// A lab for the grader's own tests: relocatable device code, compiled, linked and run as any other.
#pragma once

// y[i] = x[i] + 1 for i < n. x, y: n each.
void increment(const int *x, int *y, int n);
