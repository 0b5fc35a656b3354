// A run's cases in several processes side by side, and one grade of it all.
#pragma once

#include "report.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace grading {

// Cases, by their places in records(), of one function and kind that follow each other in the file.
// They share workers, and no other case has these, so that it is the same for a submission how many
// processes there are.
using case_group = std::vector<std::size_t>;
std::vector<case_group> groups_of(const std::vector<std::size_t> &chosen);

// Runs each group once: in this process and in so many others, which are forked from it and take
// what is left, the groups with most cases first. Their records come back here; then the cases that
// would not have been tried, had all run one after the other, are not. A case whose process ended
// before it had a result is a fault of ours. Throws std::system_error where there can be no other
// process.
//
// Nothing may be at work that a fork would share: no worker, no thread. `run` runs a group's cases
// in workers of their own; `leave` ends what the others have started before they end.
void run_groups(std::vector<case_group> groups, int others,
                const std::function<void(const case_group &)> &run,
                const std::function<void()> &leave);

} // namespace grading
