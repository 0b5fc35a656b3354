// This program times a table of states, runs of 16 floats and a polynomial's coefficients in the
// memories that lab 01's handout compares: medians of 17, 32 Mi elements.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -o spaces data/measured/programs/answers/01_memory_spaces.cu &&
//   ./spaces
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

static void require(bool right, const char *otherwise)
{
    if (right) return;
    std::fprintf(stderr, "%s\n", otherwise);
    std::exit(1);
}
static void check(cudaError_t error) { require(error == cudaSuccess, cudaGetErrorString(error)); }

// A figure holds for this GPU, CUDA version and driver.
static void print_machine()
{
    cudaDeviceProp gpu;
    int cuda;
    check(cudaGetDeviceProperties(&gpu, 0));
    check(cudaRuntimeGetVersion(&cuda));
    std::printf("%s, CUDA %d.%d, driver ", gpu.name, cuda / 1000, cuda % 1000 / 10);
    std::fflush(stdout);
    if (std::system("nvidia-smi --id=0 --query-gpu=driver_version --format=csv,noheader") != 0)
        std::printf("unknown\n");
}

constexpr int n = 1 << 25, block_size = 256, run_length = 16, degree = 31, states = 256;

static __constant__ unsigned char next_in_constant[states];
static __device__ unsigned char next_in_global[states];

// Each lane asks for an entry of its own. The constant cache delivers one word at a time.
template <bool shared>
static __global__ void walk(const unsigned char *start, unsigned char *out, int steps)
{
    __shared__ unsigned char table[states];
    if (shared) table[threadIdx.x] = next_in_global[threadIdx.x]; // one entry per thread
    if (shared) __syncthreads();
    const unsigned char *next = shared ? table : next_in_constant;
    const int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    unsigned char state = start[i];
    for (int k = 0; k < steps; ++k) state = next[state];
    out[i] = state;
}

// Both versions stage their runs: neighbouring lanes load and store neighbouring floats. A run has
// 17 places in shared memory, so that 32 lanes, each in its own run, find 32 banks. The indices of
// odd-even transposition are constants once its loops are unrolled, and the run is 16 registers.
// Insertion takes its indices from the data, so the run has addresses and lies in local memory.
template <bool in_registers> static __global__ void sort_runs(const float *in, float *out, int)
{
    __shared__ float staged[block_size * (run_length + 1)];
    const int first = blockIdx.x * block_size * run_length;
    for (int i = threadIdx.x; i < block_size * run_length; i += block_size)
        staged[i + i / run_length] = first + i < n ? in[first + i] : INFINITY;
    __syncthreads();
    float run[run_length], *mine = staged + threadIdx.x * (run_length + 1);
    for (int i = 0; i < run_length; ++i) run[i] = mine[i];
    if constexpr (in_registers) {
#pragma unroll
        for (int round = 0; round < run_length; ++round)
            for (int i = round % 2; i + 1 < run_length; i += 2) {
                const float low = fminf(run[i], run[i + 1]), high = fmaxf(run[i], run[i + 1]);
                run[i] = low, run[i + 1] = high;
            }
    } else {
        for (int i = 1; i < run_length; ++i) {
            const float x = run[i];
            int at = i;
            for (; at > 0 && run[at - 1] > x; --at) run[at] = run[at - 1];
            run[at] = x;
        }
    }
    for (int i = 0; i < run_length; ++i) mine[i] = run[i];
    __syncthreads();
    for (int i = threadIdx.x; i < block_size * run_length; i += block_size)
        if (first + i < n) out[first + i] = staged[i + i / run_length];
}

static __constant__ float in_constant[degree + 1];
static __device__ float in_global[degree + 1];
// Each coefficient is loaded once for all elements of the thread.
template <bool constant, int items_per_thread>
static __global__ void evaluate(const float *x, float *y, int highest)
{
    const float *coefficients = constant ? in_constant : in_global;
    const int first = blockIdx.x * block_size * items_per_thread + threadIdx.x;
    float at[items_per_thread], sum[items_per_thread] = {};
    for (int j = 0; j < items_per_thread; ++j)
        if (const int i = first + j * block_size; i < n) at[j] = x[i];
    for (int k = highest; k >= 0; --k)
        for (int j = 0; j < items_per_thread; ++j) sum[j] = fmaf(sum[j], at[j], coefficients[k]);
    for (int j = 0; j < items_per_thread; ++j)
        if (const int i = first + j * block_size; i < n) y[i] = sum[j];
}

