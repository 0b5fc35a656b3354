// Fails: build | FORBIDDEN_API | includes headers of cub
#include "lab.hpp"

#define CCCL_IGNORE_DEPRECATED_CPP_DIALECT // the tests compile as C++14
#include <cub/version.cuh>

void twice(const float *, float *, int) {}
long long sum(const int *, int) { return 0; }
void twice_but_last(float *, int) {}
void copy_but_first(const unsigned char *, unsigned char *, int) {}
