// Judges the arrays of lab 14, and recognises the cause of a wrong answer.
#include "mistakes.hpp"

#include "oracle.hpp"

#include <cmath>
#include <cstddef>

using namespace grading;

// `before`: the array before the call.
static std::vector<misconception<float>> wrong_scalings(const floats &before, float factor,
                                                        int rounds)
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

void expect_scaled(const output<float> &got, const floats &before, float factor, int rounds)
{
    floats want = oracle::scale_managed(before, factor, rounds);
    expect_changed_in_place(
        want == before || got.values != before,
        "scale_managed returned, and every element is unchanged",
        "It stored the old values: is the product with `factor` what is stored?",
        "Does a kernel run at all, and does it write its result?");
    expect_equal(got, want, {}, [&] { return wrong_scalings(before, factor, rounds); });
}

void expect_sums(const output<double> &got, const floats &mapped)
{
    int passes = int(got.size());
    std::vector<double> want = oracle::sum_mapped(mapped, passes);
    floats sizes = mapped;
    for (float &x : sizes) x = std::abs(x);
    std::vector<double> magnitudes = oracle::sum_mapped(sizes, passes);
    for (std::size_t p = 0; p < want.size(); ++p) {
        bool in_float = std::abs(got[p] - want[p]) <= 1e-5 * magnitudes[p];
        expect(std::abs(got[p] - want[p]) <= 1e-10 * magnitudes[p], verdict::WRONG_ANSWER,
               "out[" + std::to_string(p) + "] is " + show_element(got[p]) +
                   ", and the elements to the power of " + std::to_string(p + 1) + " add up to " +
                   show_element(want[p]) + ": it is off by " +
                   show_element(std::abs(got[p] - want[p])) + "." +
                   (in_float ? " That is the precision of float." : ""),
               in_float ? "Multiply and add as double."
                        : "out[p] is the sum of all mapped[i] to the power of p + 1. Does every "
                          "pass begin with 0?");
    }
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
