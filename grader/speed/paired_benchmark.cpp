// The rule of the paired benchmark: which samples count, when the verdict is clear, its messages.
#include "paired_benchmark.hpp"

#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace grading {

namespace {

// Thresholds of the rule.
constexpr double parent_allowance = 0.10; // the parent's clock may fall this much short of S
constexpr double clocks_apart = 0.10;     // two clocks may differ by this share of the longer time,
constexpr double clocks_apart_ms = 0.5; // and by this much per run: workers share the GPU in turns
constexpr double beyond_device = 1.05;  // times the measured copy or multiply-add rate: implausible
// A sample is discarded if the clock fell below this fraction within it, or below that fraction of
// the benchmark's usual clock.
constexpr double clock_fell = 0.90, clock_low = 0.75;
constexpr double unseen_clock_drop = 2;   // between readings the clock may be lower by this factor
constexpr double max_naive_spread = 0.10; // relative spread from which the machine is to blame
constexpr double max_spent_ms = 60e3;     // by the submission, in one benchmark
constexpr double long_run_ms = 2e3;
// A call over the limit probably never ends if naive takes less than this share of the limit.
constexpr double naive_is_slow = 0.1;
constexpr int discards_to_give_up = 15; // and no fewer than the samples kept

bool usable(double ms) { return std::isfinite(ms) && ms > 0; }

bool clocks_differ(const timed_run &l)
{
    if (!usable(l.worker_ms) || !std::isfinite(l.parent_ms)) return true;
    double longer = std::max(l.worker_ms, l.parent_ms);
    return std::abs(l.parent_ms - l.worker_ms) > clocks_apart * longer + clocks_apart_ms;
}

// The samples kept in one attempt.
struct samples {
    std::vector<double> worker, parent; // naive's time over the submission's, on either clock
    std::vector<double> naive_ms, ms;   // per call, on the worker's clocks
    std::vector<double> run_ms;         // of the submission's, on the parent's
    std::vector<double> library;        // the library's time over the submission's
    std::vector<double> copy, fma;      // fractions of the device's rates
    std::size_t size() const { return worker.size(); }
};

struct discarded_pairs {
    int naive_clocks = 0, submission_clocks = 0, threads_left = 0, slowed = 0, throttled = 0;
    int all() const { return naive_clocks + submission_clocks + threads_left + slowed + throttled; }
};

class paired_benchmark {
public:
    paired_benchmark(benchmark_device &d, const speed_gates &g, scrutiny how)
        : device_(d), gates_(g), how_(how)
    {
    }

    judgement run()
    {
        for (int attempt = 0; attempt < 2; ++attempt) {
            repeated_ = attempt > 0;
            kept_ = {};
            discarded_ = {};
            slowed_ratios_.clear();
            rates_.clear();
            lowest_mhz_ = highest_mhz_ = std::numeric_limits<double>::quiet_NaN();
            attempted_ = 0;
            device_.prepare();
            if (std::optional<judgement> j = attempt_once()) return *j;
        }
        return by_median();
    }

    // The call probably never ends if naive would have finished long before the limit; otherwise
    // it is only slow.
    judgement timed_out(const run_timeout &o) const
    {
        double naive_ms = o.naive_ms / gates_.naive_share;
        bool endless = naive_ms < naive_is_slow * o.limit_ms;
        judgement j = judged(
            endless ? verdict::TIMEOUT : verdict::TOO_SLOW,
            fmt::format("{} did not finish in {:.0f} s; naive would need {:.2g} s{}.",
                        device_.function(), o.limit_ms / 1e3, naive_ms / 1e3,
                        gates_.naive_share < 1 ? ", by a smaller input" : ""),
            endless ? "Smaller inputs are no problem. So look for threads that wait for each "
                      "other when there are more blocks than the device runs at a time, for a "
                      "loop that never ends with so many elements, for work that grows much "
                      "faster than their number, and for a launch or a copy for every few "
                      "elements: each costs some microseconds."
                    : gates_.too_slow);
        j.result.naive_ms = naive_ms;
        return j;
    }

private:
    struct decisions { // per requirement; one that is not asked for counts as reached
        decision speedup = decision::reached, parent = decision::reached, copy = decision::reached,
                 fma = decision::reached;
    };

    // Returns nothing if sixty samples did not decide.
    std::optional<judgement> attempt_once()
    {
        while (kept_.size() < last_look) {
            bool kept = one_pair();
            if (std::optional<judgement> j = give_up()) return j;
            if (!kept) continue;
            const bool clear = is_clear(), hopeless = is_hopeless();
            if (!clear && !hopeless && !is_look(static_cast<int>(kept_.size()))) continue;
            if (std::optional<judgement> j = implausible()) return j;
            if (clear) return pass();
            if (hopeless) return too_slow({.speedup = decision::missed});
            if (std::optional<judgement> j = conclude(look(decide))) return j;
        }
        return std::nullopt;
    }

