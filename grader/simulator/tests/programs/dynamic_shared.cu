// Shared memory sized at launch, up to the device's limit by opting in.
#include "check.hpp"

extern __shared__ int room[];

__global__ void reverse(int *data, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) room[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = room[n - 1 - i];
}

bool reversed(int n)
{
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[i] = 3 * i + 1;
    int *d = upload(in);
    reverse<<<1, 96, n * sizeof(int)>>>(d, n);
    const cudaError_t launched = cudaGetLastError();
    if (launched != cudaSuccess) {
        cudaFree(d);
        return false;
    }
    const auto out = download(d, n);
    bool right = true;
    for (int i = 0; i < n; ++i) right = right && out[i] == in[n - 1 - i];
    CHECK_CUDA(cudaFree(d));
    return right;
}

int main()
{
    CHECK(reversed(1));
    CHECK(reversed(1000));
    CHECK(reversed((48 << 10) / 4));
    CHECK(!reversed((48 << 10) / 4 + 1));
    cudaDeviceProp p;
    CHECK_CUDA(cudaGetDeviceProperties(&p, 0));
    const int most = static_cast<int>(p.sharedMemPerBlockOptin);
    const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
    CHECK_ERROR(cudaErrorInvalidValue, cudaFuncSetAttribute(reverse, attribute, most + 1));
    CHECK_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    CHECK_CUDA(cudaFuncSetAttribute(reverse, attribute, most));
    CHECK(reversed(most / 4));
    return done();
}
