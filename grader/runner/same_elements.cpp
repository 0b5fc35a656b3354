// Compares arrays as multisets, by sums of salted hashes.
#include "api/call.hpp"
#include "api/compare.hpp"
#include "text/splitmix64.hpp"

#include <algorithm>
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
        sum += salted_hash(salt, bits);
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
        bool rises = true; // without a branch for each element
        for (std::size_t i = first + 1; i < first + count; ++i) rises &= !(got[i] < got[i - 1]);
        return rises &&
               sum_of_hashes(&got[first], count, salt) == sum_of_hashes(&given[first], count, salt);
    };
    return for_all((n + run - 1) / run, right, std::max<std::size_t>(1, (1 << 20) / run));
}

} // namespace

bool same_in_any_order(std::span<const std::byte> a, std::span<const std::byte> b)
{
    auto element_of = [](std::span<const std::byte> all) {
        return [all](std::size_t i) {
            std::uint32_t bits;
            std::memcpy(&bits, &all[4 * i], 4);
            return std::uint64_t{bits};
        };
    };
    return a.size() == b.size() && same_in_any_order(a.size() / 4, element_of(a), element_of(b));
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
