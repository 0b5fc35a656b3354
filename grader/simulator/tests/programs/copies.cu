// cp.async: bytes arrive when their group is waited for, and not before.
#include "check.hpp"

#include <algorithm>
#include <cuda_pipeline.h>
#include <string>

using simulator::finding_kind;

__device__ unsigned shared_at(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// Each thread uses its own element: waiting is enough.
template <bool waits> __global__ void own_element(const float *in, float *out)
{
    __shared__ float tile[64];
    __pipeline_memcpy_async(tile + threadIdx.x, in + threadIdx.x, 4); // starts
    __pipeline_commit();
    if (waits) __pipeline_wait_prior(0);
    out[threadIdx.x] = tile[threadIdx.x]; // uses
}

// Each thread uses its neighbour's: a barrier as well.
template <bool meets> __global__ void neighbours_element(const float4 *in, float4 *out)
{
    __shared__ float4 tile[64];
    unsigned to = shared_at(tile + threadIdx.x);
    const float4 *from = in + threadIdx.x;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)); // brings
    asm volatile("cp.async.wait_all;" ::: "memory");
    if (meets) __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x]; // another's
}

// Two buffers: one group may stay under way, and nobody may still read what is overwritten.
template <int under_way, bool second_barrier>
__global__ void two_buffers(const float *in, float *out, int rounds)
{
    __shared__ float tile[2][64];
    float sum = 0;
    auto start = [&](int r) {
        float *to = &tile[r % 2][threadIdx.x];
        if (r < rounds) __pipeline_memcpy_async(to, in + r * 64 + threadIdx.x, 4); // next
        __pipeline_commit();
    };
    start(0);
    for (int r = 0; r < rounds; ++r) {
        start(r + 1);
        __pipeline_wait_prior(under_way);
        __syncthreads();
        sum += tile[r % 2][63 - threadIdx.x]; // sums
        if (second_barrier) __syncthreads();
    }
    out[threadIdx.x] = sum;
}

// The source is shorter than what is copied: zeros follow.
__global__ void with_zeros(const char *in, int *out)
{
    __shared__ int tile[64];
    unsigned bytes = threadIdx.x % 5;
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_at(tile + threadIdx.x)),
        "l"(in + 4 * threadIdx.x), "r"(bytes)
        : "memory");
    asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;" ::: "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}

static void expect_clean(const char *what)
{
    CHECK_CUDA(cudaDeviceSynchronize());
    for (const auto &f : found())
        std::printf("%s, %s, line %d: %s; %s\n", what, f.kernel, f.line, f.where, f.detail);
    CHECK(found().empty());
    simulator_begin();
}

static void expect_race(const char *text, const char *part)
{
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto all = found();
    CHECK(!all.empty());
    for (const auto &f : all) CHECK(is(f, finding_kind::race));
    if (!all.empty()) {
        CHECK(all[0].line == line_with(__FILE__, text));
        const bool said = std::string(all[0].detail).find(part) != std::string::npos;
        if (!said) std::printf("line %d: %s\n", all[0].line, all[0].detail);
        CHECK(said);
    }
    simulator_begin();
}

int main()
{
    simulator_begin();
    std::vector<float> numbers(64 * 6);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    float *in = upload(numbers), *out = upload(std::vector<float>(256, 0));
    auto *in4 = reinterpret_cast<float4 *>(in), *out4 = reinterpret_cast<float4 *>(out);
    const auto place = [](const char *text) {
        return "copies.cu:" + std::to_string(line_with(__FILE__, text));
    };

    own_element<true><<<1, 64>>>(in, out);
    CHECK(download(out, 64)[63] == 63);
    expect_clean("own element");
    own_element<false><<<1, 64>>>(in, out);
    expect_race("// uses", ("cp.async at " + place("// starts")).c_str());
    neighbours_element<true><<<1, 64>>>(in4, out4);
    CHECK(download(out, 256)[0] == 252 && download(out, 256)[255] == 3);
    expect_clean("neighbour's element");
    neighbours_element<false><<<1, 64>>>(in4, out4);
    expect_race("// brings", ("read at " + place("// another's")).c_str());
    two_buffers<1, true><<<1, 64>>>(in, out, 6);
    CHECK(download(out, 64)[0] == 6 * 63 + 64 * 15);
    expect_clean("two buffers");
    two_buffers<2, true><<<1, 64>>>(in, out, 6);
    expect_race("// sums", ("cp.async at " + place("// next")).c_str());
    two_buffers<1, false><<<1, 64>>>(in, out, 6);
    expect_race("// sums", ("cp.async at " + place("// next")).c_str());
    auto *text = upload(std::vector<char>(256, 1));
    int *words = upload(std::vector<int>(64, -1));
    with_zeros<<<1, 64>>>(text, words);
    const auto all = download(words, 64);
    CHECK(all[0] == 0 && all[1] == 1 && all[2] == 0x101 && all[3] == 0x10101 &&
          all[4] == 0x1010101);
    expect_clean("zeros");
    return done();
}
