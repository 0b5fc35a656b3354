// More of CUB and Thrust: blocks and warps, keys of other types, segments, runs, sets, searches.
#include "check.hpp"

#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/for_each.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/merge.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

namespace {

template <typename T> std::vector<T> numbers(int n, int below)
{
    std::vector<T> v(n);
    std::uint32_t x = 99;
    for (T &e : v)
        e = static_cast<T>(static_cast<int>((x = x * 1664525u + 1013904223u) >> 8) % below -
                           below / 3);
    return v;
}

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
    CHECK_CUDA(cudaMalloc(&p, n * sizeof(T)));
    return p;
}

// One block: load, sum, scan, sort, heads of runs, store.
template <int threads, int each>
__global__ void block_work(const int *in, int n, int *sum, int *scanned, int *sorted, int *heads)
{
    using load = cub::BlockLoad<int, threads, each, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using store = cub::BlockStore<int, threads, each, cub::BLOCK_STORE_TRANSPOSE>;
    using reduce = cub::BlockReduce<int, threads, cub::BLOCK_REDUCE_RAKING>;
    using scan = cub::BlockScan<int, threads>;
    using sort = cub::BlockRadixSort<int, threads, each>;
    using runs = cub::BlockDiscontinuity<int, threads>;
    __shared__ union {
        typename load::TempStorage load;
        typename store::TempStorage store;
        typename reduce::TempStorage reduce;
        typename scan::TempStorage scan;
        typename sort::TempStorage sort;
        typename runs::TempStorage runs;
    } s;
    int x[each], y[each], flags[each];
    load(s.load).Load(in, x, n, 1000000);
    __syncthreads();
    for (int k = 0; k < each; ++k) y[k] = threadIdx.x * each + k < n ? x[k] : 0;
    const int total = reduce(s.reduce).Sum(y);
    if (threadIdx.x == 0) *sum = total;
    __syncthreads();
    scan(s.scan).InclusiveSum(y, y);
    __syncthreads();
    store(s.store).Store(scanned, y, n);
    __syncthreads();
    sort(s.sort).Sort(x);
    __syncthreads();
    runs(s.runs).FlagHeads(flags, x, cuda::std::not_equal_to<int>());
    __syncthreads();
    store(s.store).Store(heads, flags, n);
    __syncthreads();
    store(s.store).Store(sorted, x, n); // last: it moves x's elements between threads
}

__global__ void warp_work(const int *in, int *out)
{
    __shared__ cub::WarpReduce<int>::TempStorage reduce[2];
    __shared__ cub::WarpScan<int, 16>::TempStorage scan[4];
    __shared__ cub::WarpMergeSort<int, 1>::TempStorage sort[2];
    const int i = threadIdx.x, w = i / 32;
    int x[1] = {in[i]}, before;
    const int sum = cub::WarpReduce<int>(reduce[w]).Sum(x[0]);
    cub::WarpScan<int, 16>(scan[i / 16]).ExclusiveSum(x[0], before);
    cub::WarpMergeSort<int, 1>(sort[w]).Sort(x, [](int a, int b) { return a < b; });
    out[i] = before;
    out[64 + i] = x[0];
    if (i % 32 == 0) out[128 + w] = sum;
}

void blocks()
{
    constexpr int threads = 128, each = 4;
    const int n = 500;
    const auto in = numbers<int>(n, 300);
    int *sum = room<int>(1), *scanned = room<int>(n), *sorted = room<int>(n), *heads = room<int>(n);
    block_work<threads, each><<<1, threads>>>(upload(in), n, sum, scanned, sorted, heads);
    CHECK(download(sum, 1)[0] == std::accumulate(in.begin(), in.end(), 0));
    std::vector<int> want(n);
    std::inclusive_scan(in.begin(), in.end(), want.begin());
    CHECK(download(scanned, n) == want);
    want = in;
    std::sort(want.begin(), want.end());
    CHECK(download(sorted, n) == want);
    const auto h = download(heads, n);
    for (int i = 1; i < n; ++i) CHECK(h[i] == (want[i] != want[i - 1]));

    const auto few = numbers<int>(64, 100);
    int *out = room<int>(130);
    warp_work<<<1, 64>>>(upload(few), out);
    const auto got = download(out, 130);
    for (int w = 0; w < 2; ++w) {
        std::vector<int> part(few.begin() + 32 * w, few.begin() + 32 * w + 32);
        CHECK(got[128 + w] == std::accumulate(part.begin(), part.end(), 0));
        std::sort(part.begin(), part.end());
        CHECK(std::equal(part.begin(), part.end(), got.begin() + 64 + 32 * w));
    }
    for (int i = 0; i < 64; ++i)
        CHECK(got[i] == std::accumulate(few.begin() + i / 16 * 16, few.begin() + i, 0));
}

template <typename T> void sorted_keys(int n)
{
    const auto in = numbers<T>(n, 1 << 20);
    T *from = upload(in), *to = room<T>(n);
    with_scratch([&](void *s, std::size_t &b) {
        return cub::DeviceRadixSort::SortKeysDescending(s, b, from, to, n);
    });
    auto want = in;
    std::sort(want.begin(), want.end(), std::greater<>());
    CHECK(download(to, n) == want);
}

