// What `watch` shows: one screen, made of the last grade.
#pragma once

#include "hint.hpp"
#include "result.hpp"
#include "text.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cli {

struct watch_state {
    enum class what { grading, graded, missing, fault } now = what::grading;
    std::string lab, file; // "02_coalescing", "labs/02_coalescing/stub.cu"
    bool simulated = true;
    std::string saved;   // the time of day of what is or was graded
    std::string step;    // grading: what is being waited for
    std::string trouble; // fault: what the grade said
    double seconds = 0;  // from the save, or the key, to the verdict
    double best = 0, max_points = 0;
    double waited = 0; // seconds that the grade has taken so far
    json document;     // of the last grade that has one; null: none yet
    // The hint asked for; its number of how many there are; where to read on after the last.
    std::optional<hint> helped;
    std::size_t hint_number = 0, hints = 0;
    int hints_for = 0;             // the TODO that h would help with; 0: none
    bool all_hints_seen = false;   // of that TODO: h shows them from the first again
    std::vector<std::string> next; // when everything passes: what to do next, a line each
};

// At most `rows` lines of at most `out.width` columns; the last one says which keys there are.
std::vector<std::string> draw(const watch_state &s, const todo_list &todos, const terminal &out,
                              int rows);

} // namespace cli
