// A lab for the grader's own tests: what is wrong in it plays the threats of
// grader/tests/threats.csv.
#pragma once

// y[i] = 2 * x[i] for i < n. x, y: n each.
void twice(const float *x, float *y, int n);
