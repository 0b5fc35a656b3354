// Kernels for the simulator's tests and its benchmark; kernels.ptx beside it is what nvcc made of
// them:
//   nvcc -ptx -arch=compute_80 -lineinfo kernels.cu -o kernels.ptx
#include <cassert>
#include <cstdio>

__constant__ float table[16] = {1, 2, 3, 4};
__device__ int counter = 7;
__device__ int *counter_at = &counter;
__device__ const char *names[2] = {"even", "odd"};

extern "C" {

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void strided_copy(const float *in, float *out, int n, int stride)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    if (i < n) out[i] = in[i];
}

__global__ void tiled_matmul(const float *M, const float *N, float *P, int width)
{
    __shared__ float m[16][16], n[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < width; t += 16) {
        m[threadIdx.y][threadIdx.x] = M[row * width + t + threadIdx.x];
        n[threadIdx.y][threadIdx.x] = N[(t + threadIdx.y) * width + col];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += m[threadIdx.y][k] * n[k][threadIdx.x];
        __syncthreads();
    }
    P[row * width + col] = sum;
}

__global__ void block_sum(const int *in, int *out, int n)
{
    extern __shared__ int part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < blockDim.x / 32; ++w) sum += part[w];
        atomicAdd(out, sum);
    }
}

__global__ void collatz(const int *in, int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long v = in[i];
    int count = 0;
    while (v != 1) {
        if (v % 2 == 0) {
            v /= 2;
        } else {
            if (count > 1000) return;
            v = 3 * v + 1;
        }
        ++count;
    }
    steps[i] = count;
}

__global__ void first_multiple(int *out, int n)
{
    int i = threadIdx.x;
    int found = -1;
    for (int k = 1; k < n; ++k) {
        if (k % 3 == 0) continue;
        for (int j = 1; j < n; ++j)
            if (j * k == i) {
                found = k * 1000 + j;
                break;
            }
        if (found >= 0 && k > 1) break;
    }
    out[i] = found;
}

__device__ __noinline__ float evaluate(float x, int degree)
{
    float y = 0;
    for (int k = degree; k >= 0; --k) y = y * x + table[k];
    return y;
}

__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

__global__ void polynomial(float *y, int degree)
{
    int i = threadIdx.x;
    if (i % 3 == 0)
        y[i] = evaluate(i, degree);
    else
        y[i] = -evaluate(i, 1);
}

__global__ void factorials(int *out)
{
    out[threadIdx.x] = factorial(threadIdx.x % 8) + *counter_at;
}

__global__ void take_lock(int *lock, int *total)
{
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)total += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

__global__ void wait_for_all(int *arrived, int *seen)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile int *)arrived < (int)gridDim.x) {
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) seen[blockIdx.x] = *(volatile int *)arrived;
}

__global__ void local_sort(const int *in, int *out)
{
    int a[16];
    int at = threadIdx.x * 16;
    for (int k = 0; k < 16; ++k) {
        int v = in[at + k], j = k;
        for (; j > 0 && a[j - 1] > v; --j) a[j] = a[j - 1];
        a[j] = v;
    }
    for (int k = 0; k < 16; ++k) out[at + k] = a[k];
}

__global__ void say(int n)
{
    if (threadIdx.x < n)
        printf("%s thread %d of %u: %5.2f|%-4lld|%c\n", names[threadIdx.x & 1], threadIdx.x,
               blockDim.x, threadIdx.x * 0.5, 123456789012ll, 'x');
}

__global__ void must_be_small(const int *in) { assert(in[threadIdx.x] < 10); }

__global__ void barrier_in_branch(int *out)
{
    if (threadIdx.x < 40) {
        out[threadIdx.x] = 1;
        __syncthreads();
        out[threadIdx.x] = 2;
    } else {
        out[threadIdx.x] = 3;
    }
}

__global__ void two_barriers(int *out)
{
    if (threadIdx.x < 32) {
        __syncthreads();
        out[threadIdx.x] = 1;
    } else {
        out[threadIdx.x] = 5;
        __syncthreads();
        __syncthreads();
    }
    __syncthreads();
}

__global__ void unwritten_tile(float *out)
{
    __shared__ float tile[64];
    if (threadIdx.x != 5) tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void transpose_tile(float *out, int pitch)
{
    __shared__ float tile[32 * 33];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y * pitch + x] = x;
    __syncthreads();
    out[y * 32 + x] = tile[x * pitch + y];
}

__global__ void real_functions(const float *a, const double *b, float *f, double *d)
{
    int i = threadIdx.x;
    f[8 * i + 0] = a[i] / a[i + 1];
    f[8 * i + 1] = sqrtf(a[i]);
    f[8 * i + 2] = expf(a[i]);
    f[8 * i + 3] = sinf(a[i]);
    f[8 * i + 4] = __fdividef(a[i], a[i + 1]);
    f[8 * i + 5] = powf(a[i], 1.5f);
    f[8 * i + 6] = rsqrtf(a[i]);
    f[8 * i + 7] = floorf(a[i]) + fminf(a[i], a[i + 1]);
    d[8 * i + 0] = b[i] / b[i + 1];
    d[8 * i + 1] = sqrt(b[i]);
    d[8 * i + 2] = exp(b[i]);
    d[8 * i + 3] = sin(b[i] * 1e7);
    d[8 * i + 4] = log(b[i]);
    d[8 * i + 5] = pow(b[i], 0.3);
    d[8 * i + 6] = (double)(long long)(b[i] * 1e6);
    d[8 * i + 7] = cbrt(b[i]);
}

__global__ void histogram(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void choose(const int *in, int *out)
{
    int v = in[threadIdx.x];
    switch (v) {
    case 0:
        out[threadIdx.x] = 10;
        break;
    case 1:
        out[threadIdx.x] = 20;
        break;
    case 2:
        out[threadIdx.x] = v * 7;
    case 3:
        out[threadIdx.x] += 1;
        break;
    case 4:
        out[threadIdx.x] = 4 - v;
        break;
    case 5:
        out[threadIdx.x] = 5 * v;
        break;
    case 6:
        atomicAdd(out + threadIdx.x, 3);
        break;
    default:
        out[threadIdx.x] = -1;
    }
}

__global__ void vote_and_match(const int *in, unsigned *out)
{
    int v = in[threadIdx.x];
    unsigned lane = threadIdx.x % 32;
    unsigned below = __popc(__ballot_sync(~0u, v > 3) & ((1u << lane) - 1));
    unsigned same = __match_any_sync(~0u, v);
    unsigned sum = __reduce_add_sync(~0u, v);
    out[threadIdx.x] =
        below + 100 * __popc(same) + 10000 * sum + (__any_sync(~0u, v == 9) ? 1u << 31 : 0);
}

__global__ void never_ends(volatile int *flag)
{
    while (*flag == 0) {
    }
}

__global__ void copy4(const float4 *in, float4 *out) { out[threadIdx.x] = in[threadIdx.x]; }

} // extern "C"