    // True if all that is asked for, and every step that is offered, is reached beyond doubt after
    // few samples. Where nothing is asked for, these are all that are taken.
    bool is_clear() const
    {
        if (!gates_time(gates_)) return kept_.size() == shown_pairs || spent_ms_ > shown_ms;
        const auto look = std::ranges::find(early_looks, kept_.size(), &early_look::samples);
        if (how_ == scrutiny::in_full || look == std::end(early_looks)) return false;
        auto clear = [&](const std::vector<double> &samples, const steps &offered) {
            const double highest = std::max({offered.pass, offered.good, offered.excellent});
            return lie_above(samples, highest, look->share, look->spikes);
        };
        return lie_above(kept_.worker, gates_.speedup, look->ratio, look->spikes) &&
               lie_above(kept_.parent, gates_.speedup * (1 - parent_allowance), look->ratio,
                         look->spikes) &&
               clear(kept_.copy, gates_.copy) && clear(kept_.fma, gates_.fma);
    }

    // True if few samples, in each of which the submission took seconds, are far too slow.
    bool is_hopeless() const
    {
        return how_ != scrutiny::in_full && kept_.size() == hopeless.samples &&
               lie_above(kept_.run_ms, long_run_ms, 1) &&
               all_below(kept_.worker, gates_.speedup, hopeless.ratio) &&
               all_below(kept_.parent, gates_.speedup, hopeless.ratio);
    }

    bool one_pair()
    {
        device_.next_round();
        device_state before = device_.read_state();
        bool naive_first = attempted_ % 2 == 0;
        timed_run naive, submission, library;
        if (naive_first) naive = device_.run(implementation::naive);
        submission = device_.run(implementation::submission);
        if (!naive_first) naive = device_.run(implementation::naive);
        spent_ms_ += submission.parent_ms;
        ++runs_;
        device_state after = device_.read_state();
        if (device_.has_library()) library = device_.run(implementation::library);
        double copy_rate = device_.copy_rate();
        const bool first = attempted_++ == 0;
        if (first) device_.verify(implementation::naive);
        if (first || how_ != scrutiny::trusted) device_.verify(implementation::submission);

        if (discard(before, after, naive, submission)) return false;
        keep(naive, submission, library, copy_rate, (before.fma_rate + after.fma_rate) / 2);
        return true;
    }

    // Returns true if the sample does not count, and records why.
    bool discard(const device_state &before, const device_state &after, const timed_run &naive,
                 const timed_run &submission)
    {
        rates_.push_back(before.fma_rate);
        rates_.push_back(after.fma_rate);
        lowest_mhz_ = std::fmin(lowest_mhz_, std::fmin(before.sm_mhz, after.sm_mhz));
        highest_mhz_ = std::fmax(highest_mhz_, std::fmax(before.sm_mhz, after.sm_mhz));
        if (submission.threads_left)
            ++discarded_.threads_left; // their work may be what slowed the device
        else if (before.throttled || after.throttled)
            ++discarded_.throttled;
        else if (slowed(before, after)) {
            ++discarded_.slowed;
            slowed_ratios_.push_back(
                std::fmax(naive.worker_per_call() / submission.worker_per_call(),
                          naive.parent_per_call() / submission.parent_per_call()) /
                gates_.naive_share);
        } else if (clocks_differ(naive))
            ++discarded_.naive_clocks;
        else if (clocks_differ(submission))
            ++discarded_.submission_clocks;
        else
            return false;
        return true;
    }

    // NaN, an unknown clock, compares false throughout.
    bool slowed(const device_state &before, const device_state &after) const
    {
        double usual = median(rates_);
        return after.sm_mhz < clock_fell * before.sm_mhz ||
               std::min(before.sm_mhz, after.sm_mhz) < clock_low * highest_mhz_ ||
               after.fma_rate < clock_fell * before.fma_rate ||
               before.fma_rate < clock_fell * after.fma_rate ||
               std::min(before.fma_rate, after.fma_rate) < clock_low * usual;
    }

