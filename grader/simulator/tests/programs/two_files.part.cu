// The other half of two_files.cu.
#include <cstdio>

extern __device__ int shift;
__device__ int calls;

static __device__ __noinline__ float twist(float x) { return 9 * x; }

template <int n> __device__ __noinline__ float plus(float x) { return x + n; }

__device__ float shifted(float x)
{
    atomicAdd(&calls, 1);
    return twist(x) + shift;
}

__global__ void there(float *p)
{
    p[threadIdx.x] = plus<1>(twist(p[threadIdx.x]));
    if (threadIdx.x == 1) printf("there\n");
}

void launch_there(float *p, int n) { there<<<1, n>>>(p); }
