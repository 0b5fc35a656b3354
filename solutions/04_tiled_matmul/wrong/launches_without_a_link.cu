// Fails: build | BUILD_REJECTED | the runtime of kernels
// On gpu: build | BUILD_REJECTED | the runtime of kernels
// Tiles are the parameters of kernels that a kernel launches, where they are loaded for nothing.
#include "../check.hpp"
#include "lab.hpp"
#include <cuda_runtime.h>
#undef __cudaCDP2GetParameterBufferV2
#undef __cudaCDP2LaunchDeviceV2
constexpr int T = 64, K = 60, threads = 256;
struct tiles {
    float a[T][K], b[K][T];
    float *c;
    int rows, cols, l, k, first;
    float alpha, beta;
};
static __global__ void child(const __grid_constant__ tiles t)
{
    const tiles *p = &t;
    for (int e = blockIdx.x * threads + threadIdx.x; e < T * T; e += 8 * threads) {
        int r = e / T, c = e % T;
        if (r >= p->rows || c >= p->cols) continue;
        float sum = 0;
        for (int i = 0; i < p->k; ++i) sum += p->a[r][i] * p->b[i][c];
        float *to = p->c + (size_t)r * p->l + c;
        sum *= p->alpha;
        if (!p->first)
            sum += *to;
        else if (p->beta != 0)
            sum += p->beta * *to;
        *to = sum;
    }
}
static __global__ void parent(float alpha, const float *A, const float *B, float beta, float *C,
                              int j, int k, int l, int across)
{
    __shared__ tiles *given;
    int row = blockIdx.x / across * T, col = blockIdx.x % across * T;
    int rows = min(T, j - row), cols = min(T, l - col);
    for (int at = 0; at == 0 || at < k; at += K) {
        int terms = min(K, k - at);
        __syncthreads();
        if (threadIdx.x == 0)
            given =
                (tiles *)__cudaCDP2GetParameterBufferV2((void *)child, dim3(8), dim3(threads), 0);
        __syncthreads();
        tiles *t = given;
        if (!t) return;
        for (int e = threadIdx.x; e < T * K; e += threads) {
            int r = e / K, i = e % K;
            t->a[r][i] = r < rows && i < terms ? A[(size_t)(row + r) * k + at + i] : 0;
            int q = e / T, c = e % T;
            t->b[q][c] = q < terms && c < cols ? B[(size_t)(at + q) * l + col + c] : 0;
        }
        if (threadIdx.x == 0) {
            t->c = C + (size_t)row * l + col;
            t->rows = rows;
            t->cols = cols;
            t->l = l;
            t->k = terms;
            t->first = at == 0;
            t->alpha = alpha;
            t->beta = beta;
        }
        __syncthreads();
        if (threadIdx.x == 0) __cudaCDP2LaunchDeviceV2(t, 0);
    }
}
void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if ((size_t)j * l == 0) return;
    int across = (l + T - 1) / T;
    parent<<<across *((j + T - 1) / T), threads>>>(alpha, A, B, beta, C, j, k, l, across);
    check_launch("parent");
}
void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}
void matmul_square(const float *M, const float *N, float *P, int w)
{
    sgemm(1, M, N, 0, P, w, w, w);
}
