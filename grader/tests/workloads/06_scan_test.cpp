// The timed workloads of lab 06 find one wrong sum, and sums that all are too large by one.
#include "one_wrong_element.hpp"

#include "lab.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

using namespace grading;

namespace {

template <class T, class F> void try_scan(const make_workload &make, F right_sums)
{
    auto answer = [&](const arguments &all) {
        fill(elements<T>(all[1]), right_sums(copied<T>(all[0])));
    };
    auto one_sum = [](const argument &out, std::size_t i) { elements<T>(out)[i] += T(1); };
    // All differences are right.
    auto all_sums = [](const argument &out, std::size_t) {
        for (T &sum : elements<T>(out)) sum += T(1);
    };
    find_one_wrong_element(make, 1, answer, one_sum);
    find_one_wrong_element(make, 1, answer, all_sums);
}

} // namespace

TEST_CASE("scan of int: wrong sums")
{
    auto inclusive = [](const std::vector<int> &in) { return oracle::inclusive(in); };
    auto exclusive = [](const std::vector<int> &in) { return oracle::exclusive(in); };
    try_scan<int>(scan_ints(elements_to_scan(sizeof(int))), inclusive);
    try_scan<int>(scan_ints_exclusive(elements_to_scan(sizeof(int))), exclusive);
    try_scan<int>(scan_block(), exclusive);
}

TEST_CASE("scan of int64: wrong sums")
{
    try_scan<std::int64_t>(
        scan_longs(elements_to_scan(sizeof(std::int64_t))),
        [](const std::vector<std::int64_t> &in) { return oracle::inclusive(in); });
}

TEST_CASE("scan of float: wrong sums")
{
    try_scan<float>(scan_floats(elements_to_scan(sizeof(float))),
                    [](const std::vector<float> &in) { return oracle::inclusive(in).sums; });
}
