// Lab 05, the vendor's version: cuDNN behind the contract, in float arithmetic alone. Its
// convolutions are made for many images of many channels; one of one channel is a corner of them.
#include "lab.hpp"

#include <cuda_runtime.h>
#include <cudnn.h>

#include <stdexcept>
#include <string>

static void check(cudaError_t error, const char *step)
{
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(error));
}

static void check(cudnnStatus_t status, const char *step)
{
    if (status != CUDNN_STATUS_SUCCESS)
        throw std::runtime_error(std::string(step) + ": " + cudnnGetErrorString(status));
}

// The contract gives no memory for filters, padded images and what cuDNN asks for; it is kept from
// call to call.
class kept_memory {
public:
    void *of(size_t bytes)
    {
        if (bytes > held_) {
            check(cudaFree(memory_), "cudaFree");
            check(cudaMalloc(&memory_, bytes), "cudaMalloc");
            held_ = bytes;
        }
        return memory_;
    }

private:
    void *memory_ = nullptr;
    size_t held_ = 0;
};

// What cuDNN must be told; made once and changed in every call.
struct descriptions {
    cudnnHandle_t handle;
    cudnnTensorDescriptor_t in, out;
    cudnnFilterDescriptor_t filter;
    cudnnConvolutionDescriptor_t how;
    descriptions()
    {
        check(cudnnCreate(&handle), "cudnnCreate");
        check(cudnnCreateTensorDescriptor(&in), "cudnnCreateTensorDescriptor");
        check(cudnnCreateTensorDescriptor(&out), "cudnnCreateTensorDescriptor");
        check(cudnnCreateFilterDescriptor(&filter), "cudnnCreateFilterDescriptor");
        check(cudnnCreateConvolutionDescriptor(&how), "cudnnCreateConvolutionDescriptor");
    }
};

struct size {
    int rows, cols;
};

// `pad`: zeros beyond the image on each side. `filter` is in device memory.
static void convolve_padded(const float *image, size in, const float *filter, size of_filter,
                            size pad, float *out)
{
    static descriptions d;
    static kept_memory workspace;
    const auto type = CUDNN_DATA_FLOAT;
    const auto order = CUDNN_TENSOR_NCHW;
    size to{in.rows + 2 * pad.rows - of_filter.rows + 1,
            in.cols + 2 * pad.cols - of_filter.cols + 1};
    check(cudnnSetTensor4dDescriptor(d.in, order, type, 1, 1, in.rows, in.cols), "image");
    check(cudnnSetTensor4dDescriptor(d.out, order, type, 1, 1, to.rows, to.cols), "out");
    check(cudnnSetFilter4dDescriptor(d.filter, type, order, 1, 1, of_filter.rows, of_filter.cols),
          "filter");
    check(cudnnSetConvolution2dDescriptor(d.how, pad.rows, pad.cols, 1, 1, 1, 1,
                                          CUDNN_CROSS_CORRELATION, type),
          "convolution");
    check(cudnnSetConvolutionMathType(d.how, CUDNN_FMA_MATH), "float arithmetic");

    // The first of its choice that keeps to a gigabyte. Those by Fourier or Winograd transforms are
    // less precise than the sum itself.
    cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
    int count = 0;
    check(cudnnGetConvolutionForwardAlgorithm_v7(d.handle, d.in, d.filter, d.how, d.out,
                                                 CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, found),
          "choosing an algorithm");
    for (int k = 0; k < count; ++k) {
        auto algorithm = found[k].algo;
        bool sums = algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
                    algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
                    algorithm == CUDNN_CONVOLUTION_FWD_ALGO_DIRECT;
        bool will_do = sums && found[k].status == CUDNN_STATUS_SUCCESS &&
                       found[k].mathType == CUDNN_FMA_MATH && found[k].memory <= size_t(1) << 30;
        if (!will_do) continue;
        float one = 1, none = 0;
        check(cudnnConvolutionForward(d.handle, &one, d.in, image, d.filter, filter, d.how,
                                      algorithm, workspace.of(found[k].memory), found[k].memory,
                                      &none, d.out, out),
              "cudnnConvolutionForward");
        return;
    }
    throw std::runtime_error("cuDNN offers no algorithm for this image and filter");
}

// Copies `count` floats, to a place of its own for each `which`.
static const float *on_device(const float *filter_host, int count, int which)
{
    constexpr int most = 33 * 33;
    static kept_memory memory;
    float *filter = static_cast<float *>(memory.of(2 * most * sizeof(float))) + which * most;
    check(cudaMemcpyAsync(filter, filter_host, count * sizeof(float), cudaMemcpyHostToDevice),
          "copying the filter");
    return filter;
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    if (rows == 0 || cols == 0) return;
    int d = 2 * radius + 1;
    convolve_padded(image, {rows, cols}, on_device(filter_host, d * d, 0), {d, d}, {radius, radius},
                    out);
}

static __global__ void pad(const float *image, float *padded, int rows, int cols, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int wide = cols + 2 * radius;
    if (x >= wide || y >= rows + 2 * radius) return;
    int r = min(max(y - radius, 0), rows - 1), c = min(max(x - radius, 0), cols - 1);
    padded[size_t(y) * wide + x] = image[size_t(r) * cols + c];
}

// cuDNN knows no other edges than zeros.
void convolve_clamped(const float *image, float *out, int rows, int cols, const float *filter_host,
                      int radius)
{
    if (rows == 0 || cols == 0) return;
    static kept_memory memory;
    int d = 2 * radius + 1, tall = rows + 2 * radius, wide = cols + 2 * radius;
    float *padded = static_cast<float *>(memory.of(sizeof(float) * tall * wide));
    pad<<<dim3((wide + 31) / 32, (tall + 7) / 8), dim3(32, 8)>>>(image, padded, rows, cols, radius);
    check(cudaPeekAtLastError(), "pad");
    convolve_padded(padded, {tall, wide}, on_device(filter_host, d * d, 0), {d, d}, {0, 0}, out);
}

size_t convolve_separable_scratch(int rows, int cols, int) { return sizeof(float) * rows * cols; }

void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *scratch)
{
    if (rows == 0 || cols == 0) return;
    int d = 2 * radius + 1;
    float *between = static_cast<float *>(scratch);
    convolve_padded(image, {rows, cols}, on_device(row_filter_host, d, 0), {1, d}, {0, radius},
                    between);
    convolve_padded(between, {rows, cols}, on_device(column_filter_host, d, 1), {d, 1}, {radius, 0},
                    out);
}
