// The shape of a lab's points: what naive, each rung, the solution and the filled stub have.
#pragma once

#include "check_tasks.hpp"

#include <string>
#include <vector>

namespace cli {

struct point_shape {
    std::string words; // "naive 18, 1_coalesced 23.5, solution 40, filled.cu 40"; empty: unknown
    std::vector<check_finding> findings;
};

// Judges the tasks of one lab that were graded whole. A lab has points_without_clock, and
// points_of_clock if it has timed cases. The stub must have none, naive may have those for right
// answers alone, the filled stub and the solution must have all, and a rung more than the rung
// below. A rung whose idea no counter sees, or costs something first, says so in a line
// "// Same points: WHY" or "// Fewer points: WHY".
point_shape shape_of(const lab &l, const std::vector<check_task> &tasks);

} // namespace cli
