// The inputs of timed cases, made while this process waits: for the compiler, for the simulator and
// for the correctness cases.
#pragma once

#include "api/workload.hpp"
#include "parallel_cases.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace grading {

using workloads = std::vector<std::unique_ptr<workload>>;

// Makes the workload of the set with this number, from 1 on. `seed` is the case's.
std::unique_ptr<workload> make_numbered(const make_workload &make, std::uint64_t seed,
                                        std::size_t number);

// Lives while timed cases wait for their turn. A process has at most one.
class inputs_in_advance {
public:
    // Runs each of these cases up to its call of race(). One that asks for a worker before, or
    // ends, is left out: it makes its own inputs.
    explicit inputs_in_advance(const std::vector<case_group> &timed);
    ~inputs_in_advance(); // stops, and frees what nobody took
    inputs_in_advance(const inputs_in_advance &) = delete;
    inputs_in_advance &operator=(const inputs_in_advance &) = delete;

    struct made_sets {
        workloads submission, naive; // numbered from 1; none for naive if it takes the others
    };
    // Returns the current case's sets, for which it may wait; none if their turn has not come. The
    // first call begins a thread, which makes those of the other cases while at least half of the
    // memory that was available then still is. From then on no process may be forked that goes on
    // with this program, as run_groups() forks some.
    static made_sets take();
    // No thread works after it, as is right while times are taken. It waits for the case whose sets
    // are being made.
    static void stop();

private:
    class maker;
    std::unique_ptr<maker> maker_;
    static maker *only_;
};

// In a run of a case up to its race(), ends it here. `min_count`: the sets of the submission that
// are graded; one is naive's, if it takes another form. `at_bandwidth_ms`: more are made if the
// calls of a run that takes so long at the peak bandwidth of the device's memory are more; 0: none.
void end_rehearsal(const make_workload &make, const make_workload &make_for_naive,
                   std::size_t min_count, double at_bandwidth_ms);

} // namespace grading
