// Thrust's algorithms on device vectors, three sizes each: results as C++ gives them, no finding.
#include "check.hpp"

#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace {

struct even {
    __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
struct descending {
    __host__ __device__ bool operator()(int a, int b) const { return a > b; }
};
struct square {
    __host__ __device__ double operator()(int x) const { return static_cast<double>(x) * x; }
};

using device_ints = thrust::device_vector<int>;

std::vector<int> numbers(int n)
{
    std::vector<int> v(n);
    std::uint32_t x = 54321;
    for (int &e : v) e = static_cast<int>((x = x * 1664525u + 1013904223u) >> 12) % 5000;
    return v;
}

std::vector<int> host(const device_ints &v)
{
    std::vector<int> out(v.size());
    thrust::copy(v.begin(), v.end(), out.begin());
    return out;
}

void reductions(const std::vector<int> &in)
{
    const device_ints d(in.begin(), in.end());
    CHECK(thrust::reduce(d.begin(), d.end()) == std::accumulate(in.begin(), in.end(), 0));
    double squares = 0;
    for (int x : in) squares += square{}(x); // exact: below 2^53
    CHECK(thrust::transform_reduce(d.begin(), d.end(), square{}, 0.0, thrust::plus<double>()) ==
          squares);
}

void scans(const std::vector<int> &in)
{
    const device_ints d(in.begin(), in.end());
    device_ints to(in.size());
    std::vector<int> expected(in.size());
    thrust::exclusive_scan(d.begin(), d.end(), to.begin());
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0);
    CHECK(host(to) == expected);
    thrust::inclusive_scan(d.begin(), d.end(), to.begin(), thrust::maximum<int>());
    std::inclusive_scan(in.begin(), in.end(), expected.begin(),
                        [](int a, int b) { return std::max(a, b); });
    CHECK(host(to) == expected);
}

void selections(const std::vector<int> &in)
{
    device_ints d(in.begin(), in.end()), to(in.size());
    to.resize(thrust::copy_if(d.begin(), d.end(), to.begin(), even{}) - to.begin());
    std::vector<int> expected;
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), even{});
    CHECK(host(to) == expected);
    thrust::stable_partition(d.begin(), d.end(), even{});
    expected = in;
    std::stable_partition(expected.begin(), expected.end(), even{});
    CHECK(host(d) == expected);
}

// How many elements have each value: sort, then reduce by key.
void histogram(const std::vector<int> &in)
{
    device_ints d(in.begin(), in.end()), values(in.size()), counts(in.size());
    thrust::sort(d.begin(), d.end());
    auto end = thrust::reduce_by_key(d.begin(), d.end(), thrust::make_constant_iterator(1),
                                     values.begin(), counts.begin());
    values.resize(end.first - values.begin());
    counts.resize(end.second - counts.begin());
    std::vector<int> expected(5000);
    for (int x : in) ++expected[x];
    const std::vector<int> v = host(values), c = host(counts);
    std::vector<int> got(5000);
    for (std::size_t i = 0; i < v.size(); ++i) got[v[i]] = c[i];
    CHECK(got == expected);
}

void sorts(const std::vector<int> &in)
{
    device_ints d(in.begin(), in.end()), places(in.size());
    thrust::copy(thrust::counting_iterator<int>(0),
                 thrust::counting_iterator<int>(static_cast<int>(in.size())), places.begin());
    thrust::sort(d.begin(), d.end()); // by radix
    std::vector<int> expected = in, order(in.size());
    std::sort(expected.begin(), expected.end());
    CHECK(host(d) == expected);
    d.assign(in.begin(), in.end());
    thrust::stable_sort_by_key(d.begin(), d.end(), places.begin(), descending{}); // by merging
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return in[a] > in[b]; });
    CHECK(host(places) == order);
}

void run(int n)
{
    const std::vector<int> in = numbers(n);
    reductions(in);
    scans(in);
    selections(in);
    histogram(in);
    sorts(in);
}

} // namespace

int main()
{
    for (int n : {1, 3000, 150001}) run(n);
    for (int seed = 1; seed <= 3; ++seed) { // blocks and warps in another order
        simulator_schedule(1, seed);
        run(20011);
    }
    return done();
}
