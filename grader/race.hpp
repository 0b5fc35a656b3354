// How a race is judged, whatever runs it: pairs, what spoils a pair, and the verdict.
//
// The rule needs no GPU: a `track` runs the contestants, and the tests of the rule bring one with
// simulated times.
#pragma once

#include "speed.hpp"

#include <limits>
#include <string>
#include <vector>

namespace grading {

enum class contestant { naive, submission, library };

// One timed RUN, of `calls` calls together.
struct lap {
    double own_ms = 0;    // on the worker's clocks
    double parent_ms = 0; // on the parent's, less what a RUN of nothing costs
    int calls = 1;
    bool threads_left = false; // more than there were before
    double own_per_call() const { return own_ms / calls; }
    double parent_per_call() const { return parent_ms / calls; }
};

// How the device is doing, between two timed runs.
struct condition {
    double sm_mhz = std::numeric_limits<double>::quiet_NaN(); // NaN: not known
    bool throttled = false; // the driver says it slows down for heat or for the power supply
    double fma_rate = 0;    // multiply-adds a millisecond, by yardstick_fma: follows the SM clock
};

// What a run of the submission throws that did not end in time though nothing else is known to be
// wrong with it.
struct overdue {
    double limit_ms; // that one call was given
    double naive_ms; // of naive's call
};

class track {
public:
    virtual ~track() = default;
    virtual bool has_library() const = 0;
    // Brings the inputs to fresh processes, makes them warm, and finds how many calls a RUN takes.
    virtual void prepare() = 0;
    // Alters the inputs of the next run in every contestant, and spoils their outputs.
    virtual void next_round() = 0;
    virtual lap run(contestant who) = 0; // throws overdue
    // Ends the case unless every output of the contestant's last run is right for its inputs.
    virtual void verify(contestant who) = 0;
    virtual condition look() = 0;
    virtual double copy_rate() = 0;           // bytes a millisecond, by yardstick_copy
    virtual double bytes() const = 0;         // of one call, that any version must move
    virtual double multiply_adds() const = 0; // of one call, that any version must do
    virtual std::string function() const = 0;
};

// Counts the steps of several measures: a step is reached when every measure that offers it reaches
// it and every lower one. The lowest step, pass, is always offered.
class step_tally {
public:
    // `needs`: what a step of that value asks for, "at least 65 % of copy bandwidth".
    using words = std::function<std::string(double)>;
    void add(const steps &offered, double value, bool at_least, const words &needs);
    int offered() const;
    int reached() const;
    std::vector<std::string> needs() const; // of the steps offered, lowest first

private:
    bool offered_[3] = {true, false, false}, reached_[3] = {true, true, true};
    std::string needs_[3];
};

struct judgement {
    verdict what = verdict::PASS;
    std::string message, hint;
    speed_result result;
};

// Whether any gate needs a clock. Where none does, the race takes `shown_pairs` and its times are
// only shown.
bool gates_time(const speed_gates &gates);
constexpr int shown_pairs = 3;

// Runs pairs until the verdict is clear. Ends the case by itself only through the track.
judgement judge(track &t, const speed_gates &gates);

// What judging goes by.
constexpr double parent_allowance = 0.10; // the parent's clock may fall this much short of S
constexpr double clocks_apart = 0.10;     // of the longer; and, for the turn taken on one GPU,
constexpr double clocks_apart_ms = 0.5;   // this much a RUN
constexpr double beyond_device = 1.05;    // of the measured copy or multiply-add rate
constexpr double clock_fell = 0.90;       // within a pair
constexpr double clock_low = 0.75;        // of the race's usual clock
constexpr double beyond_looks = 2;        // as much further may a clock fall as two looks saw
constexpr double restless_naive = 0.10;   // relative spread at which the machine is to blame
constexpr double most_spent_ms = 60e3;    // by the submission, in one race
constexpr double naive_is_slow = 0.1;   // of a limit: who exceeds that may be no slower than naive
constexpr int discards_to_give_up = 15; // when no fewer than the pairs kept

} // namespace grading
