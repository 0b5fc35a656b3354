// Loops around compare-and-swap, as books and the Programming Guide write them, and those in
// NVIDIA's headers: their first read is plain, and no race.
#include "check.hpp"

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int blocks = 6, threads = 96, launched = blocks * threads;

// The double that older GPUs could not add.
__device__ double add_double(double *at, double value)
{
    auto *bits = reinterpret_cast<unsigned long long *>(at);
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

// Leaves at once where there is nothing to do.
__device__ void max_float(float *at, float value)
{
    float old = *at;
    while (old < value) {
        const int seen =
            atomicCAS(reinterpret_cast<int *>(at), __float_as_int(old), __float_as_int(value));
        if (seen == __float_as_int(old)) break;
        old = __int_as_float(seen);
    }
}

// Reads anew in each round.
__device__ void multiply(unsigned *at, unsigned factor)
{
    unsigned old;
    do old = *at;
    while (atomicCAS(at, old, old * factor) != old);
}

// One byte of a word.
__device__ void add_byte(unsigned char *at, unsigned value)
{
    const auto place = reinterpret_cast<std::uintptr_t>(at);
    auto *word = reinterpret_cast<unsigned *>(place & ~std::uintptr_t{3});
    const unsigned shift = place % 4 * 8;
    unsigned old = *word, assumed;
    do {
        assumed = old;
        const unsigned sum = (assumed >> shift) + value & 255;
        old = atomicCAS(word, assumed, (assumed & ~(255u << shift)) | sum << shift);
    } while (old != assumed);
}

// Two floats that change together.
__device__ void add_complex(float2 *at, float2 value)
{
    auto *bits = reinterpret_cast<unsigned long long *>(at);
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        float2 sum;
        memcpy(&sum, &assumed, sizeof sum);
        sum.x += value.x;
        sum.y += value.y;
        unsigned long long next;
        memcpy(&next, &sum, sizeof next);
        old = atomicCAS(bits, assumed, next);
    } while (old != assumed);
}

struct results {
    double sum, bins[4];
    float largest;
    unsigned power;
    unsigned char bytes[8];
    float2 complex;
    __half2 halves;
    __nv_bfloat162 brains;
    __nv_bfloat16 brain;
    __half half;
};

__global__ void update(results *r)
{
    __shared__ double bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    add_double(&r->sum, i);
    add_double(&bins[threadIdx.x % 4], 1);
    max_float(&r->largest, i * 7 % launched);
    multiply(&r->power, 3);
    add_byte(&r->bytes[i % 8], 1);
    add_complex(&r->complex, {1, float(i % 2)});
    if (i < 64) {
        atomicAdd(&r->halves, __floats2half2_rn(1, 2));
        atomicAdd(&r->brains, __floats2bfloat162_rn(1, 2));
        atomicAdd(&r->brain, __float2bfloat16(1));
        atomicAdd(&r->half, __float2half(1));
    }
    __syncthreads();
    if (threadIdx.x < 4) add_double(&r->bins[threadIdx.x], bins[threadIdx.x]);
}

int main()
{
    auto *device = upload(std::vector<results>(1));
    CHECK_CUDA(cudaMemset(device, 0, sizeof(results)));
    const unsigned one = 1;
    CHECK_CUDA(cudaMemcpy(&device->power, &one, sizeof one, cudaMemcpyHostToDevice));
    update<<<blocks, threads>>>(device);
    const results r = download(device, 1)[0];
    CHECK(r.sum == launched * (launched - 1) / 2);
    for (double n : r.bins) CHECK(n == launched / 4);
    CHECK(r.largest == launched - 1);
    unsigned power = 1;
    for (int i = 0; i < launched; ++i) power *= 3;
    CHECK(r.power == power);
    for (unsigned char n : r.bytes) CHECK(n == launched / 8);
    CHECK(r.complex.x == launched && r.complex.y == launched / 2);
    CHECK(__low2float(r.halves) == 64 && __high2float(r.halves) == 128);
    CHECK(__low2float(r.brains) == 64 && __high2float(r.brains) == 128);
    CHECK(__bfloat162float(r.brain) == 64);
    CHECK(__half2float(r.half) == 64);
    return done();
}
