// Turns temperatures from Celsius into Fahrenheit on the GPU.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

// Ends the program if a call of the runtime has failed.
static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    std::printf("%s\n", cudaGetErrorString(error));
    std::exit(1);
}

static __global__ void to_fahrenheit(float *t, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] = 1.8f * t[i] + 32;
}

int main()
{
    const int n = 10000, threads = 256;
    std::vector<float> t(n, 100.0f); // in Celsius
    const size_t bytes = n * sizeof(float);

    float *on_device;
    check(cudaMalloc(&on_device, bytes));
    check(cudaMemcpy(on_device, t.data(), bytes, cudaMemcpyHostToDevice));

    to_fahrenheit<<<(n + threads - 1) / threads, threads>>>(on_device, n);
    check(cudaGetLastError()); // could it be launched?

    check(cudaMemcpy(t.data(), on_device, bytes, cudaMemcpyDeviceToHost)); // waits
    check(cudaFree(on_device));

    std::printf("100 degrees Celsius are %g Fahrenheit\n", t[n - 1]);
    return t[n - 1] == 212 ? 0 : 1;
}
