// Points that nothing here can judge: open, neither reached nor lost.
#pragma once

#include <string>
#include <vector>

namespace grading {

struct open_case {
    std::string name;
    double points = 0;
    std::string why; // and what would judge it
};

std::string open_words(double open); // ", 8 open", to follow the points reached; empty: none is

// One sentence for each reason: "8 points are open: ranks: two; ranks: four. There is no Open MPI."
std::vector<std::string> open_notes(const std::vector<open_case> &cases);

} // namespace grading
