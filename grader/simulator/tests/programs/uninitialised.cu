// A read of memory that nobody wrote is a finding, though not of padding; the kernel goes on.
#include "check.hpp"

__global__ void sum(const int *in, int *out, int n)
{
    int total = 0;
    for (int i = 0; i < n; ++i) total += in[i];
    *out = total;
}

struct alignas(16) row {
    int key; // 4 bytes that nobody writes follow
    long long value;
};

__global__ void fill(row *rows)
{
    rows[threadIdx.x].key = threadIdx.x;
    rows[threadIdx.x].value = 2;
}

__global__ void move(const long long *from, long long *to) { to[threadIdx.x] = from[threadIdx.x]; }

int main()
{
    const std::vector<int> ones(10, 1);
    int *in = nullptr, *out = nullptr;
    CHECK_CUDA(cudaMalloc(&in, 12 * sizeof(int)));
    CHECK_CUDA(cudaMalloc(&out, sizeof(int)));
    CHECK_CUDA(cudaMemcpy(in, ones.data(), 40, cudaMemcpyHostToDevice));
    sum<<<1, 1>>>(in, out, 10);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(download(out, 1)[0] == 10);
    CHECK(found().empty());
    row *rows = nullptr;
    CHECK_CUDA(cudaMalloc(&rows, 64 * sizeof(row)));
    fill<<<1, 32>>>(rows);
    move<<<1, 64>>>(reinterpret_cast<long long *>(rows), reinterpret_cast<long long *>(rows + 32));
    CHECK(download(rows, 64)[40].key == 8);
    CHECK(found().empty());
    sum<<<1, 1>>>(in, out, 12);
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto all = found();
    CHECK(all.size() == 1);
    for (const auto &f : all) {
        CHECK(is(f, simulator::finding_kind::uninitialised));
        CHECK(f.line == line_with(__FILE__, "total += in[i]"));
        CHECK(f.threads == 2);
    }
    return failures != 0;
}
