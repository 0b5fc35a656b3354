// Medians with exact intervals, and the rule that decides early and rarely wrongly.
//
// The interval is that of order statistics: of n independent samples, the k-th smallest lies above
// the true median with probability P(Bin(n, 1/2) < k), whatever the distribution (H. A. David, H.
// N. Nagaraja, Order Statistics, 3rd ed., section 7.1). It needs no symmetry and no variance, so
// spikes and slow episodes, which is how timings err, do not widen it much.
//
// The rule looks at 10, 15, ... 60 samples. At each look an end of the interval errs with
// probability at most 0.002; over the eleven looks together, at most 0.022 for a true median
// exactly at the required value, and that falls quickly with distance: on the noise models of the
// tests, 0.95 or 1.05 of the required value is never decided wrongly in thousands of trials.
// Samples must be paired (naive and submission next to each other in time): drift then cancels in
// the ratio.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace grading {

constexpr int first_look = 10, look_every = 5, last_look = 60;
constexpr double error_a_look = 0.002; // of each end of the interval

// The largest k with P(Bin(n, 1/2) < k) <= error; 0 when n samples are too few for that.
int interval_rank(int n, double error);

struct interval {
    double low, high;
};
// Where the median lies, each end wrong with probability at most `error`; nothing when there are
// too few samples.
std::optional<interval> median_interval(std::span<const double> samples,
                                        double error = error_a_look);

// The samples' quantile, 0 <= q <= 1, between neighbours by linear interpolation; NaN of no
// samples.
double quantile(std::span<const double> samples, double q);
double median(std::span<const double> samples);
// Distance of the quartiles over the median: how restless a series is, blind to rare spikes.
double relative_spread(std::span<const double> samples);

enum class decision { go_on, reached, missed };

bool is_look(int samples); // is this one of 10, 15, ... 60?
// Is the median at least `required`? `reached` once the interval's lower end is, `missed` once its
// upper end is below; `go_on` otherwise.
decision decide(std::span<const double> samples, double required);

} // namespace grading
