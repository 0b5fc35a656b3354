// Which TODO of a stub a case belongs to, and which failed case a student should look at first.
#pragma once

#include "source_view.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace grading {

// A stub's comments say "TODO 2 (read_offset):", one of what a function takes, or name one case:
// "TODO 3 (read_offset: sectors at offset 11):".
class todo_list {
public:
    // `original`: the stub as it was handed out. `present`: as it is now, to tell which TODOs have
    // been begun; such a one has other lines around its comment, or no comment any more.
    explicit todo_list(const std::string &original, const std::string &present);
    explicit todo_list(const std::string &original) : todo_list(original, original) {}

    // The TODOs that a failure of the case is about: those of the function that holds the line of
    // the present file that the failure names (0: none), of several the case's own. Else the first
    // of the case that is not begun, and all of them when all are. Empty: none is known.
    std::vector<int> of_case(const std::string &case_name, int line = 0) const;
    // "TODO 2", "TODOs 1 to 5", "TODOs 2 and 7", ""
    std::string words(const std::string &case_name, int line = 0) const;
    // The same by the line alone; empty: no function that was handed out with a TODO holds it.
    std::vector<int> of_line(const std::string &case_name, int line) const;
    // Whether the line's TODOs are all begun and others of the case are not: what is missing where
    // that line reads may be theirs.
    bool waits_for_others(const std::string &case_name, int line) const;
    // While a function's TODOs are not all begun: which comes next, on what line of the present
    // file; `last`: the one after which the function can be judged. next 0: all are begun.
    struct open_todo {
        int next = 0, last = 0, line = 0;
        bool some_begun = false;
    };
    open_todo open_of(const std::string &case_name) const;
    // The TODOs that more points of a speed case belong to: those for later, of the case or else of
    // its function; where there is none, as of_case.
    std::vector<int> for_more(const std::string &case_name) const;
    // The functions that a TODO belongs to.
    std::vector<std::string> functions_of_todo(int number) const;
    // A case with a TODO apart from its function's: work for "when everything else passes".
    bool is_for_later(const std::string &case_name) const;

private:
    const std::vector<int> &find(const std::string &what) const;
    const std::vector<int> &own(const std::string &case_name) const;
    std::map<std::string, std::vector<int>> numbers_;
    std::map<int, bool> begun_;
    std::map<int, int> lines_; // of the present file, from 1
    // Of the present file: the lines of each function, and the TODOs that it was handed out with.
    std::vector<std::pair<line_range, std::vector<int>>> functions_;
};

std::string todo_words(const std::vector<int> &todos); // as todo_list::words

std::string function_of(const std::string &case_name); // what stands before the colon

// The failed cases in the order to mend them, by index: right before fast, and first things first.
// Wrong answers; speed that belongs to a function's own TODO; functions that nobody wrote yet; what
// is for later.
struct outcome {
    std::string case_name;
    bool failed = false, not_written = false, speed = false;
};
std::vector<std::size_t> order_to_mend(const std::vector<outcome> &cases, const todo_list &todos);

} // namespace grading
