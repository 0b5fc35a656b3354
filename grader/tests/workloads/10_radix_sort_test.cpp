// The timed workloads of lab 10 find one wrong key or value.
#include "one_wrong_element.hpp"

#include "lab.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <numeric>

using namespace grading;

namespace {

void sort_pairs(const arguments &all)
{
    const uints keys = copied<unsigned>(all[0]), values = copied<unsigned>(all[1]);
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t k) { return keys[i] < keys[k]; });
    for (std::size_t i = 0; i < order.size(); ++i) {
        elements<unsigned>(all[0])[i] = keys[order[i]];
        elements<unsigned>(all[1])[i] = values[order[i]];
    }
}

void sort_keys(const arguments &all) { std::ranges::sort(elements<unsigned>(all[0])); }

} // namespace

TEST_CASE("sort_warps: one wrong key")
{
    find_one_wrong_element(
        sort_many(task::runs), 0,
        [](const arguments &all) {
            const std::span<unsigned> keys = elements<unsigned>(all[0]);
            for (std::size_t i = 0; i < keys.size(); i += 32)
                std::ranges::sort(keys.subspan(i, std::min<std::size_t>(32, keys.size() - i)));
        },
        flip_bit);
}

TEST_CASE("radix_sort: one wrong key")
{
    find_one_wrong_element(sort_many(task::keys), 0, sort_keys, flip_bit);
}

TEST_CASE("radix_sort_pairs: one wrong key, one wrong value, and two values exchanged")
{
    for (std::size_t out : {0, 1})
        find_one_wrong_element(sort_many(task::pairs), out, sort_pairs, flip_bit);
    find_one_wrong_element(sort_many(task::pairs), 1, sort_pairs,
                           [](const argument &values, std::size_t i) {
                               const std::span<unsigned> all = elements<unsigned>(values);
                               std::swap(all[i], all[i ? i - 1 : 1]);
                           });
}

TEST_CASE("radix_sort_floats: one wrong key")
{
    find_one_wrong_element(
        sort_many(task::numbers), 0,
        [](const arguments &all) {
            std::ranges::sort(elements<float>(all[0]), [](float x, float y) {
                return std::strong_order(x, y) < 0; // -0 before 0
            });
        },
        flip_bit);
}
