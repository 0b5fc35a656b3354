// Grades the lab with held-back cases: the cases that a student sees.
#include "grader/grading.hpp"
#include "lab.hpp"

using namespace grading;

CORRECTNESS_CASE("twice: whole blocks", 2)
{
    std::vector<float> x = random_floats(512), doubled = x;
    for (float &v : doubled) v *= 2;
    output<float> y(512);
    CALL(twice, x, y, 512);
    expect_equal(y, doubled);
}

CORRECTNESS_CASE("twice: no elements", 1)
{
    output<float> y(0);
    CALL(twice, random_floats(0), y, 0);
}
