// Fails: scan_inclusive: a small array | IMPLAUSIBLE | the host worked on them
// On gpu: may pass - nothing tells there what crosses the link
// The host adds up; the device gets what came out.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <vector>

template <class T> static void scan(const T *in, T *out, int n, bool exclusive = false)
{
    std::vector<T> values(n);
    cudaMemcpy(values.data(), in, sizeof(T) * n, cudaMemcpyDeviceToHost);
    T sum = 0;
    for (T &x : values) {
        T before = sum;
        sum += x;
        x = exclusive ? before : sum;
    }
    cudaMemcpy(out, values.data(), sizeof(T) * n, cudaMemcpyHostToDevice);
}

void scan_block_inclusive(const int *in, int *out, int n) { scan(in, out, n); }
void scan_block_exclusive(const int *in, int *out, int n) { scan(in, out, n, true); }
size_t scan_inclusive_scratch(int) { return 0; }
void scan_inclusive(const int *in, int *out, int n, void *) { scan(in, out, n); }
size_t scan_exclusive_scratch(int) { return 0; }
void scan_exclusive(const int *in, int *out, int n, void *) { scan(in, out, n, true); }
size_t scan_inclusive_int64_scratch(int) { return 0; }
void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *)
{
    scan(in, out, n);
}
size_t scan_inclusive_float_scratch(int) { return 0; }
void scan_inclusive_float(const float *in, float *out, int n, void *) { scan(in, out, n); }
