// The inputs of timed cases, made while this process waits: for the compiler, for the simulator and
// for the correctness cases. With many cores they are made on beside the clock.
#pragma once

#include "api/workload.hpp"
#include "parallel_cases.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
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
    // Begins a thread, unless it has begun, which makes the sets of these cases while at least half
    // of the memory that was available then still is. From then on no process may be forked that
    // goes on with this program, as run_groups() forks some.
    static void begin();
    // Returns the current case's sets, for which it may wait; none if their turn has not come, if
    // they were taken, or if they have another form (speed_gates::form).
    static made_sets take(const std::string &form);
    // No thread works after it, as is right while times are taken of calls that use the host's
    // memory, and of all calls where there are few cores. It waits for the case whose sets are
    // being made.
    static void stop();

private:
    class maker;
    std::unique_ptr<maker> maker_;
    static maker *only_;
};

// The needs of a case for its race().
struct wanted_sets {
    make_workload make, make_for_naive; // the second may be empty: naive takes the same
    std::string form;                   // speed_gates::form
    std::size_t min_count = 0;          // sets of the submission that are graded; naive has one
    // More are made, up to so many bytes, if the calls of a run that takes so long at the peak
    // bandwidth of the device's memory are more; 0: none.
    double at_bandwidth_ms = 0;
    std::uint64_t max_bytes = 0;
};
// Ends a case here that is only rehearsed.
void end_rehearsal(const wanted_sets &wanted);

} // namespace grading
