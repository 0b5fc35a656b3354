// Runs the cases in several processes at the same time, with one result.
#pragma once

#include "case_record.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace grading {

// Consecutive correctness cases of one function, or one case that counts, by their indices in
// records(). They share workers with each other and with no other case, so a submission cannot
// notice the number of processes.
using case_group = std::vector<std::size_t>;
std::vector<case_group> groups_of(const std::vector<std::size_t> &chosen);

// Runs each group once: in this process, which begins with all of `own`, and in `others` processes
// forked from it, which take the groups that are left, largest first. Their records come back here.
// Cases that a serial run would not have tried are then marked so. A case whose process ended
// without a result is a fault of the grader. Throws std::system_error if no other process can be
// started.
//
// No thread may run, because a fork would lack it. Workers of this process stay its own. `run` runs
// a group's cases; `leave` ends everything that a forked process has started, before it ends;
// `pause` is called before this process waits for the others.
void run_groups(std::vector<case_group> groups, int others,
                const std::function<void(const case_group &)> &run,
                const std::function<void()> &leave, const std::function<void()> &pause,
                const std::vector<case_group> &own = {});
// run_groups() returns when it has all results; the processes that it forked may still end their
// workers. This waits for them; run_groups() calls it first.
void wait_for_forked();

// True if any process of this grade found a mistake in a correctness case of `function`.
bool is_known_wrong(const std::string &function);

} // namespace grading
