// Fails: twice: 1000 elements | EARLY_EXIT | ended with status 0
// Threat A02: Ends in the ways that run no exit handlers, or others.
#include "lab.hpp"

#include <cstdlib>

void twice(const float *, float *, int n)
{
    if (n % 2) std::_Exit(0);
    std::quick_exit(0);
}
