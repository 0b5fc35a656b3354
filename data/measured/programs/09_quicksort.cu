// Times lab 09's function by kind of input, 2^26 - 35 keys, with events: the median of nine calls.
//
//   nvcc -std=c++20 -O3 -rdc=true -arch=sm_90 -Ilabs/09_quicksort
//       data/measured/programs/09_quicksort.cu FILE -lcudadevrt
//
// FILE has the function: labs/09_quicksort/stub.cu when it is done, or another.
#include "lab.hpp"

#include <cuda_runtime.h>
#include <thrust/device_ptr.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

int main()
{
    constexpr int n = (1 << 26) - 35, calls = 9;
    constexpr size_t bytes = sizeof(unsigned) * n;
    std::mt19937 random(1);
    struct {
        const char *name;
        std::function<unsigned(int)> key;
    } kinds[] = {
        {"random", [&](int) { return unsigned(random()); }},
        {"sorted", [](int i) { return unsigned(i); }},
        {"reversed", [](int i) { return unsigned(n - i); }},
        {"all equal", [](int) { return 7u; }},
        {"five values", [&](int) { return unsigned(random()) % 5 * 0x30000001u; }},
        {"up and down again", [](int i) { return unsigned(std::min(i, n - i)); }},
        {"many small ones", [&](int) { return unsigned(random()) >> unsigned(random()) % 32; }},
    };
    unsigned *data = nullptr, *in = nullptr;
    void *scratch = nullptr;
    check(cudaMalloc(&data, bytes));
    check(cudaMalloc(&in, bytes));
    check(cudaMalloc(&scratch, quicksort_scratch(n) + 256));
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::vector<unsigned> keys(n);
    for (const auto &kind : kinds) {
        for (int i = 0; i < n; ++i) keys[i] = kind.key(i);
        check(cudaMemcpy(in, keys.data(), bytes, cudaMemcpyHostToDevice));
        std::vector<float> ms(calls);
        for (float &time : ms) {
            check(cudaMemcpy(data, in, bytes, cudaMemcpyDeviceToDevice));
            check(cudaEventRecord(begin));
            quicksort(data, n, scratch);
            check(cudaEventRecord(end));
            check(cudaEventSynchronize(end));
            check(cudaEventElapsedTime(&time, begin, end));
        }
        std::sort(ms.begin(), ms.end());
        thrust::device_ptr<unsigned> first(data);
        std::printf("%-18s %.3f ms, %s\n", kind.name, ms[calls / 2],
                    thrust::is_sorted(first, first + n) ? "sorted" : "NOT SORTED");
    }
}
