// Grades the lab with held-back cases: those that an instructor adds. Tests look for their names.
#include "grader/grading.hpp"
#include "lab.hpp"

using namespace grading;

CORRECTNESS_CASE("twice: a part of a block", 1.5)
{
    std::vector<float> x = random_floats(777), doubled = x;
    for (float &v : doubled) v *= 2;
    output<float> y(777);
    CALL(twice, x, y, 777);
    expect(y[776] == doubled[776], verdict::WRONG_ANSWER,
           "The very last element is " + show_element(y[776]) + ".", "Secret advice.");
    expect_equal(y, doubled);
}

CORRECTNESS_CASE("twice: one element", 0.5)
{
    std::vector<float> x = random_floats(1);
    output<float> y(1);
    CALL(twice, x, y, 1);
    expect_equal(y, std::vector<float>{2 * x[0]});
}
