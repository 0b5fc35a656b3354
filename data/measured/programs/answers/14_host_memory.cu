// This program times four ways in which the host's memory reaches the device, naive's and lab 14's,
// as in the first table of its handout: medians of nine, by events.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -o ways data/measured/programs/answers/14_host_memory.cu &&
//   ./ways
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
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

constexpr int block_size = 256;

// The kernel adds up all floats as doubles.
static __global__ void add_all(const float *in, int n, double *sum)
{
    __shared__ double found[block_size];
    double mine = 0;
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size)
        mine += in[i];
    found[threadIdx.x] = mine;
    for (int half = block_size / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) found[threadIdx.x] += found[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(sum, found[0]);
}

static __global__ void scale(float *data, int n, float factor)
{
    const int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) data[i] *= factor;
}

// This times the work alone, not the preparation before it. The first of ten turns warms up.
static float median_ms(const std::function<void()> &prepare, const std::function<void()> &work)
{
    constexpr int turns = 9;
    cudaEvent_t begin, end;
    for (cudaEvent_t *event : {&begin, &end}) check(cudaEventCreate(event));
    float times[1 + turns];
    for (float &ms : times) {
        prepare();
        check(cudaDeviceSynchronize());
        check(cudaEventRecord(begin));
        work();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&ms, begin, end));
    }
    std::sort(times + 1, times + 1 + turns);
    return times[1 + turns / 2];
}

static void print_row(const char *name, double naive, double better, const char *unit, double gain)
{
    std::printf("%-50s %7.3f %7.3f %-4s %6.2f\n", name, naive, better, unit, gain);
}

static void time_mapped()
{
    constexpr int n = 1 << 24;
    constexpr size_t bytes = n * sizeof(float);
    float *mapped, *copy;
    double *sum, expected = 0;
    check(cudaMallocHost(&mapped, bytes)); // the device reads it at the same address
    check(cudaMalloc(&copy, bytes));
    check(cudaMalloc(&sum, sizeof(double)));
    for (int i = 0; i < n; ++i) expected += mapped[i] = i % 1021; // whole numbers: no rounding
    auto ms = [=](bool copied, int times) {
        auto clear = [=] { check(cudaMemset(sum, 0, sizeof(double))); };
        const float took = median_ms(clear, [=] {
            if (copied) check(cudaMemcpyAsync(copy, mapped, bytes, cudaMemcpyHostToDevice));
            for (int k = 0; k < times; ++k)
                add_all<<<2048, block_size>>>(copied ? copy : mapped, n, sum);
            check(cudaGetLastError());
        });
        double found;
        check(cudaMemcpy(&found, sum, sizeof found, cudaMemcpyDeviceToHost));
        require(found == times * expected, "a sum is wrong");
        return took;
    };
    for (const int times : {1, 8}) {
        const double naive = ms(false, times), better = ms(true, times);
        print_row(times == 1 ? "64 MiB mapped, read once: zero-copy, copied"
                             : "the same, read 8 times",
                  naive, better, "ms", naive / better);
    }
    check(cudaFreeHost(mapped));
    check(cudaFree(copy));
    check(cudaFree(sum));
}

static void move_pages(float *managed, size_t bytes, cudaMemLocationType where)
{
    cudaMemLocation location{};
    location.type = where;
    check(cudaMemPrefetchAsync(managed, bytes, location, 0));
}

static void time_managed()
{
    constexpr int n = 1 << 26;
    constexpr size_t bytes = n * sizeof(float);
    float *managed;
    check(cudaMallocManaged(&managed, bytes));
    auto to_host = [=] {
        move_pages(managed, bytes, cudaMemLocationTypeHost);
        check(cudaDeviceSynchronize());
    };
    auto write_on_host = [=] {
        to_host();
        for (int i = 0; i < n; ++i) managed[i] = i % 1021;
    };
    auto ms = [=](bool prefetched) {
        const float took = median_ms(write_on_host, [=] {
            if (prefetched) move_pages(managed, bytes, cudaMemLocationTypeDevice);
            scale<<<(n + block_size - 1) / block_size, block_size>>>(managed, n, 2);
            check(cudaGetLastError());
        });
        to_host();
        for (int i = 0; i < n; ++i) require(managed[i] == i % 1021 * 2, "an element is wrong");
        return took;
    };
    const double naive = ms(false), better = ms(true);
    print_row("256 MiB managed: on demand, prefetched", naive, better, "ms", naive / better);
    check(cudaFree(managed));
}

static void time_upload()
{
    constexpr int n = 1 << 26;
    constexpr size_t bytes = n * sizeof(float);
    std::vector<float> pageable(n), found(n);
    float *pinned, *data;
    check(cudaMallocHost(&pinned, bytes));
    check(cudaMalloc(&data, bytes));
    for (int i = 0; i < n; ++i) pinned[i] = pageable[i] = i;
    auto gb_per_s = [&](const float *from) {
        const float ms =
            median_ms([=] { check(cudaMemset(data, 0, bytes)); },
                      [=] { check(cudaMemcpy(data, from, bytes, cudaMemcpyHostToDevice)); });
        check(cudaMemcpy(found.data(), data, bytes, cudaMemcpyDeviceToHost));
        require(found == pageable, "a copy is wrong");
        return bytes / ms / 1e6;
    };
    const double naive = gb_per_s(pageable.data()), better = gb_per_s(pinned);
    print_row("256 MiB to the device: pageable, pinned", naive, better, "GB/s", better / naive);
    check(cudaFreeHost(pinned));
    check(cudaFree(data));
}

int main()
{
    print_machine();
    std::printf("%-50s %7s %7s %11s\n", "", "naive", "better", "gain");
    time_mapped();
    time_managed();
    time_upload();
}
