// Fails: twice: 1000 elements | CRASH | SIGSEGV
// Threat A16: Calls itself until the stack is used up.
#include "lab.hpp"

static int below(volatile int *above)
{
    volatile int here[1024];
    here[0] = *above + 1;
    return below(here) + here[0];
}

void twice(const float *, float *y, int n)
{
    volatile int start = n;
    if (below(&start) == 0) cudaMemset(y, 0, sizeof *y);
}