// The first result must equal the host's. Then this returns the median time of a launch; another
// one in front keeps the device busy while the host queues the timed one.
template <class T> static float checked_ms(void (*kernel)(const T *, T *, int), int argument,
                                           int items_per_thread, const std::vector<T> &in_host,
                                           const std::vector<T> &expected)
{
    constexpr int turns = 17, bytes = n * sizeof(T);
    T *in, *out;
    for (T **array : {&in, &out}) check(cudaMalloc(array, bytes));
    check(cudaMemcpy(in, in_host.data(), bytes, cudaMemcpyHostToDevice));
    check(cudaMemset(out, 0xff, bytes));
    cudaEvent_t begin, end;
    for (cudaEvent_t *event : {&begin, &end}) check(cudaEventCreate(event));
    const int blocks = (n / items_per_thread + block_size - 1) / block_size;
    std::vector<float> times(turns);
    for (float &ms : times) {
        kernel<<<blocks, block_size>>>(in, out, argument);
        check(cudaEventRecord(begin));
        kernel<<<blocks, block_size>>>(in, out, argument);
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&ms, begin, end));
    }
    std::vector<T> found(n);
    check(cudaMemcpy(found.data(), out, bytes, cudaMemcpyDeviceToHost));
    for (T *array : {in, out}) check(cudaFree(array));
    require(found == expected, "a result is wrong");
    std::sort(times.begin(), times.end());
    return times[turns / 2];
}

static void print_row(const char *name, float naive_ms, float better_ms)
{
    std::printf("%-46s %8.3f %8.3f %6.2f\n", name, naive_ms, better_ms, naive_ms / better_ms);
}

static void time_follow(std::mt19937 &random)
{
    constexpr int steps = 64;
    std::vector<unsigned char> next(states), last(states), start(n), expected(n);
    for (int s = 0; s < states; ++s) next[s] = 77 * s + 41; // modulo 256: another one for each
    for (int s = 0; s < states; ++s) last[s] = s;
    for (int k = 0; k < steps; ++k)
        for (unsigned char &state : last) state = next[state];
    for (unsigned char &state : start) state = random();
    for (int i = 0; i < n; ++i) expected[i] = last[start[i]];
    check(cudaMemcpyToSymbol(next_in_constant, next.data(), states));
    check(cudaMemcpyToSymbol(next_in_global, next.data(), states));
    print_row("follow, 64 steps: constant, shared",
              checked_ms(walk<false>, steps, 1, start, expected),
              checked_ms(walk<true>, steps, 1, start, expected));
}

static void time_small_sort(std::mt19937 &random)
{
    std::vector<float> in(n);
    for (float &x : in) x = random();
    std::vector<float> sorted(in);
    for (int i = 0; i < n; i += run_length) std::sort(&sorted[i], &sorted[i] + run_length);
    print_row("small_sort, both staged: local, registers",
              checked_ms(sort_runs<false>, n, run_length, in, sorted),
              checked_ms(sort_runs<true>, n, run_length, in, sorted));
}

static void time_polynomial(std::mt19937 &random)
{
    constexpr int values = 4096; // of x, so that the host evaluates each only once
    std::vector<float> c(degree + 1), x(n), y(n);
    for (float &coefficient : c) coefficient = float(random() % 1000) / 1000 - 0.5f;
    for (int i = 0; i < n; ++i) {
        x[i] = float(i % values) * 2 / values - 1;
        for (int k = degree; i < values && k >= 0; --k) y[i] = std::fma(y[i], x[i], c[k]);
        y[i] = y[i % values];
    }
    check(cudaMemcpyToSymbol(in_constant, c.data(), c.size() * sizeof(float)));
    check(cudaMemcpyToSymbol(in_global, c.data(), c.size() * sizeof(float)));
    const float constant_one = checked_ms(evaluate<true, 1>, degree, 1, x, y);
    const float constant_four = checked_ms(evaluate<true, 4>, degree, 4, x, y);
    print_row("polynomial, degree 31: global, constant",
              checked_ms(evaluate<false, 1>, degree, 1, x, y), constant_one);
    print_row("four elements per thread: global, constant",
              checked_ms(evaluate<false, 4>, degree, 4, x, y), constant_four);
    print_row("constant: one element per thread, four", constant_one, constant_four);
}

int main()
{
    print_machine();
    std::printf("%-46s %8s %8s %6s  (ms)\n", "", "naive", "better", "ratio");
    std::mt19937 random(1);
    time_follow(random);
    time_small_sort(random);
    time_polynomial(random);
}
