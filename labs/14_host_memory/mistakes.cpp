// Recognises the cause of a wrong answer of lab 14.
#include "mistakes.hpp"
#include "oracle.hpp"

#include <cmath>

using namespace grading;

std::vector<misconception<float>> wrong_scalings(const floats &before, float factor, int rounds)
{
    auto after = [&before, factor](int k) {
        return [&before, factor, k] { return oracle::scale_managed(before, factor, k); };
    };
    std::vector<misconception<float>> known = {
        {"Every element was scaled once, whatever `rounds` is.",
         "Scale each element `rounds` times.", after(1)},
    };
    // By factor^rounds; powf may be a few last bits off.
    float power = static_cast<float>(std::pow(double(factor), rounds));
    for (int k = 0; k < 8; ++k) power = std::nextafter(power, 0.0f);
    for (int k = -8; k <= 8; ++k, power = std::nextafter(power, 2 * power))
        known.push_back({"Every element was multiplied once, by a power of `factor`.",
                         "Each round rounds to float, but a power is rounded differently: multiply "
                         "`rounds` times, one after the other.",
                         [&before, power] { return oracle::scale_managed(before, power, 1); }});
    return known;
}

std::string why_mistimed(double got, double right, int repeats)
{
    auto is = [got](double other) { return std::abs(got - other) <= 0.001 * other; };
    if (repeats > 1 && is(right * repeats))
        return "This is the time of all copies together: divide it by `repeats`.";
    if (is(right * (repeats + 1) / repeats))
        return "This includes one copy too many: the first event must be behind the warm-up copy, "
               "not in front of it.";
    if (repeats > 1 && is(right * (repeats - 1) / repeats))
        return "This is one copy too few: both events belong outside the loop, one in front of all "
               "`repeats` copies and one behind them.";
    if (is(right / 1000))
        return "This is the time in seconds: cudaEventElapsedTime already returns milliseconds.";
    if (is(right * 1000)) return "This is the time in microseconds, but milliseconds are required.";
    return {};
}
