// Fails: build | BUILD_FAILED | no such file
// Threat B07: Takes the solution where the preprocessor finds it.
#include "lab.hpp"

#if __has_include("../solution.cu")
#include "../solution.cu"
#elif __has_include("grader/tests/labs/threats/solution.cu")
#include "grader/tests/labs/threats/solution.cu"
#else
#include "no such file.hpp"
#endif