void runs_and_segments(int n)
{
    auto in = numbers<int>(n, 12);
    std::sort(in.begin(), in.begin() + n / 2);
    int *from = upload(in), *values = room<int>(n), *lengths = room<int>(n), *count = room<int>(1);
    with_scratch([&](void *s, std::size_t &b) {
        return cub::DeviceRunLengthEncode::Encode(s, b, from, values, lengths, count, n);
    });
    std::vector<int> v, l;
    for (int i = 0; i < n; ++i) {
        if (i == 0 || in[i] != in[i - 1]) v.push_back(in[i]), l.push_back(0);
        ++l.back();
    }
    CHECK(download(count, 1)[0] == static_cast<int>(v.size()));
    CHECK(download(values, v.size()) == v);
    CHECK(download(lengths, l.size()) == l);

    const std::vector<int> starts = {0, n / 7, n / 7, n / 2, n};
    long long *sums = room<long long>(4);
    int *at = upload(starts);
    const auto wide = numbers<long long>(n, 1 << 20);
    with_scratch([&](void *s, std::size_t &b) {
        return cub::DeviceSegmentedReduce::Sum(s, b, upload(wide), sums, 4, at, at + 1);
    });
    const auto got = download(sums, 4);
    for (int k = 0; k < 4; ++k)
        CHECK(got[k] ==
              std::accumulate(wide.begin() + starts[k], wide.begin() + starts[k + 1], 0ll));
}

struct scaled {
    double by;
    __host__ __device__ double operator()(double x, double y) const { return x * by + y; }
};
struct add_to {
    int *sum;
    __device__ void operator()(int x) const { atomicAdd(sum, x); }
};

void thrust_work(int n)
{
    const auto a = numbers<int>(n, 2000), b = numbers<int>(n + 17, 3000);
    thrust::device_vector<int> x(a.begin(), a.end()), y(b.begin(), b.end());
    CHECK(*thrust::max_element(x.begin(), x.end()) == *std::max_element(a.begin(), a.end()));
    CHECK(thrust::inner_product(x.begin(), x.end(), y.begin(), 0ll) ==
          std::inner_product(a.begin(), a.end(), b.begin(), 0ll));
    thrust::device_vector<double> p(a.begin(), a.end()), q(p.size());
    thrust::transform(p.begin(), p.end(), p.begin(), q.begin(), scaled{0.25});
    CHECK(q[n / 2] == a[n / 2] * 1.25);
    thrust::device_vector<int> sum(1);
    thrust::for_each(x.begin(), x.end(), add_to{thrust::raw_pointer_cast(sum.data())});
    CHECK(sum[0] == std::accumulate(a.begin(), a.end(), 0));

    auto s = a, t = b;
    std::sort(s.begin(), s.end());
    std::sort(t.begin(), t.end());
    x = s;
    y = t;
    thrust::device_vector<int> both(s.size() + t.size());
    auto as_vector = [&](auto end) {
        std::vector<int> v(end - both.begin());
        thrust::copy(both.begin(), end, v.begin());
        return v;
    };
    std::vector<int> want;
    std::merge(s.begin(), s.end(), t.begin(), t.end(), std::back_inserter(want));
    CHECK(as_vector(thrust::merge(x.begin(), x.end(), y.begin(), y.end(), both.begin())) == want);
    thrust::device_vector<int> places(t.size());
    thrust::lower_bound(x.begin(), x.end(), y.begin(), y.end(), places.begin());
    CHECK(places[n / 3] == std::lower_bound(s.begin(), s.end(), t[n / 3]) - s.begin());
    x.erase(thrust::unique(x.begin(), x.end()), x.end());
    s.erase(std::unique(s.begin(), s.end()), s.end());
    CHECK(x.size() == s.size());
    CHECK(std::equal(s.begin(), s.end(), thrust::host_vector<int>(x).begin()));
}

// They load the key behind their last one and then do not use it, which is found all the same.
void sets(int n)
{
    auto s = numbers<int>(n, 1 << 20), t = numbers<int>(n / 2 + 1, 1 << 20);
    std::sort(s.begin(), s.end());
    std::sort(t.begin(), t.end());
    thrust::device_vector<int> x = s, y = t, both(s.size());
    std::vector<int> want, got(s.size());
    std::set_intersection(s.begin(), s.end(), t.begin(), t.end(), std::back_inserter(want));
    auto end = thrust::set_intersection(x.begin(), x.end(), y.begin(), y.end(), both.begin());
    got.resize(end - both.begin());
    thrust::copy(both.begin(), end, got.begin());
    CHECK(got == want);
#ifndef ON_GPU
    for (const auto &f : found()) {
        CHECK(is(f, simulator::finding_kind::uninitialised));
        CHECK(std::string(f.file).ends_with("agent_launcher.h"));
    }
    simulator_begin();
#endif
}

} // namespace

int main()
{
    for (int n : {40, 3001, 70001}) sets(n);
    blocks();
    for (int n : {40, 3001, 70001}) {
        sorted_keys<float>(n);
        sorted_keys<long long>(n);
        sorted_keys<short>(n);
        runs_and_segments(n);
        thrust_work(n);
    }
    return done();
}
