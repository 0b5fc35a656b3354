// A lab for the grader's own tests: some of its cases are held back.
#pragma once

// y[i] = 2 * x[i] for i < n. x, y: n each.
void twice(const float *x, float *y, int n);
