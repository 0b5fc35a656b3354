// Gates on counters, for speed cases.
#pragma once

#include "counters.hpp"

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>

namespace grading {

// Thresholds of a speed case. Steps of 0 are not offered. A step is reached if all gates that offer
// it, or a lower one, reach it. The case pays its points times the steps reached over those
// offered, rounded down to half a point, and nothing below `pass`.
struct steps {
    double pass = 0, good = 0, excellent = 0;
};

// One measure taken by the simulator. Instruction totals bound only what is out of proportion: no
// step of points lies on them.
struct counted_gate {
    std::string name; // "sector bytes used by loads"
    std::function<double(const counted &)> value;
    bool at_least = true; // else: at most
    steps required;
    std::string unit;    // "%", "bytes per element", "sectors per request"
    std::string meaning; // printed if missed: its meaning and the next thing to try
    // Printed instead of `meaning` if these counters show the cause; else empty.
    std::function<std::string(const counted &)> cause = {};
    bool general = false;   // `meaning` does not name a cause, so speed_gates::too_slow is added
    std::string about = {}; // case or function whose TODOs it names; empty: the case's own
    // At least: a value that misses the gate is counted once more with blocks in another order, and
    // the better one judged.
    bool best_of_schedules = false;
    bool shows_naive = true; // naive's value means something, and is shown
    // A fraction of the bytes moved, which useless traffic may raise: moving more than twice
    // naive's sectors is no pass.
    bool is_efficiency = false;
};

// Returns the value of a gate: `measure`, a counter or a function of the counters, over `whole`; 0
// where `whole` is 0. `whole` is a number, a counter or function of the counters, or a function
// without arguments, which is called when the gate is measured: on a GPU simulated() is true by
// then, and the benchmark's arrays may have another size.
template <class Whole, class Measure> auto per(Whole whole, Measure measure)
{
    return [whole, measure](const counted &c) {
        double all = 0;
        if constexpr (std::is_arithmetic_v<Whole>)
            all = static_cast<double>(whole);
        else if constexpr (std::invocable<const Whole &>)
            all = static_cast<double>(whole());
        else
            all = static_cast<double>(std::invoke(whole, c));
        return all > 0 ? static_cast<double>(std::invoke(measure, c)) / all : 0;
    };
}

// A lab's own measures: `value` may also be a counter (&counted::launches) or the result of per().
// The gates below are for all labs.
counted_gate at_least(std::string name, const steps &required, std::string unit,
                      std::string meaning, std::function<double(const counted &)> value);
counted_gate at_most(std::string name, const steps &limit, std::string unit, std::string meaning,
                     std::function<double(const counted &)> value);
counted_gate used_by_loads(double pass); // bytes asked for over bytes of sectors moved; 0..1
counted_gate used_by_stores(double pass);
// Limits wavefronts in shared memory over the fewest possible for the words asked for. `meaning`
// is printed if the lanes' distance does not show the cause.
counted_gate bank_conflicts(double limit, std::string meaning);
// Limits the wavefronts beyond the ideal ones, per element; requests without conflicts do not
// dilute it.
counted_gate conflicts_per_element(std::function<double()> elements, double limit);
// Requires that the kernels ran this many times the warp instructions of their busiest block.
counted_gate blocks_share(double pass);
// Requires that, on average, this many of 32 lanes are active in a warp instruction. The lowest
// value that a good kernel is known to have is 22, in CUB's histogram.
counted_gate lanes_at_work(double pass = 12);
// Limits the ticks until all work has ended over those of naive's work done serially.
counted_gate makespan(const steps &);
// Requires work (copies, fills, kernels) in this many streams; the default stream is one of them.
// Work that overlaps in one stream, as that of a graph may, counts as two.
counted_gate streams_at_work(double pass);
// Requires a share of the kernel ticks in which two kernels run; 0..1.
counted_gate kernels_side_by_side(double pass);

// Limits the bytes moved per element, by moved_sectors(). `element` names one ("key"). `elements`,
// how many there are, is called when the bytes are counted; on a GPU simulated() is true by then.
counted_gate moved_bytes(const std::string &element, std::function<double()> elements,
                         const steps &limit, std::string meaning);

} // namespace grading
