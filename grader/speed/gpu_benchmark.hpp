// The benchmark of a GPU: the workers that hold its sets of arguments, and their clocks.
#pragma once

#include "api/workload.hpp"
#include "paired_benchmark.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace grading {

constexpr double min_run_ms = 0.3; // is long enough for the parent's clock

// More sets than are graded make a run longer and its time more exact; large ones take seconds.
constexpr std::uint64_t enough_for_more = std::uint64_t{2} << 30;

// Sets of arguments that take turns, however few a run needs: two where the time is only shown.
inline std::size_t min_sets(const speed_gates &gates) { return gates_time(gates) ? 3 : 2; }

// Thrown by prepare() if speed_gates::form_is_right returns false.
struct other_form {};

class gpu_benchmark : public benchmark_device {
public:
    virtual const speed_gates &gates() const = 0;
    virtual void add_costs(speed_result &r) const = 0;
    // Another submission has taken the last one's place; naive's worker keeps what it has.
    virtual void change_submission() = 0;
    virtual void drop_submission() = 0; // frees the submission's sets
    // Frees the sets in workers that still answer: they stay warm for the next case.
    virtual void leave() = 0;
};

// Makes the first sets of arguments, beside which all workers start that are built.
// `make_for_naive` may be empty: naive takes the same arguments.
std::unique_ptr<gpu_benchmark> make_gpu_benchmark(const make_workload &make,
                                                  const make_workload &make_for_naive,
                                                  const speed_gates &gates);

} // namespace grading
