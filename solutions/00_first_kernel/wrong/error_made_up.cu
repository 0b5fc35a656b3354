// Fails: launch_error: as many threads as a block may have | NOT_WRITTEN | launched no kernel
// On gpu: may pass - nothing there tells that no kernel was launched
// The right numbers, without a launch.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void do_nothing() {}

int launch_error(int threads) { return threads < 1 || threads > 1024 ? 1 : 0; }

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
void saxpy_host(float, const float *, float *, int) {}
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
void block_sums(const int *, int *, int) {}
