// Order statistics of small samples.
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace grading {

namespace {

std::vector<double> sorted(std::span<const double> samples)
{
    std::vector<double> s(samples.begin(), samples.end());
    std::sort(s.begin(), s.end());
    return s;
}

} // namespace

int interval_rank(int n, double error)
{
    double term = std::pow(0.5, n), below = 0; // P(Bin = k), P(Bin < k)
    int k = 0;
    while (k < n / 2 && below + term <= error) {
        below += term;
        term *= static_cast<double>(n - k) / (k + 1);
        ++k;
    }
    return k;
}

std::optional<interval> median_interval(std::span<const double> samples, double error)
{
    int k = interval_rank(static_cast<int>(samples.size()), error);
    if (k == 0) return std::nullopt;
    std::vector<double> s = sorted(samples);
    return interval{s[static_cast<std::size_t>(k - 1)], s[s.size() - static_cast<std::size_t>(k)]};
}

double quantile(std::span<const double> samples, double q)
{
    if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> s = sorted(samples);
    double at = q * static_cast<double>(s.size() - 1);
    auto below = static_cast<std::size_t>(at);
    std::size_t above = std::min(below + 1, s.size() - 1);
    return std::lerp(s[below], s[above], at - static_cast<double>(below));
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

double relative_spread(std::span<const double> samples)
{
    return (quantile(samples, 0.75) - quantile(samples, 0.25)) / median(samples);
}

bool is_look(int samples)
{
    return samples >= first_look && samples <= last_look &&
           (samples - first_look) % look_every == 0;
}

decision decide(std::span<const double> samples, double required)
{
    std::optional<interval> where = median_interval(samples);
    if (!where) return decision::go_on;
    if (where->low >= required) return decision::reached;
    if (where->high < required) return decision::missed;
    return decision::go_on;
}

bool lie_above(std::span<const double> samples, double required, double margin, std::size_t spikes)
{
    const auto above =
        std::ranges::count_if(samples, [=](double s) { return s >= margin * required; });
    return static_cast<std::size_t>(above) + spikes >= samples.size();
}

bool all_below(std::span<const double> samples, double required, double margin)
{
    return std::ranges::all_of(samples, [=](double s) { return margin * s <= required; });
}

} // namespace grading
