// The timed workloads of lab 07 find one wrong element.
#include "one_wrong_element.hpp"

#include "lab.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

using namespace grading;

namespace {

void try_packing(task what, double share)
{
    find_one_wrong_element(
        pack(what, share), 1,
        [&](const arguments &all) {
            const floats in = copied<float>(all[0]), kept = oracle::compact(in);
            fill(elements<float>(all[1]), what == task::compact ? kept : oracle::partition(in));
            elements<int>(all[2])[0] = int(kept.size());
        },
        flip_bit);
}

} // namespace

TEST_CASE("compact: one wrong element")
{
    for (double share : {0.01, 0.5, 0.99}) try_packing(task::compact, share);
}

TEST_CASE("partition: one wrong element")
{
    for (double share : {0.01, 0.5, 0.99}) try_packing(task::partition, share);
}

TEST_CASE("unpack: one wrong element")
{
    find_one_wrong_element(
        pack(task::unpack, 0.5), 2,
        [](const arguments &all) {
            fill(elements<float>(all[2]),
                 oracle::unpack(copied<float>(all[0]), copied<unsigned char>(all[1])));
        },
        flip_bit);
}
