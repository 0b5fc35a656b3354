// Fails: twice: 1000 elements | OUT_OF_BOUNDS | of `y`
// Threat D16: Zeroes what lies around its output: a counter of errors, perhaps.
#include "lab.hpp"

void twice(const float *, float *y, int n) { cudaMemset(y - 1024, 0, (n + 2048) * sizeof(float)); }
