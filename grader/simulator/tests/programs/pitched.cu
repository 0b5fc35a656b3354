// Two-dimensional copies to and from pitched memory.
#include "check.hpp"

__global__ void negate(float *p, size_t pitch, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float *row = reinterpret_cast<float *>(reinterpret_cast<char *>(p) + y * pitch);
    row[x] = -row[x];
}

int main()
{
    const int width = 37, height = 11, stride = 40;
    std::vector<float> in(stride * height), out(width * height);
    for (size_t i = 0; i < in.size(); ++i) in[i] = 1.0f + i;
    float *p = nullptr;
    size_t pitch = 0;
    CHECK_CUDA(cudaMallocPitch(&p, &pitch, width * sizeof(float), height));
    CHECK(pitch >= width * sizeof(float));
    CHECK_CUDA(cudaMemcpy2D(p, pitch, in.data(), stride * sizeof(float), width * sizeof(float),
                            height, cudaMemcpyHostToDevice));
    negate<<<dim3(3, 3), dim3(16, 4)>>>(p, pitch, width, height);
    CHECK_CUDA(cudaMemcpy2D(out.data(), width * sizeof(float), p, pitch, width * sizeof(float),
                            height, cudaMemcpyDeviceToHost));
    bool right = true;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) right = right && out[y * width + x] == -in[y * stride + x];
    CHECK(right);
    CHECK_ERROR(cudaErrorInvalidPitchValue,
                cudaMemcpy2D(p, 8, in.data(), 8, 16, 2, cudaMemcpyHostToDevice));
    return done();
}
