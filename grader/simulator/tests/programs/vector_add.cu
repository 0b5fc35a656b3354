// Adds two vectors whose length is no multiple of the block.
#include "check.hpp"

__global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main()
{
    const int n = 1000;
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; ++i) a[i] = 0.5f * i, b[i] = 3 - i;
    float *da = upload(a), *db = upload(b), *dc = nullptr;
    CHECK_CUDA(cudaMalloc(&dc, n * sizeof(float)));
    add<<<(n + 127) / 128, 128>>>(da, db, dc, n);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto c = download(dc, n);
    bool same = true;
    for (int i = 0; i < n; ++i) same = same && c[i] == a[i] + b[i];
    CHECK(same);

    std::vector<char> counts(simulator_counters(nullptr, 0) + 1);
    simulator_counters(counts.data(), counts.size());
    CHECK(std::strstr(counts.data(), "\"kernel\":\"vector_add::add\",\"launches\":1,"));
    CHECK(std::strstr(counts.data(), "\"blocks\":8,"));
    CHECK(std::strstr(counts.data(), "vector_add.cu"));
    for (float *p : {da, db, dc}) CHECK_CUDA(cudaFree(p));
    return done();
}
