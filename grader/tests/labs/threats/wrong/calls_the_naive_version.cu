// Fails: build | BUILD_FAILED | uses naive::twice
// Threat E15: Calls the grader's own version.
#include "lab.hpp"

namespace naive {
void twice(const float *x, float *y, int n);
}

void twice(const float *x, float *y, int n) { naive::twice(x, y, n); }