    void keep(const timed_run &naive, const timed_run &submission, const timed_run &library,
              double copy_rate, double fma_rate)
    {
        double ms = submission.worker_per_call();
        double naive_ms = naive.worker_per_call() / gates_.naive_share;
        double naive_parent_ms = naive.parent_per_call() / gates_.naive_share;
        kept_.worker.push_back(naive_ms / ms);
        kept_.parent.push_back(naive_parent_ms / submission.parent_per_call());
        kept_.naive_ms.push_back(naive_ms);
        kept_.ms.push_back(ms);
        kept_.run_ms.push_back(submission.parent_ms);
        kept_.copy.push_back(fraction_of(device_.bytes(), ms, copy_rate));
        kept_.fma.push_back(fraction_of(device_.multiply_adds(), ms, fma_rate));
        if (device_.has_library()) kept_.library.push_back(library.worker_per_call() / ms);
    }

    static double fraction_of(double work, double ms, double rate)
    {
        return work > 0 && rate > 0 ? work / ms / rate : 0;
    }

    // Ends the benchmark if the submission took too much time in it, or too many samples were
    // discarded: the reason for them is the verdict.
    std::optional<judgement> give_up() const
    {
        if (spent_ms_ > max_spent_ms) return out_of_time();
        bool often = attempted_ >= first_look;
        const int by_submission = discarded_.submission_clocks + discarded_.threads_left;
        if (often && 2 * by_submission > attempted_)
            return discarded_.threads_left > discarded_.submission_clocks ? threads_left()
                                                                          : clock_mismatch();
        if (discarded_.all() < discards_to_give_up ||
            discarded_.all() < static_cast<int>(kept_.size()))
            return std::nullopt;
        if (std::optional<judgement> j = slow_at_any_clock()) return j;
        const auto &d = discarded_;
        return judged(verdict::INFRA_ERROR,
                      fmt::format("{} of {} pairs could not be used: {} while the driver reported "
                                  "throttling, {} while the device's clock moved, {} in which a "
                                  "worker's clock and the grader's disagreed, {} that left threads "
                                  "behind. Nothing is said about {}.",
                                  d.all(), attempted_, d.throttled, d.slowed,
                                  d.naive_clocks + d.submission_clocks, d.threads_left,
                                  device_.function()),
                      "Grade again when the machine is cool and nobody else uses its GPU.");
    }

    // Calls that take seconds make the clock move in every sample. If even the best ratio is too
    // low after allowing for the clock, the machine is not to blame. The clock may have fallen
    // further between two readings than they show.
    std::optional<judgement> slow_at_any_clock() const
    {
        if (2 * discarded_.slowed <= attempted_) return std::nullopt;
        auto [lowest, highest] = std::minmax_element(rates_.begin(), rates_.end());
        double moved = std::fmax(*highest / *lowest, highest_mhz_ / lowest_mhz_);
        double best = *std::max_element(slowed_ratios_.begin(), slowed_ratios_.end());
        if (!(best * moved * unseen_clock_drop < gates_.speedup)) return std::nullopt;
        return judged(
            verdict::TOO_SLOW,
            fmt::format(
                "{}: at most {:.2g} times naive's speed in {} runs; at least {:.3g} times is "
                "required. The device's clock moved by {:.0f} % meanwhile, which does not explain "
                "it.",
                device_.function(), best, discarded_.slowed, gates_.speedup, 100 * (moved - 1)),
            gates_.too_slow);
    }

    // Calls that are fast and slow by turns could keep a verdict open for a long time.
    judgement out_of_time() const
    {
        return judged(verdict::TOO_SLOW,
                      fmt::format("{} took {:.0f} s in {} timed runs, and its speed is still open.",
                                  device_.function(), spent_ms_ / 1e3, runs_),
                      gates_.too_slow);
    }

    judgement clock_mismatch() const
    {
        return judged(
            verdict::CLOCK_MISMATCH,
            fmt::format("{}'s worker reports times that the grader's own clock contradicts (in {} "
                        "of {} runs by more than {:.0f} % and {} ms).",
                        device_.function(), discarded_.submission_clocks, attempted_,
                        100 * clocks_apart, clocks_apart_ms),
            "Leave CUDA's events and clocks alone, start no threads or processes that outlive "
            "the call, and finish the work that the call was asked for.");
    }

    judgement threads_left() const
    {
        return judged(
            verdict::LATE_WRITE,
            fmt::format("{} left threads behind in {} of {} runs: no clock sees what those still "
                        "do.",
                        device_.function(), discarded_.threads_left, attempted_),
            "Finish the work before returning: no thread of yours may go on.");
    }

