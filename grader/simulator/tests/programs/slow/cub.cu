// CUB's algorithms over a whole device, three sizes each: results as C++ gives them, no finding.
#include "check.hpp"

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

namespace {

struct even {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct descending {
    __host__ __device__ bool operator()(int a, int b) const { return a > b; }
};

std::vector<int> numbers(int n)
{
    std::vector<int> v(n);
    std::uint32_t x = 12345;
    for (int &e : v) e = static_cast<int>((x = x * 1664525u + 1013904223u) >> 4) - (1 << 27);
    return v;
}

// Asks how much scratch memory `step` wants, then runs it with no byte more.
void with_scratch(const std::function<cudaError_t(void *, std::size_t &)> &step)
{
    std::size_t bytes = 0;
    CHECK_CUDA(step(nullptr, bytes));
    void *scratch = nullptr;
    CHECK_CUDA(cudaMalloc(&scratch, bytes));
    CHECK_CUDA(step(scratch, bytes));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaFree(scratch));
}

template <typename T> T *room(std::size_t n)
{
    T *p = nullptr;
    CHECK_CUDA(cudaMalloc(&p, std::max<std::size_t>(n, 1) * sizeof(T)));
    return p;
}

void reduce(const std::vector<int> &in)
{
    const int n = static_cast<int>(in.size());
    int *from = upload(in), *sum = room<int>(1), *least = room<int>(1);
    with_scratch(
        [&](void *s, std::size_t &b) { return cub::DeviceReduce::Sum(s, b, from, sum, n); });
    with_scratch(
        [&](void *s, std::size_t &b) { return cub::DeviceReduce::Min(s, b, from, least, n); });
    std::uint32_t expected = 0;
    for (int x : in) expected += static_cast<std::uint32_t>(x);
    CHECK(static_cast<std::uint32_t>(download(sum, 1)[0]) == expected);
    CHECK(download(least, 1)[0] == *std::min_element(in.begin(), in.end()));
}

void reduce_reals(int n)
{
    std::vector<float> in(n);
    for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i % 13);
    float *from = upload(in), *sum = room<float>(1);
    with_scratch(
        [&](void *s, std::size_t &b) { return cub::DeviceReduce::Sum(s, b, from, sum, n); });
    CHECK(download(sum, 1)[0] == std::accumulate(in.begin(), in.end(), 0.0f)); // exact: small
}

void scan(const std::vector<int> &in)
{
    const int n = static_cast<int>(in.size());
    std::vector<int> small(n), expected(n);
    for (int i = 0; i < n; ++i) small[i] = in[i] % 1000;
    int *from = upload(small), *to = room<int>(n);
    with_scratch(
        [&](void *s, std::size_t &b) { return cub::DeviceScan::ExclusiveSum(s, b, from, to, n); });
    std::exclusive_scan(small.begin(), small.end(), expected.begin(), 0);
    CHECK(download(to, n) == expected);
    with_scratch(
        [&](void *s, std::size_t &b) { return cub::DeviceScan::InclusiveSum(s, b, from, to, n); });
    std::inclusive_scan(small.begin(), small.end(), expected.begin());
    CHECK(download(to, n) == expected);
}

void select(const std::vector<int> &in)
{
    const int n = static_cast<int>(in.size());
    int *from = upload(in), *to = room<int>(n), *count = room<int>(1);
    with_scratch([&](void *s, std::size_t &b) {
        return cub::DeviceSelect::If(s, b, from, to, count, n, even{});
    });
    std::vector<int> expected;
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), even{});
    CHECK(download(count, 1)[0] == static_cast<int>(expected.size()));
    CHECK(download(to, expected.size()) == expected);
}

void partition(const std::vector<int> &in)
{
    const int n = static_cast<int>(in.size());
    int *from = upload(in), *to = room<int>(n), *count = room<int>(1);
    with_scratch([&](void *s, std::size_t &b) {
        return cub::DevicePartition::If(s, b, from, to, count, n, even{});
    });
    std::vector<int> expected = in;
    auto middle = std::stable_partition(expected.begin(), expected.end(), even{});
    std::reverse(middle, expected.end()); // CUB leaves the rest in reverse order
    CHECK(download(count, 1)[0] == static_cast<int>(middle - expected.begin()));
    CHECK(download(to, n) == expected);
}

void histogram(const std::vector<int> &in)
{
    const int n = static_cast<int>(in.size()), bins = 256;
    std::vector<unsigned char> bytes(n);
    for (int i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(in[i] >> 5);
    unsigned char *from = upload(bytes);
    int *to = room<int>(bins);
    with_scratch([&](void *s, std::size_t &b) {
        return cub::DeviceHistogram::HistogramEven(s, b, from, to, bins + 1, 0, bins, n);
    });
    std::vector<int> expected(bins);
    for (unsigned char c : bytes) ++expected[c];
    CHECK(download(to, bins) == expected);
}

void radix_sort(const std::vector<int> &in)
{
    const int n = static_cast<int>(in.size());
    std::vector<int> places(n), order(n);
    std::iota(places.begin(), places.end(), 0);
    int *from = upload(in), *to = room<int>(n), *with = upload(places), *moved = room<int>(n);
    with_scratch([&](void *s, std::size_t &b) {
        return cub::DeviceRadixSort::SortPairs(s, b, from, to, with, moved, n);
    });
    order = places;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return in[a] < in[b]; });
    CHECK(download(moved, n) == order);
    std::vector<int> sorted = in;
    std::sort(sorted.begin(), sorted.end());
    CHECK(download(to, n) == sorted);
}

void merge_sort(const std::vector<int> &in)
{
    const int n = static_cast<int>(in.size());
    int *keys = upload(in);
    with_scratch([&](void *s, std::size_t &b) {
        return cub::DeviceMergeSort::SortKeys(s, b, keys, n, descending{});
    });
    std::vector<int> expected = in;
    std::sort(expected.begin(), expected.end(), descending{});
    CHECK(download(keys, n) == expected);
}

void run(int n)
{
    const std::vector<int> in = numbers(n);
    reduce(in);
    reduce_reals(n);
    scan(in);
    select(in);
    partition(in);
    histogram(in);
    radix_sort(in);
    merge_sort(in);
}

} // namespace

int main()
{
    for (int n : {1, 3000, 200003}) run(n);
    for (int seed = 1; seed <= 3; ++seed) { // blocks and warps in another order
        simulator_schedule(1, seed);
        run(20011);
    }
    return done();
}
