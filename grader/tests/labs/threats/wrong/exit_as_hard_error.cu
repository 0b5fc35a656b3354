// Fails: twice: 1000 elements | EARLY_EXIT | ended with status 99
// Threat A03: Ends with the status by which Meson tells an error of the test itself.
#include "lab.hpp"

#include <unistd.h>

void twice(const float *, float *, int) { _exit(99); }