    std::optional<judgement> implausible() const
    {
        double copy = median(kept_.copy), fma = gates_.fma_needed * median(kept_.fma);
        double ratio = median(kept_.worker);
        bool by_ratio = gates_.max_speedup > 0 && ratio > gates_.max_speedup;
        if (copy <= beyond_device && fma <= beyond_device && !by_ratio) return std::nullopt;
        bool by_copy = copy > beyond_device;
        std::string message = fmt::format(
            "{} took {:.3g} ms, which is {:.2f} times what this device's {} allows for the work "
            "that any version must do.",
            device_.function(), median(kept_.ms), by_copy ? copy : fma,
            by_copy ? "copy bandwidth" : "multiply-add rate");
        if (by_ratio)
            message = fmt::format("{} took {:.3g} ms, {:.2f} times naive's speed; {:.3g} times "
                                  "is more than any version can reach.",
                                  device_.function(), median(kept_.ms), ratio, gates_.max_speedup);
        return judged(verdict::IMPLAUSIBLE, message,
                      "Every call must do its whole work on the inputs it is given, also when they "
                      "resemble those of an earlier call.");
    }

    template <class Decide> decisions look(Decide by) const
    {
        decisions s;
        if (gates_.speedup > 0) {
            s.speedup = by(kept_.worker, gates_.speedup);
            s.parent = by(kept_.parent, gates_.speedup * (1 - parent_allowance));
        }
        if (gates_.copy.pass > 0) s.copy = by(kept_.copy, gates_.copy.pass);
        if (gates_.fma.pass > 0) s.fma = by(kept_.fma, gates_.fma.pass);
        return s;
    }

    std::optional<judgement> conclude(const decisions &s) const
    {
        using enum decision;
        if (s.speedup == missed || s.copy == missed || s.fma == missed) return too_slow(s);
        if (s.speedup == reached && s.parent == missed) return slow_by_parent();
        if (s.speedup != reached || s.parent != reached || s.copy != reached || s.fma != reached)
            return std::nullopt;
        return pass();
    }

    judgement by_median()
    {
        by_median_ = true;
        judgement j = *conclude(look([](std::span<const double> samples, double required) {
            return median(samples) >= required ? decision::reached : decision::missed;
        }));
        if (j.what != verdict::PASS && relative_spread(kept_.naive_ms) > max_naive_spread) {
            j.what = verdict::INFRA_ERROR;
            j.message = fmt::format(
                "Two times {} pairs did not decide, and naive's own time spread by {:.0f} %: this "
                "machine is too restless to judge {} by.",
                last_look, 100 * relative_spread(kept_.naive_ms), device_.function());
            j.hint = "Grade again when nobody else uses its GPU.";
        } else
            j.message +=
                fmt::format(" Two times {} pairs left it open; the median decided.", last_look);
        return j;
    }

    std::string ratio_text() const
    {
        speed_result r = summary();
        std::string text = fmt::format(
            "{:.3g} ms a call, naive {:.3g} ms{}: {:.2f} times its "
            "speed",
            r.ms, r.naive_ms, gates_.naive_share < 1 ? " by a smaller input" : "", r.median);
        if (std::isfinite(r.low))
            text += fmt::format(" ({:.2f} to {:.2f}, {} pairs)", r.low, r.high, r.pairs);
        else if (gates_time(gates_))
            text += fmt::format(" ({} pairs)", r.pairs);
        return text;
    }

    std::string fraction_text() const
    {
        speed_result r = summary();
        if (r.of.empty()) return {};
        std::string text = fmt::format("{:.0f} % of this device's {}", 100 * r.fraction, r.of);
        if (r.of == copy_bandwidth) text += fmt::format(" ({:.0f} GB/s)", r.gbps);
        return text;
    }

    judgement pass() const
    {
        const std::string f = fraction_text();
        judgement j = judged(verdict::PASS, ratio_text() + (f.empty() ? "" : "; " + f) + ".", "");
        j.result.reached = tally().reached();
        return j;
    }

    judgement too_slow(const decisions &s) const
    {
        std::string message = fmt::format("{}: {}", device_.function(), ratio_text());
        if (gates_.speedup > 0)
            message += fmt::format("; at least {:.3g} times is required", gates_.speedup);
        if (s.copy == decision::missed)
            message += short_of(kept_.copy, copy_bandwidth, gates_.copy);
        if (s.fma == decision::missed) message += short_of(kept_.fma, fma_rate, gates_.fma);
        return judged(verdict::TOO_SLOW, message + ".", gates_.too_slow);
    }

    static std::string short_of(const std::vector<double> &fractions, const char *of,
                                const steps &required)
    {
        return fmt::format("; {:.0f} % of this device's {}, at least {:.0f} % is required",
                           100 * median(fractions), of, 100 * required.pass);
    }

