// Grades the lab of relocatable device code.
#include "grader/grading.hpp"
#include "lab.hpp"

using namespace grading;

CORRECTNESS_CASE("increment: 1000 elements", 1)
{
    auto x = random_ints(1000, -1000, 1000), want = x;
    for (int &v : want) ++v;
    output<int> y(1000);
    CALL(increment, x, y, 1000);
    expect_equal(y, want);
}

CORRECTNESS_CASE("count_refused: few places for launches, and then the usual ones", 1)
{
    for (int places : {5, 0}) {
        output<int> refused(1);
        limit_launches(places);
        CALL(count_refused, refused, 8);
        if (places == 0 || simulated()) expect_equal(refused, {places == 0 ? 0 : 8 - places});
    }
}
