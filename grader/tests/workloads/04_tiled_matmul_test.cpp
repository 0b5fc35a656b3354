// The timed workloads of lab 04 find one wrong element.
#include "one_wrong_element.hpp"

#include "lab.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

using namespace grading;

namespace {

// Sums by random signs find what is clearly more than rounding.
void spoil(const argument &out, std::size_t i) { elements<float>(out)[i] += 0.01f; }

void try_product(task what)
{
    const bool scaled = what == task::scaled;
    find_one_wrong_element(
        product_of(what), scaled ? 4 : 2,
        [=](const arguments &all) {
            const floats A = copied<float>(all[scaled]), B = copied<float>(all[scaled + 1]);
            const argument &out = all[scaled ? 4 : 2];
            auto size = [&](std::size_t k) { return value_in<int>(all[k]); };
            const oracle::product right =
                scaled ? oracle::sgemm(value_in<float>(all[0]), A, B, value_in<float>(all[3]),
                                       copied<float>(out), size(5), size(6), size(7))
                : what == task::square ? oracle::matmul(A, B, size(3), size(3), size(3))
                                       : oracle::matmul(A, B, size(3), size(4), size(5));
            fill(elements<float>(out), right.values);
        },
        spoil);
}

} // namespace

TEST_CASE("matmul_square: one wrong element") { try_product(task::square); }
TEST_CASE("matmul: one wrong element") { try_product(task::general); }
TEST_CASE("sgemm: one wrong element") { try_product(task::scaled); }
