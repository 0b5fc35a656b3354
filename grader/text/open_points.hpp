// Open points: they cannot be judged here, so they are neither reached nor lost.
#pragma once

#include <string>
#include <vector>

namespace grading {

struct open_case {
    std::string name;
    double points = 0;
    std::string why; // and the way to have it judged
};

// ", 8 open", to follow the points reached; empty: no points are open
std::string open_words(double open);

// One sentence per reason: "8 points are open: ranks: two; ranks: four. There is no Open MPI."
std::vector<std::string> open_notes(const std::vector<open_case> &cases);

} // namespace grading
