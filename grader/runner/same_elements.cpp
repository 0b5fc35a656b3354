// Compares arrays as multisets, by sums of salted hashes.
#include "api/call.hpp"
#include "api/compare.hpp"
#include "splitmix64.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace grading {

namespace {

// Adds the hashes of n elements of 4 bytes: a sum does not depend on their order.
std::uint64_t sum_of_hashes(const void *elements, std::size_t n, std::uint64_t salt)
{
    auto *from = static_cast<const std::byte *>(elements);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t bits;
        std::memcpy(&bits, from + 4 * i, 4);
        std::uint64_t state = salt ^ bits;
        sum += splitmix64(state);
    }
    return sum;
}

template <class T>
bool each_run_sorted(const std::vector<T> &got, const std::vector<T> &given, int length)
{
    if (got.size() != given.size()) return false;
    const std::uint64_t salt = unforeseen();
    const std::size_t run = static_cast<std::size_t>(length), n = got.size();
    auto right = [&](std::size_t r) {
        std::size_t first = r * run, count = std::min(run, n - first);
        return std::is_sorted(&got[first], &got[first] + count) &&
               sum_of_hashes(&got[first], count, salt) == sum_of_hashes(&given[first], count, salt);
    };
    return for_all((n + run - 1) / run, right, std::max<std::size_t>(1, (1 << 20) / run));
}

} // namespace

bool same_in_any_order(std::span<const std::byte> a, std::span<const std::byte> b)
{
    if (a.size() != b.size()) return false;
    const std::uint64_t salt = unforeseen();
    std::atomic<std::uint64_t> balance = 0;
    in_ranges(a.size() / 4, [&](std::size_t first, std::size_t last) {
        balance += sum_of_hashes(&a[4 * first], last - first, salt) -
                   sum_of_hashes(&b[4 * first], last - first, salt);
        return true;
    });
    return balance == 0;
}

bool sorted_in_runs(const std::vector<float> &got, const std::vector<float> &given, int length)
{
    return each_run_sorted(got, given, length);
}
bool sorted_in_runs(const std::vector<unsigned> &got, const std::vector<unsigned> &given,
                    int length)
{
    return each_run_sorted(got, given, length);
}

} // namespace grading
