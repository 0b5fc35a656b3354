// Workloads of speed cases, and the benchmark against naive.
#pragma once

#include "call.hpp"
#include "gates.hpp"
#include "inputs.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace grading {

struct speed_gates {
    // S, the lowest ratio of naive's time to the submission's. 0: shown, not graded. Below 1:
    // naive's way is the right one, and the case's gates reject other ways.
    double speedup = 0;
    double max_speedup = 0; // more is implausible; 0: no bound is known
    steps copy;             // fraction of this device's copy bandwidth
    steps fma;              // fraction of this device's FMA rate
    // The part of workload::multiply_adds that no version can do without: being faster than that
    // part allows is implausible.
    double fma_needed = 1;
    std::vector<counted_gate> counted;
    // Counted in the default order of blocks, whatever order was asked for: in a random one blocks
    // that wait for each other read again and again, and chance decides how often.
    bool default_block_order = false;
    bool naive_may_pass = false; // as if S were below 1
    // The share of the work that `make_for_naive` makes, if naive would take too long for all of
    // it. Naive's time is then scaled up to the full work. The library does the full work.
    double naive_share = 1;
    // The form of the inputs, if the submission chooses it. Versions that are timed together share
    // inputs of one form.
    std::string form;
    // Asks the submission whether it chose that form, if must_guess() was true before, as only on a
    // GPU; else empty. It calls functions without arguments only: the inputs are there already.
    std::function<bool()> form_is_right;
    std::string too_slow; // likely reasons for missing S or the first step, and hints
};

// A benchmark's workload: one set of arguments and the properties of the call. A lab derives one
// per function.
class workload {
public:
    virtual ~workload() = default;
    virtual const char *function() const = 0;
    virtual std::vector<argument> arguments() = 0; // from remote<decltype(f)>::arguments
    // Changes some inputs, so that no round has the answer of an earlier one. Returns the changed
    // bytes of read-only inputs. Vectors may be reallocated with the same size.
    virtual std::vector<std::span<std::byte>> change(std::mt19937_64 &random) = 0;
    virtual void check() = 0; // O(n), by expect_*: is the output right for the current inputs?
    virtual double bytes() const { return 0; } // that any version must move, read and written
    // Multiply-adds that any version must do, except what speed_gates::fma_needed allows it to
    // skip.
    virtual double multiply_adds() const { return 0; }
    virtual bool in_kernels() const { return true; } // kernels must do it, not copies
    // True if naive's time depends on data that it changes in place. Otherwise, once verified,
    // naive continues with the results of its last call, because restoring can take longer than
    // everything else.
    virtual bool restored_for_naive() const { return true; }
};

// For workload::change: up to 4096 neighbours among the values, somewhere.
template <class T> std::span<T> random_stretch(std::vector<T> &values, std::mt19937_64 &random)
{
    const std::size_t count = std::min<std::size_t>(values.size(), 4096);
    return std::span(values).subspan(random() % (values.size() - count + 1), count);
}
// Gives such a stretch new values, or another order; returns its bytes.
template <class T> std::span<std::byte> renew(std::vector<T> &values, std::mt19937_64 &random)
{
    const std::span<T> stretch = random_stretch(values, random);
    fill_random(stretch, random);
    return std::as_writable_bytes(stretch);
}
template <class T> std::span<std::byte> reorder(std::vector<T> &values, std::mt19937_64 &random)
{
    const std::span<T> stretch = random_stretch(values, random);
    std::shuffle(stretch.begin(), stretch.end(), random);
    return std::as_writable_bytes(stretch);
}

using make_workload = std::function<std::unique_ptr<workload>(std::mt19937_64 &)>;
// Makes a W of random numbers and `arguments`.
template <class W> make_workload workload_of(auto... arguments)
{
    return [=](std::mt19937_64 &random) { return std::make_unique<W>(random, arguments...); };
}

// Benchmarks naive and the submission alternately on a GPU (see speed.hpp); on the simulator,
// compares the counters of one call, or of two equal ones, with the gates.
// `make` is called once per set of inputs, several at a time: it draws only from its own argument,
// and chooses sizes by simulated() and device(). It owns what it uses: it may be called before the
// case begins, by a copy that outlives this call. check() of several workloads may run at the same
// time, too, beside change() of others. change() restores everything that a call writes in place;
// for an argument with a range it restores only that range. Beyond the range of an argument that is
// changed in place a timed benchmark itself proves the rest untouched, and has no copy of it for
// check(); everywhere else check() does. If the submission chose the form of its arguments and
// naive (and the library) takes another, `make_for_naive` makes the same work in their form from
// the same random numbers.
// Returns false, and has measured nothing, if gates.form_is_right() does.
bool race(const make_workload &make, const speed_gates &gates,
          const make_workload &make_for_naive = {});

// Checks the answer before its speed counts: makes the workload's call on the simulator, once with
// late streams and once with shuffled ones, each time with new inputs, and ends the case if it is
// wrong. Does nothing on a GPU.
void right_in_any_order(const make_workload &make);

// True while no submission can be asked: in a trial run of a case, which ends at race() and tells
// what inputs to make, and on a GPU until the submission is compiled. Where only the submission can
// say the form of its inputs, the case takes the likeliest then, and race() asks before it
// measures.
bool must_guess();

// Returns the cost of one call of naive here, so that a case can balance its sizes: on a GPU in
// milliseconds, the shortest of some calls; on the simulator in ticks. A case asks once: the steps
// of a ladder share the inputs that the first one made, which another call would overwrite.
double naive_cost(const make_workload &make);

} // namespace grading
