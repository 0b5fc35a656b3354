// A lab for the grader's own tests: relocatable device code, compiled, linked and run as any other.
#pragma once

// y[i] = x[i] + 1 for i < n. x, y: n each.
void increment(const int *x, int *y, int n);

// *refused = how many of n launches by one kernel were refused.
void count_refused(int *refused, int n);
