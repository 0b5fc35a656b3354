// A lab for the grader's own tests: small enough that each submission shows one verdict.
#pragma once

// y[i] = 2 * x[i] for i < n. x, y: n each.
void twice(const float *x, float *y, int n);

// The sum of n host values. values_host: n.
long long sum(const int *values_host, int n);

// Doubles the first n - 1 of n values in place; the last stays. data: n, n >= 1.
void twice_but_last(float *data, int n);

// y[i] = x[i] for 1 <= i < n; y[0] stays as it is. x, y: n each, n >= 1.
void copy_but_first(const unsigned char *x, unsigned char *y, int n);
