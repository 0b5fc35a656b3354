// This program times copies from pageable and pinned memory, and a kernel between two copies, one
// after another and in pieces, as lab 11's handout has them: medians of nine, by the host's clock.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -o streams data/measured/programs/answers/11_streams.cu &&
//   ./streams
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
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

constexpr int n = 1 << 26, block_size = 256, stream_count = 4, pieces = 16; // n floats: 256 MiB
constexpr size_t bytes = n * sizeof(float);

// The kernels' function of lab 11. It depends on every round, and the host's result is the same.
static __host__ __device__ float work(float x, int rounds)
{
    for (int k = 0; k < rounds; ++k) x = fmaf(-1.9f * x, x, 1.0f);
    return x;
}

static __global__ void work_on(float *data, int count, int rounds)
{
    const int i = blockIdx.x * block_size + threadIdx.x;
    if (i < count) data[i] = work(data[i], rounds);
}

static void launch(float *data, int count, int rounds, cudaStream_t stream)
{
    work_on<<<(count + block_size - 1) / block_size, block_size, 0, stream>>>(data, count, rounds);
    check(cudaGetLastError());
}

// This returns the milliseconds until the device has done what was queued; the first turn warms up.
static double median_ms(const std::function<void()> &queue)
{
    constexpr int turns = 9;
    double times[1 + turns];
    for (double &ms : times) {
        check(cudaDeviceSynchronize());
        const auto begin = std::chrono::steady_clock::now();
        queue();
        check(cudaDeviceSynchronize());
        ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                 .count();
    }
    std::sort(times + 1, times + 1 + turns);
    return times[1 + turns / 2];
}

struct copy_times {
    double in_ms, out_ms;
};

// The copy back must equal the original.
static copy_times time_copies(const char *name, const float *from, float *to, float *data)
{
    std::fill(to, to + n, 0.0f);
    const double in_ms =
        median_ms([&] { check(cudaMemcpy(data, from, bytes, cudaMemcpyHostToDevice)); });
    const double out_ms =
        median_ms([&] { check(cudaMemcpy(to, data, bytes, cudaMemcpyDeviceToHost)); });
    require(std::equal(from, from + n, to), "a copy is wrong");
    std::printf("256 MiB, %-8s memory: in %5.1f GB/s, out %5.1f GB/s\n", name, bytes / in_ms / 1e6,
                bytes / out_ms / 1e6);
    return {in_ms, out_ms};
}

static void one_after_another(const float *from, float *to, float *data, int rounds)
{
    check(cudaMemcpyAsync(data, from, bytes, cudaMemcpyHostToDevice));
    launch(data, n, rounds, nullptr);
    check(cudaMemcpyAsync(to, data, bytes, cudaMemcpyDeviceToHost));
}

static void in_pieces(const float *from, float *to, float *data, int rounds,
                      const cudaStream_t *streams)
{
    constexpr int piece = n / pieces;
    for (int k = 0; k < pieces; ++k) {
        const cudaStream_t s = streams[k % stream_count];
        const size_t first = size_t(k) * piece, piece_bytes = piece * sizeof(float);
        check(cudaMemcpyAsync(data + first, from + first, piece_bytes, cudaMemcpyHostToDevice, s));
        launch(data + first, piece, rounds, s);
        check(cudaMemcpyAsync(to + first, data + first, piece_bytes, cudaMemcpyDeviceToHost, s));
    }
}

// The host computes some elements of each piece: all would take it minutes.
static double checked_ms(const float *from, float *to, int rounds,
                         const std::function<void()> &queue)
{
    std::fill(to, to + n, 0.0f);
    const double ms = median_ms(queue);
    for (int i = 0; i < n; i += 9973) require(to[i] == work(from[i], rounds), "a result is wrong");
    return ms;
}

int main()
{
    print_machine();
    std::mt19937 random(1);
    std::vector<float> pageable_from(n), pageable_to(n);
    for (float &x : pageable_from) x = float(random()) / 4294967296.0f;
    float *from, *to, *data;
    check(cudaMallocHost(&from, bytes));
    check(cudaMallocHost(&to, bytes));
    check(cudaMalloc(&data, bytes));
    std::copy(pageable_from.begin(), pageable_from.end(), from);
    time_copies("pageable", pageable_from.data(), pageable_to.data(), data);
    const auto [in_ms, out_ms] = time_copies("pinned", from, to, data);

    cudaStream_t streams[stream_count];
    for (cudaStream_t &s : streams) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    auto kernel_ms = [=](int rounds) {
        return median_ms([=] { launch(data, n, rounds, nullptr); });
    };
    const double thousand_ms = kernel_ms(1000), round_ms = (kernel_ms(2000) - thousand_ms) / 1000;
    std::printf("256 MiB in, a kernel, 256 MiB out, in %d pieces on %d streams:\n", pieces,
                stream_count);
    std::printf("%12s %17s %10s %37s %6s\n", "kernel alone", "one after another", "in pieces",
                "one after another, over the pieces' time", "bound");
    for (const double length_ms : {0.6, 2.5, 7.3}) {
        const int rounds = std::max(1, int(1000 + (length_ms - thousand_ms) / round_ms));
        const double alone_ms = kernel_ms(rounds), all_ms = in_ms + alone_ms + out_ms;
        const double serial_ms =
            checked_ms(from, to, rounds, [=] { one_after_another(from, to, data, rounds); });
        const double pieces_ms =
            checked_ms(from, to, rounds, [&] { in_pieces(from, to, data, rounds, streams); });
        std::printf("%9.2f ms %14.2f ms %7.2f ms %37.2f %6.2f\n", alone_ms, serial_ms, pieces_ms,
                    serial_ms / pieces_ms, all_ms / std::max({in_ms, alone_ms, out_ms}));
    }
}
