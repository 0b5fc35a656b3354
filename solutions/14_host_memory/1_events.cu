// Lab 14, rung 1: measure first.
//
// New: time_copy_ms, by two CUDA events in the stream of the copies, behind a warm-up copy that is
// not measured.
// Unchanged: acquire, upload, release, sum_mapped, scale_managed.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

float time_copy_ms(const float *src_host, float *dst, size_t n, int repeats)
{
    auto copy = [=] {
        check(cudaMemcpyAsync(dst, src_host, sizeof(float) * n, cudaMemcpyHostToDevice),
              "cudaMemcpyAsync");
    };
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&stop), "cudaEventCreate");
    copy(); // the first may include set-up work of the driver
    check(cudaEventRecord(start), "cudaEventRecord");
    for (int k = 0; k < repeats; ++k) copy();
    check(cudaEventRecord(stop), "cudaEventRecord");
    float ms = 0;
    check(cudaEventSynchronize(stop), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
    check(cudaEventDestroy(start), "cudaEventDestroy");
    check(cudaEventDestroy(stop), "cudaEventDestroy");
    return ms / repeats;
}
