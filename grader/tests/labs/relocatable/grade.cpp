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
