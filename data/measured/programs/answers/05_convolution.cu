// This program times a 17 x 17 filter on 4096 x 4096 pixels, whose radius is known only at run
// time, with its factors where lab 05's handout puts them: medians of nine.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -o filters data/measured/programs/answers/05_convolution.cu &&
//   ./filters
#include <cuda_runtime.h>

#include <algorithm>
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

constexpr int max_d = 33; // factors per side of a filter
constexpr int block_cols = 32, block_rows = 8;

static __device__ float in_global[max_d * max_d];
static __constant__ float in_constant[max_d * max_d];

// Each thread computes a pixel. The two versions differ in the memory of the factors alone.
template <bool constant> static __global__ void convolve_pixel(const float *image, float *out,
                                                               int rows, int cols, int radius)
{
    const float *filter = constant ? in_constant : in_global;
    const int col = blockIdx.x * block_cols + threadIdx.x;
    const int row = blockIdx.y * block_rows + threadIdx.y;
    if (row >= rows || col >= cols) return;
    const int d = 2 * radius + 1;
    float sum = 0;
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x) {
            const int r = row + y - radius, c = col + x - radius;
            if (r >= 0 && r < rows && c >= 0 && c < cols)
                sum += filter[y * d + x] * image[r * cols + c];
        }
    out[row * cols + col] = sum;
}

// A block brings its pixels and a halo of `radius` around them to shared memory, zeros included.
static __global__ void convolve_tile(const float *image, float *out, int rows, int cols, int radius)
{
    extern __shared__ float tile[];
    const int d = 2 * radius + 1, tall = block_rows + 2 * radius, wide = block_cols + 2 * radius;
    const int left = blockIdx.x * block_cols, top = blockIdx.y * block_rows;
    for (int y = threadIdx.y; y < tall; y += block_rows)
        for (int x = threadIdx.x; x < wide; x += block_cols) {
            const int r = top + y - radius, c = left + x - radius;
            const bool there = r >= 0 && r < rows && c >= 0 && c < cols;
            tile[y * wide + x] = there ? image[r * cols + c] : 0;
        }
    __syncthreads();
    float sum = 0;
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x)
            sum += in_constant[y * d + x] * tile[(threadIdx.y + y) * wide + threadIdx.x + x];
    const int row = top + threadIdx.y, col = left + threadIdx.x;
    if (row < rows && col < cols) out[row * cols + col] = sum;
}

// Pixels and factors are small whole numbers, so that every order of a sum gives the same.
static float expected_pixel(const std::vector<float> &image, const std::vector<float> &filter,
                            int rows, int cols, int radius, int pixel)
{
    const int d = 2 * radius + 1;
    float sum = 0;
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x) {
            const int r = pixel / cols + y - radius, c = pixel % cols + x - radius;
            if (r >= 0 && r < rows && c >= 0 && c < cols)
                sum += filter[y * d + x] * image[r * cols + c];
        }
    return sum;
}

// A launch in front warms up and keeps the device busy while the host queues the timed one.
static float median_ms(const std::function<void()> &launch)
{
    constexpr int turns = 9;
    cudaEvent_t begin, end;
    for (cudaEvent_t *event : {&begin, &end}) check(cudaEventCreate(event));
    float times[turns];
    for (float &ms : times) {
        launch();
        check(cudaEventRecord(begin));
        launch();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&ms, begin, end));
    }
    std::sort(times, times + turns);
    return times[turns / 2];
}

int main()
{
    constexpr int rows = 4096, cols = 4096, pixels = rows * cols, radius = 8, d = 2 * radius + 1;
    print_machine();
    std::mt19937 random(1);
    std::vector<float> image_host(pixels), filter(d * d), found(pixels);
    for (float &x : image_host) x = random() % 256;
    for (float &x : filter) x = int(random() % 17) - 8;
    float *image, *out;
    for (float **array : {&image, &out}) check(cudaMalloc(array, pixels * sizeof(float)));
    check(cudaMemcpy(image, image_host.data(), pixels * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemcpyToSymbol(in_global, filter.data(), filter.size() * sizeof(float)));
    check(cudaMemcpyToSymbol(in_constant, filter.data(), filter.size() * sizeof(float)));

    const dim3 block(block_cols, block_rows);
    const dim3 grid((cols - 1) / block_cols + 1, (rows - 1) / block_rows + 1);
    constexpr int tile_bytes =
        sizeof(float) * (block_cols + 2 * radius) * (block_rows + 2 * radius);
    const struct {
        const char *name;
        void (*kernel)(const float *, float *, int, int, int);
        int shared_bytes;
    } versions[] = {
        {"the filter in global memory, naive's way", convolve_pixel<false>, 0},
        {"the filter in constant memory, nothing else changed", convolve_pixel<true>, 0},
        {"the same, and a shared tile with halo", convolve_tile, tile_bytes},
    };
    for (const auto &v : versions) {
        check(cudaMemset(out, 0xff, pixels * sizeof(float)));
        auto launch = [&] {
            v.kernel<<<grid, block, v.shared_bytes>>>(image, out, rows, cols, radius);
            check(cudaGetLastError());
        };
        launch();
        check(cudaMemcpy(found.data(), out, pixels * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < pixels; i += 61) // in every column, and at every place of a tile
            require(found[i] == expected_pixel(image_host, filter, rows, cols, radius, i),
                    "a pixel is wrong");
        std::printf("%-52s %7.3f ms\n", v.name, median_ms(launch));
    }
}
