// The screen of `watch`, drawn from the last grade.
#pragma once

#include "cli/terminal/text.hpp"
#include "hints.hpp"
#include "result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cli {

struct watch_state {
    enum class phase { grading, graded, missing, fault } now = phase::grading;
    std::string lab, file; // "02_coalescing", "labs/02_coalescing/stub.cu"
    bool simulated = true;
    std::string saved;   // time of day of the save that is or was graded
    std::string step;    // while grading: the present step
    std::string trouble; // after a fault: the grade's output
    double seconds = 0;  // from the save, or the key, to the verdict
    double best = 0, max_points = 0;
    double waited = 0;         // seconds that the grade has taken so far
    json document;             // the latest result; null: none yet
    bool by_simulator = false; // while grading: it is this save's already, but for the GPU's part
    // The hint asked for, its number, and the number of hints.
    std::optional<hint> helped;
    std::size_t hint_number = 0, hints = 0;
    int hints_for = 0;             // the TODO that key h would help with; 0: none
    bool all_hints_seen = false;   // key h goes through that TODO's hints again
    std::vector<std::string> next; // if everything passes: what to do next, one line each
};

// Returns at most `rows` lines of at most `out.width` columns; the last one lists the keys.
std::vector<std::string> draw(const watch_state &s, const todo_list &todos, const terminal &out,
                              int rows);

} // namespace cli
