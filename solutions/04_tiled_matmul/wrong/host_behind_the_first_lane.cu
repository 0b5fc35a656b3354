// Fails: matmul_square: one tile | IMPLAUSIBLE | the host worked on them
// On gpu: may pass - nothing tells there what crosses the link
// The host multiplies, in pinned memory: of each request only the first lane goes to device memory.
#include "../check.hpp"
#include "lab.hpp"
#include <cuda_runtime.h>
constexpr int threads = 256, useful = threads / 32 * 31;
static __device__ float sink[1 << 20];
static __global__ void to_host(const float *in, float *pinned, int n, float *dummy)
{
    int lane = threadIdx.x % 32, warp = (blockIdx.x * threads + threadIdx.x) / 32;
    int i = warp * 31 + lane - 1;
    if (warp * 31 >= n || (lane && i >= n)) return;
    float v = in[lane ? i : warp * 31];
    float *to = lane ? pinned + i : dummy + warp;
    asm volatile("st.global.f32 [%0], %1;" ::"l"(to), "f"(v) : "memory");
}
static __global__ void from_host(float *out, const float *pinned, int n, const float *dummy)
{
    int lane = threadIdx.x % 32, warp = (blockIdx.x * threads + threadIdx.x) / 32;
    int i = warp * 31 + lane - 1;
    if (warp * 31 >= n || (lane && i >= n)) return;
    const float *from = lane ? pinned + i : dummy;
    float v;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(from) : "memory");
    if (lane) out[i] = v;
}
static float *room(int k, size_t n)
{
    static float *p[3];
    static size_t has[3];
    if (has[k] < n) {
        if (p[k]) cudaFreeHost(p[k]);
        (void)cudaMallocHost(&p[k], 4 * n);
        has[k] = n;
    }
    return p[k];
}
static float *see(int k, const float *in, size_t n)
{
    float *p = room(k, n), *s;
    (void)cudaGetSymbolAddress((void **)&s, sink);
    if (n) to_host<<<(n + useful - 1) / useful, threads>>>(in, p, n, s);
    return p;
}
static void bring(float *out, const float *p, size_t n)
{
    float *s;
    (void)cudaGetSymbolAddress((void **)&s, sink);
    if (n) from_host<<<(n + useful - 1) / useful, threads>>>(out, p, n, s);
    check_launch("from_host");
}
void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    size_t m = (size_t)j * l;
    const float *a = see(0, A, (size_t)j * k), *b = see(1, B, (size_t)k * l);
    float *c = beta != 0 ? see(2, C, m) : room(2, m);
    (void)cudaDeviceSynchronize();
    float *row = new float[l + 1];
    for (int r = 0; r < j; ++r) {
        for (int x = 0; x < l; ++x) row[x] = 0;
        for (int i = 0; i < k; ++i) {
            float f = a[(size_t)r * k + i];
            const float *q = b + (size_t)i * l;
            for (int x = 0; x < l; ++x) row[x] += f * q[x];
        }
        for (int x = 0; x < l; ++x) {
            float &o = c[(size_t)r * l + x];
            o = alpha * row[x] + (beta != 0 ? beta * o : 0.0f);
        }
    }
    delete[] row;
    // dummy must hold something
    if (m) {
        float *s;
        (void)cudaGetSymbolAddress((void **)&s, sink);
        (void)cudaMemsetAsync(s, 0, 32);
    }
    bring(C, c, m);
}
void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}
void matmul_square(const float *M, const float *N, float *P, int w)
{
    sgemm(1, M, N, 0, P, w, w, w);
}
