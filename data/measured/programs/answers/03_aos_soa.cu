// This program times kernels on 64 Mi structs, once as an array of structs and once as a struct of
// arrays, as in the table of lab 03's handout: medians of nine.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -o layouts data/measured/programs/answers/03_aos_soa.cu &&
//   ./layouts
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
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

constexpr int n = 1 << 26, block_size = 256, turns = 9, field_vx = 8;
constexpr int k = 1 << 22, choices = 1 + 2 * turns; // distance_some: k particles, others per call
constexpr float dt = 1, points_limit = 12, pairs_limit = 1;

static int blocks_for(size_t threads) { return int((threads + block_size - 1) / block_size); }

struct particle {
    float x, y, z, radius, red, green, blue, opacity;
    float vx, vy, vz, mass, charge, temperature, drag, age;
};
struct point {
    float x, y, z, radius, red, green, blue, opacity;
};
struct alignas(8) pair { // one instruction loads both
    float x, y;
};

// Field f of struct i is a whole number below 1024, so that all results below are exact.
static __host__ __device__ float value(size_t i, size_t f)
{
    unsigned long long bits = (16 * i + f + 1) * 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93;
    return float(bits >> 54);
}

// Float e is field e % fields of struct e / fields, or field e / n of struct e % n.
static __global__ void fill(float *data, size_t fields, bool aos)
{
    const size_t e = size_t(blockIdx.x) * block_size + threadIdx.x;
    if (e < fields * n) data[e] = aos ? value(e / fields, e % fields) : value(e % n, e / n);
}

static __device__ int element() { return blockIdx.x * block_size + threadIdx.x; }
static __global__ void drift_aos(particle *particles)
{
    if (const int i = element(); i < n) particles[i].x += particles[i].vx * dt;
}
static __global__ void drift_soa(float *x)
{
    if (const int i = element(); i < n) x[i] += x[size_t(n) * field_vx + i] * dt;
}
static __global__ void take_x(const float *data, int floats_per_struct, float *x)
{
    if (const int i = element(); i < n) x[i] = data[size_t(i) * floats_per_struct];
}

// These four count the few structs whose fields have a small sum, so that only loads move.
static __global__ void points_aos(const point *points, float *found)
{
    if (const int i = element(); i < n)
        if (points[i].x + points[i].y + points[i].z < points_limit) atomicAdd(found, 1);
}
static __global__ void points_soa(const float *x, float *found)
{
    if (const int i = element(); i < n)
        if (x[i] + x[n + i] + x[2 * n + i] < points_limit) atomicAdd(found, 1);
}
static __global__ void pairs_aos(const pair *pairs, float *found)
{
    if (const int i = element(); i < n)
        if (const pair p = pairs[i]; p.x + p.y < pairs_limit) atomicAdd(found, 1);
}
static __global__ void pairs_soa(const float *x, float *found)
{
    if (const int i = element(); i < n)
        if (x[i] + x[n + i] < pairs_limit) atomicAdd(found, 1);
}

static __host__ __device__ float distance(float x, float y, float z)
{
    return sqrtf(x * x + y * y + z * z);
}
static __global__ void some_aos(const particle *particles, const int *which, float *out)
{
    const int j = element();
    if (j >= k) return;
    const particle &p = particles[which[j]];
    out[j] = distance(p.x, p.y, p.z);
}
static __global__ void some_soa(const float *x, const int *which, float *out)
{
    const int j = element();
    if (j >= k) return;
    x += which[j];
    out[j] = distance(x[0], x[n], x[2 * n]);
}

using launch = std::function<void()>;

// The first result of either layout must equal the host's; in place it is all x. Then nine launches
// are timed, each behind another one, which keeps the device busy while the host queues it.
static void time_row(const char *name, int fields, float *data, float *result,
                     const std::vector<float> &expected, bool in_place, launch aos, launch soa)
{
    cudaEvent_t begin, end;
    for (cudaEvent_t *event : {&begin, &end}) check(cudaEventCreate(event));
    float medians[2], times[turns];
    std::vector<float> found(expected.size());
    const size_t bytes = found.size() * sizeof(float);
    for (const bool structs : {false, true}) {
        const launch &work = structs ? aos : soa;
        fill<<<blocks_for(size_t(n) * fields), block_size>>>(data, fields, structs);
        check(cudaMemset(result, 0, bytes));
        work();
        if (in_place) take_x<<<blocks_for(n), block_size>>>(data, structs ? fields : 1, result);
        check(cudaGetLastError());
        check(cudaMemcpy(found.data(), result, bytes, cudaMemcpyDeviceToHost));
        require(found == expected, "a result is wrong");
        for (float &ms : times) {
            work();
            check(cudaEventRecord(begin));
            work();
            check(cudaEventRecord(end));
            check(cudaEventSynchronize(end));
            check(cudaEventElapsedTime(&ms, begin, end));
        }
        std::sort(times, times + turns);
        medians[structs] = times[turns / 2];
    }
    std::printf("%-46s %8.3f %8.3f %6.2f\n", name, medians[1], medians[0], medians[1] / medians[0]);
}

int main()
{
    print_machine();
    std::mt19937 random(1);
    std::vector<float> moved(n), near_points(1), near_pairs(1), distances(k);
    std::vector<int> chosen(size_t(k) * choices);
    for (int i = 0; i < n; ++i) {
        moved[i] = value(i, 0) + value(i, field_vx) * dt;
        near_points[0] += value(i, 0) + value(i, 1) + value(i, 2) < points_limit;
        near_pairs[0] += value(i, 0) + value(i, 1) < pairs_limit;
    }
    for (int &i : chosen) i = random() % n;
    for (int j = 0; j < k; ++j)
        distances[j] = distance(value(chosen[j], 0), value(chosen[j], 1), value(chosen[j], 2));
    float *data, *result;
    int *which, call = 0;
    check(cudaMalloc(&data, size_t(n) * sizeof(particle)));
    check(cudaMalloc(&result, n * sizeof(float)));
    check(cudaMalloc(&which, chosen.size() * sizeof(int)));
    check(cudaMemcpy(which, chosen.data(), chosen.size() * sizeof(int), cudaMemcpyHostToDevice));
    auto next_choice = [&] { return which + size_t(k) * (call++ % choices); };
    auto *particles = reinterpret_cast<particle *>(data);
    auto *points = reinterpret_cast<point *>(data);
    auto *pairs = reinterpret_cast<pair *>(data);
    std::printf("%-46s %8s %8s  ratio  (ms)\n", "", "AoS", "SoA");
    time_row(
        "drift: two fields of a 64-byte struct", 16, data, result, moved, true,
        [=] { drift_aos<<<blocks_for(n), block_size>>>(particles); },
        [=] { drift_soa<<<blocks_for(n), block_size>>>(data); });
    time_row(
        "three of the eight fields of a 32-byte struct", 8, data, result, near_points, false,
        [=] { points_aos<<<blocks_for(n), block_size>>>(points, result); },
        [=] { points_soa<<<blocks_for(n), block_size>>>(data, result); });
    time_row(
        "both fields of a struct of two floats", 2, data, result, near_pairs, false,
        [=] { pairs_aos<<<blocks_for(n), block_size>>>(pairs, result); },
        [=] { pairs_soa<<<blocks_for(n), block_size>>>(data, result); });
    time_row(
        "distance_some, 4 Mi of the particles", 16, data, result, distances, false,
        [&] { some_aos<<<blocks_for(k), block_size>>>(particles, next_choice(), result); },
        [&] { some_soa<<<blocks_for(k), block_size>>>(data, next_choice(), result); });
}
