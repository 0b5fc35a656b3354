// nvcc: -rdc=true
// Two files linked on the device: functions, variables and kernels of two_files.part.cu.
#include "check.hpp"

extern __device__ float shifted(float x);
extern __device__ int calls;
__device__ int shift = 3;

static __device__ __noinline__ float twist(float x) { return 7 * x; } // the other file has its own

template <int n> __device__ __noinline__ float plus(float x) { return x + n; } // so has it this one

__global__ void here(float *p)
{
    p[threadIdx.x] = plus<1>(twist(shifted(p[threadIdx.x])));
    if (threadIdx.x == 0) printf("here\n");
}

__global__ void there(float *p);
__global__ void from_here(float *p) { there<<<1, 2>>>(p); }
void launch_there(float *p, int n);

int main()
{
    float *p = upload(std::vector<float>{1, 2});
    here<<<1, 2>>>(p);
    CHECK(download(p, 2) == std::vector<float>{85, 148});
    launch_there(p, 2);
    CHECK(download(p, 2) == std::vector<float>{766, 1333});
    from_here<<<1, 1>>>(p);
    CHECK(download(p, 2) == std::vector<float>{6895, 11998});
    p = upload(std::vector<float>{766, 1333});
    int n = 0;
    CHECK_CUDA(cudaMemcpyFromSymbol(&n, calls, sizeof n));
    CHECK(n == 2);
    const int larger = 10;
    CHECK_CUDA(cudaMemcpyToSymbol(shift, &larger, sizeof larger));
    here<<<1, 2>>>(p);
    CHECK(download(p, 2)[0] == 7 * (9 * 766 + 10) + 1);
    return done();
}
