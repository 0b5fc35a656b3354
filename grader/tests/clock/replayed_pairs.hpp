// Applies the rule of the paired benchmark to recorded pairs, drawn again many times.
#pragma once

#include "speed/recorded_pairs.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

namespace grading {

// Serves recorded pairs to judge(), in stretches of `block` neighbours that begin anywhere. A block
// of 1 is the ordinary bootstrap. Longer ones keep what neighbours have in common, such as a clock
// that drifts; one of last_look keeps what a whole attempt has. An attempt begins a new stretch.
class replayed_device : public benchmark_device {
public:
    replayed_device(const recorded_case &c, std::size_t block, std::uint64_t seed)
        : case_(c), block_(block), random_(seed)
    {
    }
    bool has_library() const override { return false; }
    void prepare() override { left_ = 0; }
    void next_round() override
    {
        if (left_ == 0) {
            at_ = std::uniform_int_distribution<std::size_t>(0, case_.pairs.size() - 1)(random_);
            left_ = block_;
        }
        pair_ = &case_.pairs[at_];
        at_ = (at_ + 1) % case_.pairs.size();
        --left_;
        readings_ = 0;
    }
    timed_run run(implementation who) override
    {
        return who == implementation::naive ? pair_->naive : pair_->submission;
    }
    void verify(implementation) override {}
    void finish_checks() override {}
    device_state read_state() override { return readings_++ == 0 ? pair_->before : pair_->after; }
    double copy_rate() override { return pair_->copy_rate; }
    double bytes() const override { return case_.bytes; }
    double multiply_adds() const override { return case_.multiply_adds; }
    std::string function() const override { return case_.about.at("function"); }

private:
    const recorded_case &case_;
    std::size_t block_, at_ = 0, left_ = 0;
    std::mt19937_64 random_;
    const recorded_pair *pair_ = nullptr;
    int readings_ = 0;
};

// The verdicts of the rule in many resamples.
struct replay_tally {
    std::map<verdict, int> verdicts;
    std::map<int, int> steps; // steps reached -> resamples that passed with them
    int all = 0, measured_again = 0, by_median = 0;
    double lowest = std::numeric_limits<double>::infinity(), highest = 0; // median ratio

    int count(verdict v) const { return verdicts.contains(v) ? verdicts.at(v) : 0; }
    // Resamples with other points than most that passed.
    int other_points() const
    {
        int most = 0;
        for (const auto &[reached, times] : steps) most = std::max(most, times);
        return count(verdict::PASS) - most;
    }
};

inline void replay(const recorded_case &c, std::size_t block, int times, replay_tally &to)
{
    for (int i = 0; i < times; ++i) {
        replayed_device device(c, block, block * 1000003 + static_cast<std::uint64_t>(i));
        const judgement j = judge(device, c.gates);
        ++to.all;
        ++to.verdicts[j.what];
        if (j.what == verdict::PASS) ++to.steps[j.result.reached];
        to.measured_again += j.result.measured_again;
        to.by_median += j.result.by_median;
        to.lowest = std::fmin(to.lowest, j.result.median);
        to.highest = std::fmax(to.highest, j.result.median);
    }
}

// Resamples that got another verdict than they must: a solution passes; naive is too slow, except
// where its way may pass, and is accused of nothing else; and a machine that gave these pairs is
// never too restless to judge by.
inline int wrong_verdicts(const recorded_case &c, const replay_tally &t)
{
    if (c.about.at("submission") != "naive") return t.all - t.count(verdict::PASS);
    const bool may_pass = c.gates.naive_may_pass || (c.gates.speedup > 0 && c.gates.speedup < 1);
    return t.all - t.count(verdict::TOO_SLOW) - (may_pass ? t.count(verdict::PASS) : 0);
}

} // namespace grading
