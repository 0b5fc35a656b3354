// Medians with distribution-free confidence intervals, and a group-sequential test.
//
// The interval uses order statistics: of n independent samples, the k-th smallest lies above the
// true median with probability P(Bin(n, 1/2) < k), for any distribution (H. A. David, H. N.
// Nagaraja, Order Statistics, 3rd ed., section 7.1). It needs neither symmetry nor a variance, so
// spikes and slow episodes, the usual errors of timings, hardly widen it.
//
// The test looks at 10, 15, ... 60 samples. At each look an end of the interval errs with
// probability at most 0.002; over the eleven looks together, at most 0.022 for a true median
// exactly at the required value. That falls quickly with distance: on the noise models of the
// tests, 0.95 or 1.05 of the required value is decided wrongly in less than one of 2000 trials.
// Samples must be paired (naive and submission next to each other in time): drift then cancels in
// the ratio.
//
// Most verdicts are far from close. Few samples are enough to say "reached" if each of them lies
// far above the required value, or all but one of a few more (early_looks). In the pairs of
// data/measured/pairs no ratio stands more than 7 % above its median on the workers' clocks, but
// for labs 12 and 14, which rise by up to 43 and 91 %; on the parent's one in 140 stands more than
// 30 % above, and two of 7800 more than 83 %. Drawn from them again and again, neither two, nor
// three, nor five, nor six of seven decided wrongly. Below their median they reach further
// (spikes), so that three samples say "missed" only where each took seconds, which no spike
// doubles.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace grading {

// So many samples are enough if on either clock each stands `ratio` times above what that clock
// must show (the parent's: 10 % less than the speedup), and on the workers' clocks each stands
// `share` times above every share of the device's rate that is asked for. In each of these
// comparisons, `spikes` samples may be lower.
struct early_look {
    std::size_t samples;
    double ratio, share;
    std::size_t spikes = 0;
};
constexpr early_look early_looks[] = {{2, 3, 1.1}, {3, 2, 1.05}, {5, 1.3, 1.05}, {7, 1.3, 1.05, 1}};
// The same factor below is enough to say "missed" after so many, where each took seconds.
constexpr early_look hopeless = early_looks[1];
constexpr int first_look = 10, look_every = 5, last_look = 60;
constexpr double error_per_look = 0.002; // of each end of the interval

// Returns the largest k with P(Bin(n, 1/2) < k) <= error; 0 if n is too small for any.
int interval_rank(int n, double error);

struct interval {
    double low, high;
};
// Returns the confidence interval of the median; each end is wrong with probability at most
// `error`. Returns nothing if there are too few samples.
std::optional<interval> median_interval(std::span<const double> samples,
                                        double error = error_per_look);

// Returns a quantile, 0 <= q <= 1, interpolated linearly between neighbours; NaN for no samples.
double quantile(std::span<const double> samples, double q);
double median(std::span<const double> samples);
// Interquartile range over the median: a measure of noise that ignores rare spikes.
double relative_spread(std::span<const double> samples);

enum class decision { go_on, reached, missed };

bool is_look(int samples); // one of 10, 15, ... 60
// Decides if the median is at least `required`: `reached` if the interval's lower end is, `missed`
// if its upper end is below, else `go_on`.
decision decide(std::span<const double> samples, double required);
// True if all samples but `spikes` are at least `margin` times `required`.
bool lie_above(std::span<const double> samples, double required, double margin,
               std::size_t spikes = 0);
// True if every sample is at most a `margin`-th of `required`.
bool all_below(std::span<const double> samples, double required, double margin);

} // namespace grading
