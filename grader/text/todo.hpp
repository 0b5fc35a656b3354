// Maps cases to the TODOs of a stub, and chooses the failed case to look at first.
#pragma once

#include "source_view.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace grading {

// TODOs of a stub. Its comments contain "TODO 2 (read_offset):" for one of a function's steps, or
// name a case: "TODO 3 (read_offset: sectors at offset 11):". A step of a case's points has its
// limit behind the case, "TODO 4 (read_offset: speed, 50 bytes moved):", and work that the clock
// alone sees the name of the timed case, "TODO 5 (read_offset: speed, timed):".
class todo_list {
public:
    // `original`: the stub as it was handed out. `present`: its present state, from which begun
    // TODOs are found: the lines around such a comment have changed, or the comment is gone.
    // `given_wrong`: contract functions that the stub has wrong, because to mend them is the task.
    todo_list(const std::string &original, const std::string &present,
              const std::vector<std::string> &given_wrong = {});
    explicit todo_list(const std::string &original) : todo_list(original, original) {}

    // Returns the TODOs that a failure of the case is about: those of the function with the
    // present file's line `line` (0: none), preferably the case's own. Else the first TODO of the
    // case that is not begun, or all if all are begun. Empty: none is known.
    std::vector<int> of_case(const std::string &case_name, int line = 0) const;
    // The first TODO of the case, or else of its function, that is not begun; all if all are.
    std::vector<int> own_of_case(const std::string &case_name) const;
    // "TODO 2", "TODOs 1 to 5", "TODOs 2 and 7", ""
    std::string words(const std::string &case_name, int line = 0) const;
    // The same by the line alone; empty: the line is in no function that was handed out with a
    // TODO.
    std::vector<int> of_line(const std::string &case_name, int line) const;
    // True if the line's TODOs are all begun and others of the case are not: a value missing at
    // that line may be theirs to write.
    bool waits_for_others(const std::string &case_name, int line) const;
    // First TODO of a function that is not begun, and its line in the present file; next 0: all
    // are begun. `last`: the TODO after which the function can be judged.
    struct open_todo {
        int next = 0, last = 0, line = 0;
        bool some_begun = false;
    };
    open_todo open_of(const std::string &case_name) const;
    // Returns the TODOs for more points of a speed case, of those for later: the case's own, or
    // else its function's; of these the ones that are not begun, or all if all are. If there are
    // none, as of_case. For a timed case these are the clock's, or else those of the case that is
    // counted.
    std::vector<int> for_more(const std::string &case_name) const;
    // Returns those for more points of all these speed cases, and the ones of their functions that
    // are not begun.
    std::vector<int> for_more(const std::vector<std::string> &case_names) const;
    // First line of a TODO in the present file; 0: it is not there.
    int line_of(int number) const;
    // Lowest TODO of the case, or else of its function; 0: none is known.
    int first_of(const std::string &case_name) const;
    // True if the TODO is one of the case's, or else of its function's.
    bool serves(int number, const std::string &case_name) const;
    // Returns the functions that a TODO belongs to.
    std::vector<std::string> functions_of_todo(int number) const;
    // True if the case has a TODO apart from its function's: work for "when everything else
    // passes".
    bool is_for_later(const std::string &case_name) const;

    // True if this contract function was handed out wrong, and it and the functions that contain
    // its TODOs are as they were.
    bool is_untouched(const std::string &function) const { return untouched_.contains(function); }

private:
    const std::vector<int> &find(const std::string &what) const;
    // For a timed case those of the one that is counted, and its own.
    std::vector<int> of_case_or_function(const std::string &case_name) const;
    // Returns the TODOs for later whose function, case or step begins so: the clock's, or others.
    std::vector<int> for_later(const std::string &begin, bool of_clock) const;
    // Returns those that are not begun; all if all are.
    std::vector<int> still_open(const std::set<int> &all) const;
    // The TODO of this case's function, but not of its first steps, that puts something into shared
    // memory, where a function that held it has got a __shared__ array; 0: none. `line` as for
    // of_case.
    int shared_memory_todo(const std::string &case_name, int line) const;
    std::map<std::string, std::vector<int>> numbers_;
    std::set<int> begun_;
    std::set<std::string> untouched_; // contract functions
    std::map<int, int> lines_;        // in the present file, from 1
    // Line ranges of functions in the present file, and the TODOs that they were handed out with.
    std::vector<std::pair<line_range, std::vector<int>>> functions_;
    // The functions of these that have got a __shared__ array, and the TODOs that put one there.
    std::vector<std::pair<line_range, std::vector<int>>> with_shared_array_;
};

std::string todo_words(const std::vector<int> &todos); // as todo_list::words

std::string function_of(const std::string &case_name); // the part before the colon
// A case that is counted and timed has a second one, for the points of the clock: returns its name.
std::string timed_name_of(const std::string &case_name);
// The reverse; a name that is not a timed case's is returned as it is.
std::string counted_name_of(const std::string &case_name);

bool is_code(const std::string &line); // neither blank nor only a comment
// The number of "TODO 2 (read_offset)" in a line; 0: there is none. A mere mention, "as in TODO 2",
// has no parenthesis.
int todo_begun_in(const std::string &line);

struct case_outcome {
    std::string case_name;
    bool failed = false, not_written = false, speed = false;
};
// Returns the TODOs that a failure at a line (0: none) is about, as todo_list::of_case. But where
// those are only of other cases, and these pass, the code there does what it should, and the case's
// own TODOs are to blame.
std::vector<int> todos_to_blame(const std::string &case_name, int line,
                                const std::vector<case_outcome> &cases, const todo_list &todos);

// Returns the indices of the failed cases in the order to fix them: wrong answers; then speed that
// belongs to a function's own TODO; then functions that are not written yet, or were handed out
// wrong and are as they were; then work for later. Work for later whose TODO has a lower number
// than that of a function that is not written goes before it.
std::vector<std::size_t> order_to_mend(const std::vector<case_outcome> &cases,
                                       const todo_list &todos);

} // namespace grading
