// Which TODO of a stub a case belongs to, and which failed case a student should look at first.
#pragma once

#include "result.hpp"

#include <map>
#include <string>
#include <vector>

namespace cli {

// A stub's comments say "TODO 2 (read_offset):", one of what a function takes, or name one case:
// "TODO 3 (read_offset: sectors at offset 11):".
class todo_list {
public:
    // `original`: the stub as it was handed out. `present`: as it is now, to tell which TODOs have
    // been begun; such a one has other lines around its comment, or no comment any more.
    explicit todo_list(const std::string &original, const std::string &present);
    explicit todo_list(const std::string &original) : todo_list(original, original) {}

    // The TODOs that a failure of the case is about: of several the first not begun; all of them
    // when all are begun. Empty: none is known.
    std::vector<int> of_case(const std::string &case_name) const;
    std::string words(const std::string &case_name) const; // "TODO 2", "TODOs 1 to 5", ""
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
    // A case with a TODO apart from its function's: work for "when everything else passes".
    bool is_for_later(const std::string &case_name) const;

private:
    const std::vector<int> &find(const std::string &what) const;
    std::map<std::string, std::vector<int>> numbers_;
    std::map<int, bool> begun_;
    std::map<int, int> lines_; // of the present file, from 1
};

std::string function_of(const std::string &case_name); // what stands before the colon

// Right before fast, and first things first: wrong answers; speed that belongs to a function's own
// TODO; functions that nobody wrote yet; what is for later. Null when nothing failed.
// A speed case that passed with points left; null: none.
const case_view *first_to_better(const lab_view &l);
const case_view *first_to_mend(const lab_view &l, const todo_list &todos);

} // namespace cli