    judgement slow_by_parent() const
    {
        return judged(
            verdict::CLOCK_MISMATCH,
            fmt::format(
                "{}: {:.2f} times naive's speed on its worker's clock, but {:.2f} times on the "
                "grader's own; at least {:.3g} times is required, on the grader's clock less "
                "{:.0f} %.",
                device_.function(), median(kept_.worker), median(kept_.parent), gates_.speedup,
                100 * parent_allowance),
            "Work that goes on outside the call's streams, or on the CPU after it, counts too.");
    }

    judgement judged(verdict what, std::string message, std::string hint) const
    {
        return {what, std::move(message), std::move(hint), summary()};
    }

    speed_result summary() const
    {
        speed_result r;
        r.required = gates_.speedup;
        r.naive_may_pass = gates_.naive_may_pass;
        r.pairs = static_cast<int>(kept_.size());
        r.discarded = discarded_.all();
        r.measured_again = repeated_;
        r.by_median = by_median_;
        r.median = median(kept_.worker);
        if (std::optional<interval> where = median_interval(kept_.worker)) {
            r.low = where->low;
            r.high = where->high;
        }
        r.naive_ms = median(kept_.naive_ms);
        r.ms = median(kept_.ms);
        r.parent_ratio = median(kept_.parent);
        r.library_ratio = median(kept_.library);
        bool by_fma = offers(gates_.fma) && !offers(gates_.copy);
        if (device_.bytes() > 0) r.gbps = device_.bytes() / r.ms / 1e6;
        if (by_fma || device_.bytes() > 0) {
            r.of = by_fma ? fma_rate : copy_bandwidth;
            r.fraction = median(by_fma ? kept_.fma : kept_.copy);
            r.required_fraction = by_fma ? gates_.fma.pass : gates_.copy.pass;
        }
        r.offered = tally().offered();
        r.needs = tally().needs();
        return r;
    }

    step_tally tally() const
    {
        step_tally t;
        auto of = [](const char *rate) {
            return [rate](double share) {
                return fmt::format("at least {:.0f} % of {}", 100 * share, rate);
            };
        };
        t.add(gates_.copy, median(kept_.copy), true, of(copy_bandwidth));
        t.add(gates_.fma, median(kept_.fma), true, of(fma_rate));
        return t;
    }

    static constexpr const char *copy_bandwidth = "copy bandwidth";
    static constexpr const char *fma_rate = "multiply-add rate";

    benchmark_device &device_;
    const speed_gates &gates_;
    const scrutiny how_;
    samples kept_;
    discarded_pairs discarded_;
    std::vector<double> rates_; // multiply-adds per ms, from all readings of this attempt
    // Naive's time over the submission's, where the clock moved.
    std::vector<double> slowed_ratios_;
    double lowest_mhz_ = std::numeric_limits<double>::quiet_NaN();
    double highest_mhz_ = std::numeric_limits<double>::quiet_NaN();
    int attempted_ = 0;
    double spent_ms_ = 0; // by the submission, in timed runs of both attempts
    int runs_ = 0;        // of these
    bool repeated_ = false, by_median_ = false;
};

} // namespace

void step_tally::add(const steps &offered, double value, bool at_least, const words &needs)
{
    const double required[] = {offered.pass, offered.good, offered.excellent};
    for (int i = 0; i < 3; ++i) {
        if (required[i] == 0) continue;
        offered_[i] = true;
        reached_[i] = reached_[i] && (at_least ? value >= required[i] : value <= required[i]);
        needs_[i] += (needs_[i].empty() ? "" : " and ") + needs(required[i]);
    }
}

int step_tally::offered() const { return static_cast<int>(std::ranges::count(offered_, true)); }

std::vector<std::string> step_tally::needs() const
{
    std::vector<std::string> result;
    for (int i = 0; i < 3; ++i)
        if (offered_[i]) result.push_back(needs_[i]);
    return result;
}

int step_tally::reached() const
{
    int count = 0;
    for (int i = 0; i < 3 && reached_[i]; ++i) count += offered_[i];
    return count;
}

bool offers(const steps &s) { return s.pass > 0 || s.good > 0 || s.excellent > 0; }

bool gates_time(const speed_gates &g) { return g.speedup > 0 || offers(g.copy) || offers(g.fma); }

judgement judge(benchmark_device &device, const speed_gates &gates, scrutiny how)
{
    paired_benchmark benchmark(device, gates, how);
    const judgement j = [&] {
        try {
            return benchmark.run();
        } catch (const run_timeout &o) {
            return benchmark.timed_out(o);
        }
    }();
    device.finish_checks();
    return j;
}

} // namespace grading
